import FaultyFileSystem
import FoundationEssentials
import Sealing
import Testing

@testable import DataProtection

/// Keybags whose device code is right: made by somebody who has the whole disk, the device key included.
@Suite struct HostileKeybagTests {
  let world = TestWorld()

  /// A device with a passcode.
  func setUp() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    try device.files().create("x", contents: Data("abc".utf8)).close()
  }

  /// The keys that an attacker with the disk has.
  func binding() throws -> KeybagBinding {
    let deviceKey = try #require(world.memory.content(atPath: TestWorld.path + "/device.key"))
    let effaceable = try #require(world.memory.content(atPath: world.only("effaceable-")))
    return try KeybagBinding(
      ProtectedDevice.Key(copying: deviceKey.span), SecretBox(SecretKey(copying: Array(effaceable[56..<88]).span)))
  }

  /// Replaces the keybag by a changed one with the right device code; with a passcode, with its code too.
  func forge(knowing passcode: String? = nil, _ change: (inout Keybag) -> Void) throws {
    let path = try world.only("keybag-")
    let parsed = try KeybagCodec.parse(#require(world.memory.content(atPath: path)))
    let binding = try binding()
    let salt = parsed.keybag.salt
    let key = try passcode.map { passcode in
      try binding.passcodeKey(StretchedPasscode(ProtectedDevice.Passcode(passcode), salt: salt, profile: .test))
    }
    var keybag = parsed.keybag
    change(&keybag)
    let bytes = try KeybagCodec.encode(keybag) { message throws(ProtectionError) in
      try key?.passcodeMAC(over: message) ?? parsed.passcodeMAC
    } deviceMAC: { message throws(ProtectionError) in
      try binding.deviceMAC(over: message)
    }
    world.memory.plant(bytes, atPath: path)
  }

  func outcome(environment: DeviceEnvironment? = nil) async -> ProtectionError.Code? {
    await code {
      let device = try await ProtectedDevice.open(
        at: .directory(TestWorld.path), environment: environment ?? world.environment(nil))
      try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
    }
  }

  static func swapPublicKey(_ keybag: inout Keybag) throws {
    let own = try SecretKey(from: SystemRandom())
    let index = try #require(keybag.entries.firstIndex { $0.protection == .completeUnlessOpen })
    keybag.entries[index].publicKey = try X25519.publicKey(of: own)
    keybag.entries[index].identifier = ClassKeyIdentifier(bytes: Array(keybag.entries[index].publicKey.prefix(16)))
  }

  @Test func `a swapped public key fails the passcode's code, and gives no key out`() async throws {
    try await setUp()
    var failure: (any Error)?
    try forge { keybag in
      do { try Self.swapPublicKey(&keybag) } catch { failure = error }
    }
    #expect(failure == nil)
    #expect(await outcome() == .wrongPasscode)
  }

  @Test(arguments: [true, false])
  func `a public key that isn't its private one's is corrupt, even under every right code`(named: Bool) async throws {
    try await setUp()
    try forge(knowing: "right") { keybag in
      guard let index = keybag.entries.firstIndex(where: { $0.protection == .completeUnlessOpen }) else { return }
      keybag.entries[index].publicKey[5] ^= 1
      if named {
        keybag.entries[index].identifier = ClassKeyIdentifier(
          bytes: Array(keybag.entries[index].publicKey.prefix(16)))
      }
    }
    #expect(await outcome() == .corrupt)
  }

  @Test func `wrapped keys in each other's places are corrupt, even under every right code`() async throws {
    try await setUp()
    try forge(knowing: "right") { keybag in
      guard let one = keybag.entries.firstIndex(where: { $0.protection == .complete }),
        let two = keybag.entries.firstIndex(where: { $0.protection == .completeUntilFirstUserAuthentication })
      else { return }
      let wrapped = keybag.entries[one].wrapped
      keybag.entries[one].wrapped = keybag.entries[two].wrapped
      keybag.entries[two].wrapped = wrapped
    }
    #expect(await outcome() == .corrupt)
  }

  @Test func `without a change the forgery opens, so that the tests above mean something`() async throws {
    try await setUp()
    try forge(knowing: "right") { _ in }
    #expect(await outcome() == nil)
  }

  static let impossible: [ScryptProfile] = [
    ScryptProfile(workExponent: 63, blockSize: 8, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 255, blockSize: 8, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 0, blockSize: 8, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 22, blockSize: 8, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 21, blockSize: 8, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 17, blockSize: 65_535, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 17, blockSize: 8, parallelism: 65_535, isForTests: true),
    ScryptProfile(workExponent: 16, blockSize: 1, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 17, blockSize: 0, parallelism: 1, isForTests: true),
    ScryptProfile(workExponent: 17, blockSize: 8, parallelism: 0, isForTests: true),
    ScryptProfile(workExponent: 4, blockSize: 8, parallelism: 1, isForTests: false),
    ScryptProfile(workExponent: 16, blockSize: 8, parallelism: 1, isForTests: false),
    ScryptProfile(workExponent: 17, blockSize: 7, parallelism: 1, isForTests: false),
  ]

  @Test(arguments: impossible)
  func `a passcode check out of bounds is refused before it is paid or counted`(_ profile: ScryptProfile) async throws {
    try await setUp()
    try forge { keybag in
      keybag.derivation = profile
      keybag.isForTests = profile.isForTests
    }
    let attempts = world.memory.content(atPath: TestWorld.path + "/attempts")
    #expect(await outcome() == .corrupt)
    #expect(world.memory.content(atPath: TestWorld.path + "/attempts") == attempts)
  }

  @Test func `production refuses a cheap passcode check, marked as a test's or not`() async throws {
    try await setUp()
    var production = world.environment(nil)
    production.scrypt = .production
    #expect(await outcome(environment: production) == .corrupt)
    try forge(knowing: "right") { $0.isForTests = false }
    #expect(await outcome(environment: production) == .corrupt)
    #expect(await outcome() == .corrupt)
  }

  @Test func `keybag and effaceable file of two devices with one device key don't go together`() async throws {
    try await setUp()
    let deviceKey = try #require(world.memory.content(atPath: TestWorld.path + "/device.key"))
    // A second device under the same device key, as a provider keeps it over an erase.
    let other = TestWorld(memory: world.memory.afterProcessDeath())
    try await other.erase()
    other.memory.plant(deviceKey, atPath: TestWorld.path + "/device.key")
    let device = try await other.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    for prefix in ["keybag-", "effaceable-"] {
      let mixed = TestWorld(memory: world.memory.afterProcessDeath())
      let bytes = try #require(other.memory.content(atPath: other.only(prefix)))
      mixed.memory.plant(bytes, atPath: try mixed.only(prefix))
      #expect(await code { _ = try await mixed.open() } == .corrupt, "\(prefix)")
    }
  }
}
