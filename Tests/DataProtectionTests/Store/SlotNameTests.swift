import FaultyFileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What slots are called: their directories have hashes for names, and their ledgers the names, sealed.
@Suite struct SlotNameTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "com.example.notes", scene: "é\u{0}/..", slot: "archive")

  private func summaries(_ device: ProtectedDevice) throws -> [SlotSummary] {
    let store = try #require(try device.inspectArchives())
    return try store.slots.map { name throws(ProtectionError) in try store.summary(of: name) }
  }

  @Test(arguments: [ProtectionClass.complete, .none])
  func `a saved slot can be named by those who have the device key, also while locked`(
    _ protection: ProtectionClass
  ) async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let store = try device.archives(for: slot, protection: protection)
    let first = try store.publish(Data("state".utf8)).generation
    try store.append(Data("change".utf8), to: first)
    let locked = try await world.open()
    #expect(!locked.isProtectedDataAvailable)
    let found = try summaries(locked)
    #expect(found.map(\.slot) == [slot] && found.map(\.protection) == [protection])
    #expect(found.map(\.generation) == [first] && found[0].problem == nil)
  }

  @Test func `a slot that is saved in a locked run has its name`() async throws {
    var world = world
    world.options.gracePeriod = .zero
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    device.lock()
    let store = try device.archives(for: slot)
    store.keepState()
    try store.publish(Data("state".utf8))
    #expect(try summaries(device).map(\.slot) == [slot])
  }

  @Test func `a lost ledger loses the name until the next save`() async throws {
    let device = try await world.open()
    let store = try device.archives(for: slot)
    try store.publish(Data("state".utf8))
    store.close()
    let name = SlotName(identity: store.identity).text
    world.memory.remove(atPath: "\(TestWorld.path)/archives/\(name)/ledger")
    #expect(try summaries(device).map(\.slot) == [nil])
    #expect(try summaries(device).map(\.problem) == [.missing])
    try store.publish(Data("state".utf8))
    #expect(try summaries(device).map(\.slot) == [slot])
  }

  @Test func `a name stays when the first passcode seals everything anew`() async throws {
    let device = try await world.open()
    try device.archives(for: slot).publish(Data("state".utf8))
    // Nobody has the slot open: it is sealed anew by its ledger alone.
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(try summaries(device).map(\.slot) == [slot])
  }

  @Test func `the length of a ledger tells little of the name's, and a long name is left out`() throws {
    let rig = StoreRig()
    func ledgerByteCount(_ scene: String) throws -> Int {
      let memory = MemoryFileSystem()
      let slot = ArchiveSlot(application: "a", scene: scene)
      try rig.archives(memory, slot: slot).publish(Data("state".utf8))
      return try #require(memory.content(atPath: rig.path(slot) + "/ledger")).count
    }
    let short = try ledgerByteCount("")
    for length in 1...40 { #expect(try ledgerByteCount(String(repeating: "s", count: length)) == short) }
    #expect(try ledgerByteCount(String(repeating: "s", count: 60)) == short + 64)
    #expect(try ledgerByteCount(String(repeating: "s", count: 3000)) < short)
  }

  @Test func `a name that is not the slot's is none`() throws {
    let rig = StoreRig()
    let store = try rig.directory(MemoryFileSystem())
    let identity = try store.identity(of: slot)
    var ledger = Ledger(identity: identity, epoch: [UInt8](repeating: 1, count: 8))
    ledger.sealedName = try store.sealedName(of: slot, identity)
    #expect(store.slot(of: ledger) == slot)
    // Sealed for this slot, and another one's.
    ledger.sealedName = try store.sealedName(of: ArchiveSlot(application: "b"), identity)
    #expect(store.slot(of: ledger) == nil)
    for bytes: [UInt8] in [[], [0, 0, 0], [255, 255, 255, 255], slot.bytes + [1], Array(slot.bytes.dropLast())] {
      ledger.sealedName = rig.keys.sealSlotName(bytes, of: identity)
      #expect(store.slot(of: ledger) == nil)
    }
    ledger.sealedName = Array("garbage".utf8)
    #expect(store.slot(of: ledger) == nil)
    ledger.sealedName = [UInt8](repeating: 0, count: Ledger.sealedNameLimit + 1)
    let bytes = try ledger.encoded(keys: rig.keys)
    #expect(try errorCode { try Ledger(bytes, keys: rig.keys) } == .corrupt)
  }
}
