import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Sealing
import Testing

@testable import DataProtection

/// A thief reads every block of the disk, those of files included that have lost their names.
@Suite struct RawDiskTests {
  enum Change: CaseIterable, Sendable {
    case change, remove
  }

  /// A device with the passcode "old".
  private func makeWorld() async throws -> TestWorld {
    let world = TestWorld()
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("old"))
    try device.files().create("x", contents: Data("abc".utf8), protection: .complete).close()
    return world
  }

  private func perform(_ change: Change, _ device: ProtectedDevice) async throws {
    switch change {
    case .change:
      try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    case .remove: try await device.removePasscode(ProtectedDevice.Passcode("old"))
    }
  }

  /// Whether the device opens with the old passcode; otherwise the change counts.
  private func hasOldPasscode(_ world: TestWorld) async throws -> Bool {
    guard try await world.open().hasPasscode else { return false }
    return try await world.opens("old")
  }

  @Test(arguments: Change.allCases)
  func `an interrupted change leaves keys for one passcode, and none after an erase`(_ change: Change) async throws {
    let start = try await makeWorld()
    let key = try #require(RawDisk(start.memory).keys(for: ["old"]).first)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let trialDevice = try await trial.open()
    let opening = trial.memory.callCount
    try await perform(change, trialDevice)
    for number in trial.memory.cutPoints(after: opening) {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let device = try await world.open()
      world.memory.cutPower(afterCall: world.memory.callCount + number)
      _ = try? await perform(change, device)
      let disks = world.memory.powerCutPolicies.map { world.memory.afterPowerCut($0) }
      for disk in [world.memory.afterProcessDeath()] + disks {
        let next = TestWorld(memory: disk)
        let isOld = try await hasOldPasscode(next)
        let passcodes = try ["none", "old", "new"].filter { try RawDisk(disk).keys(for: [$0]).contains(key) }
        #expect(passcodes == [isOld ? "old" : change == .change ? "new" : "none"], "call \(number)")
        try await next.erase()
        #expect(try RawDisk(disk).keys(for: ["none", "old", "new"]).isEmpty, "call \(number)")
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `a change that fails leaves keys for the passcode that counts`(_ change: Change) async throws {
    let start = try await makeWorld()
    let key = try #require(RawDisk(start.memory).keys(for: ["old"]).first)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let counting = FaultyFileSystem(trial.memory)
    let trialDevice = try await trial.open(through: counting)
    let opening = counting.callCount
    try await perform(change, trialDevice)
    for number in 1...counting.callCount - opening {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let faulty = FaultyFileSystem(world.memory)
      let device = try await world.open(through: faulty)
      faulty.fail(call: faulty.callCount + number, .error(.inputOutput))
      _ = try? await perform(change, device)
      let disk = world.memory.afterProcessDeath()
      let isOld = try await hasOldPasscode(TestWorld(memory: disk))
      let passcodes = try ["none", "old", "new"].filter { try RawDisk(disk).keys(for: [$0]).contains(key) }
      #expect(passcodes == [isOld ? "old" : change == .change ? "new" : "none"], "call \(number)")
    }
  }

  @Test(arguments: [false, true])
  func `an erase that is cut short and asked for again leaves no key`(opensDevice: Bool) async throws {
    let start = try await makeWorld()
    let deviceKey = try #require(start.memory.content(atPath: TestWorld.path + "/device.key"))
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let trialDevice = try await trial.open()
    let opening = trial.memory.callCount
    func erase(_ world: TestWorld, _ device: ProtectedDevice) async throws {
      if opensDevice { try await device.eraseAllContent() } else { try await world.erase() }
    }
    try await erase(trial, trialDevice)
    for number in trial.memory.cutPoints(after: opening) {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let device = try await world.open()
      world.memory.cutPower(afterCall: world.memory.callCount + number)
      _ = try? await erase(world, device)
      for policy in world.memory.powerCutPolicies {
        let disk = world.memory.afterPowerCut(policy)
        try await TestWorld(memory: disk).erase()
        #expect(!disk.allContents.contains(deviceKey), "call \(number), \(policy)")
        #expect(try RawDisk(disk).keys(for: ["none", "old"]).isEmpty, "call \(number), \(policy)")
        #expect(try await TestWorld(memory: disk).open().isProtectedDataAvailable, "call \(number), \(policy)")
      }
    }
  }
}

/// What can be made of the blocks of a disk.
private struct RawDisk {
  private let contents: Set<[UInt8]>

  init(_ memory: MemoryFileSystem) {
    contents = Set(memory.allContents)
  }

  /// The `complete` keys that any keybag gives with any effaceable file and any device key.
  func keys(for passcodes: [String]) throws -> Set<ClassKeyIdentifier> {
    let keybags = contents.filter { $0.starts(with: KeybagCodec.magic) }
    let effaceables = contents.filter { $0.count == Effaceable.byteCount && $0.starts(with: Effaceable.magic) }
    var found: Set<ClassKeyIdentifier> = []
    for deviceKey in contents where deviceKey.count == ProtectedDevice.Key.byteCount {
      let deviceKey = try ProtectedDevice.Key(copying: deviceKey.span)
      for effaceable in effaceables {
        let opened = try Effaceable.open(SecretBytes(copying: effaceable.span), code: deviceKey.derive(.effaceable))
        for keybag in keybags {
          guard let open = try? KeybagStorage.open(keybag, opened, deviceKey, allowsTestProfile: true) else { continue }
          found.formUnion(try keys(open, passcodes))
        }
      }
    }
    return found
  }

  private func keys(_ open: OpenKeybag, _ passcodes: [String]) throws -> [ClassKeyIdentifier] {
    try passcodes.compactMap { passcode in
      let stretched: StretchedPasscode
      if let profile = open.keybag.derivation {
        guard passcode != "none" else { return nil }
        stretched = try StretchedPasscode(ProtectedDevice.Passcode(passcode), salt: open.keybag.salt, profile: profile)
      } else {
        guard passcode == "none" else { return nil }
        stretched = try StretchedPasscode(noneWithSalt: open.keybag.salt)
      }
      guard try open.isRight(stretched) else { return nil }
      return try open.keys(stretched)[.complete].active?.identifier
    }
  }
}
