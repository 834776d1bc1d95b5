import DataProtection
import Foundation
import Glibc
import Synchronization
import TestTraits
import Testing

/// A custody as a session daemon would be: it outlives the devices of a test.
///
/// It keeps the keys with every byte changed, so that a scan of the memory doesn't find these very copies.
final class DaemonCustody: ProtectedDevice.KeyCustody {
  private let keys = Mutex<[ProtectedDevice.KeyCustodyEntry: [UInt8]]>([:])
  private let lending = Mutex<@Sendable (ProtectedDevice.KeyCustodyEntry) -> Void>({ _ in })

  /// Called before a key is lent.
  var onLend: @Sendable (ProtectedDevice.KeyCustodyEntry) -> Void {
    get { lending.withLock { $0 } }
    set { lending.withLock { $0 = newValue } }
  }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    let bytes = key.indices.map { key[$0] ^ 0x5a }
    keys.withLock { $0[entry] = bytes }
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    onLend(entry)
    guard let bytes = keys.withLock({ $0[entry] }) else { return }
    var key = bytes.map { $0 ^ 0x5a }
    body(key.span)
    for index in key.indices { key[index] = 0 }
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    keys.withLock { $0[entry] = nil }
  }

  func put(_ masked: [UInt8], _ entry: ProtectedDevice.KeyCustodyEntry) {
    keys.withLock { $0[entry] = masked }
  }

  func forget(_ protection: ProtectionClass) {
    keys.withLock { keys in keys = keys.filter { $0.key.protection != protection } }
  }

  var classes: Set<ProtectionClass> { Set(keys.withLock { $0.keys.map(\.protection) }) }

  func replaceAll() {
    keys.withLock { keys in
      for entry in keys.keys { keys[entry] = [UInt8](repeating: 9, count: 32) }
    }
  }

  /// The keys as they are kept.
  var maskedByClass: [ProtectionClass: [UInt8]] {
    keys.withLock { keys in
      Dictionary(keys.map { ($0.key.protection, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// The keys as they are kept, which are forgotten.
  func takeMaskedByClass() -> [ProtectionClass: [UInt8]] {
    keys.withLock { keys in
      defer { keys = [:] }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0.key.protection, $0.value) })
    }
  }
}

@Suite(.tags(.threads)) struct ClassKeyCustodyTests {
  func makeWorld() -> (TestWorld, DaemonCustody) {
    var world = TestWorld()
    let custody = DaemonCustody()
    world.options.custody = custody
    world.options.gracePeriod = .zero
    return (world, custody)
  }

  @Test func `a custody keeps a restarted process unlocked`() async throws {
    let (world, _) = makeWorld()
    do {
      let device = try await world.open()
      try await device.setPasscode(ProtectedDevice.Passcode("1234"))
      try device.files().create("x", contents: Data([1]))
    }
    let device = try await world.open()
    #expect(device.isProtectedDataAvailable)
    #expect(try device.files().read("x") == Data([1]))
  }

  @Test func `a locked device takes back the keys that another process was given the passcode for`() async throws {
    let (world, _) = makeWorld()
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    try device.files().create("x", contents: Data([1]))
    device.lock()
    #expect(!device.unlockFromCustody() && device.lockState == .locked)
    let log = Mutex<[String]>([])
    let observation = device.observeProtectedData { notification in log.withLock { $0.append("\(notification)") } }
    let other = try await world.open()
    try await other.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.unlockFromCustody() && device.isProtectedDataAvailable)
    #expect(try device.files().read("x") == Data([1]))
    #expect(device.unlockFromCustody())
    #expect(log.withLock { $0 } == ["protectedDataDidBecomeAvailable"])
    // Its own lock takes them from the custody again.
    device.lock()
    #expect(!device.unlockFromCustody())
    _ = observation
  }

  @Test func `without a custody, or with wrong keys in it, a locked device stays locked`() async throws {
    let (world, custody) = makeWorld()
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    device.lock()
    let other = try await world.open()
    try await other.unlock(passcode: ProtectedDevice.Passcode("1234"))
    custody.replaceAll()
    #expect(!device.unlockFromCustody())
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
    var plain = world
    plain.options.custody = nil
    #expect(!(try await plain.open().unlockFromCustody()))
  }

  @Test(arguments: [false, true])
  func `a lock while the custody is asked wins`(reboots: Bool) async throws {
    let (world, custody) = makeWorld()
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    try device.files().create("first", contents: Data([1]), protection: .completeUntilFirstUserAuthentication)
    device.lock()
    let other = try await world.open()
    try await other.unlock(passcode: ProtectedDevice.Passcode("1234"))
    custody.onLend = { [unowned device] entry in
      guard entry.protection == .completeUntilFirstUserAuthentication else { return }
      guard reboots else { return device.lock() }
      // It wipes at once, and then waits for its turn with the custody.
      Thread.detachNewThread { [device] in device.reboot() }
      while (try? device.files().read("first")) != nil { sched_yield() }
    }
    #expect(!device.unlockFromCustody())
    custody.onLend = { _ in }
    #expect(device.lockState == .locked)
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
  }

  @Test func `a lock and a reboot take from the custody what they take from memory`() async throws {
    let (world, custody) = makeWorld()
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(custody.classes.count == 3)
    device.lock()
    #expect(custody.classes == [.completeUntilFirstUserAuthentication])
    let next = try await world.open()
    #expect(next.lockState == .locked)
    #expect(
      await code { try next.files().create("x", protection: .completeUntilFirstUserAuthentication) } == nil)
    device.reboot()
    #expect(custody.classes.isEmpty)
    #expect(
      await code {
        _ = try await world.open().files().create("y", protection: .completeUntilFirstUserAuthentication)
      } == .locked)
  }

  @Test func `wrong keys from a custody are passed over`() async throws {
    let (world, custody) = makeWorld()
    do {
      try await world.open().setPasscode(ProtectedDevice.Passcode("1234"))
    }
    custody.replaceAll()
    let device = try await world.open()
    #expect(!device.isProtectedDataAvailable)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.isProtectedDataAvailable)
  }

  @Test(arguments: [ProtectionClass.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication])
  func `a part of the keys is as good as those that a lock leaves, or none`(lost: ProtectionClass) async throws {
    let (world, custody) = makeWorld()
    do {
      let device = try await world.open()
      try await device.setPasscode(ProtectedDevice.Passcode("1234"))
      for protection in ProtectionClass.allCases {
        try device.files().create("\(protection)", contents: Data([1]), protection: protection)
      }
    }
    custody.forget(lost)
    let device = try await world.open()
    #expect(device.lockState == .locked)
    #expect(!device.isProtectedDataAvailable)
    let files = try device.files()
    #expect(await code { _ = try files.read("complete") } == .locked)
    #expect(await code { _ = try files.read("completeUnlessOpen") } == .locked)
    let expected: ProtectionError.Code? = lost == .completeUntilFirstUserAuthentication ? .locked : nil
    #expect(await code { _ = try files.read("completeUntilFirstUserAuthentication") } == expected)
    #expect(await code { _ = try files.read("none") } == nil)
  }
}
