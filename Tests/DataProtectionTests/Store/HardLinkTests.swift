import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// A copy of everything by hard links (`cp -al`), as programs make it that keep snapshots.
@Suite struct HardLinkTests {
  /// Gives every file of a directory a second name in another one.
  static func copy(_ memory: MemoryFileSystem, _ path: String, to copy: String) {
    memory.plant(.directory, atPath: copy)
    for name in memory.names(atPath: path) {
      if memory.status(atPath: "\(path)/\(name)")?.kind == .directory {
        Self.copy(memory, "\(path)/\(name)", to: "\(copy)/\(name)")
      } else {
        memory.plantLink(from: "\(path)/\(name)", toPath: "\(copy)/\(name)")
      }
    }
  }

  @Test(arguments: [false, true])
  func `state and its copy are whole, and what is saved later is in one of them`(isRunning: Bool) throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    var store = try rig.archives(memory)
    let newest = try store.publish(StoreScenario.second).generation
    try store.append(Data("before".utf8), to: newest)
    _ = try store.beginAttempt(at: store.openNewest())
    if !isRunning { store.close() }
    Self.copy(memory, StoreRig.path, to: "/copy")
    func copied() -> [[UInt8]?] {
      let slot = "/copy/" + memory.names(atPath: "/copy").first { $0.utf8.count == 32 }!
      return memory.names(atPath: slot).map { memory.content(atPath: "\(slot)/\($0)") }
    }
    let before = copied()
    if !isRunning {
      #expect(try rig.observe(memory) == .saved(StoreScenario.second, [Data("before".utf8)]))
      store = try rig.archives(memory)
      try store.open()
    }
    let opened = try store.openNewest()
    _ = try store.beginAttempt(at: opened)
    try store.requireDurable()
    // A change would be seen in the copy as well.
    #expect(try store.append(Data("after".utf8), to: opened.generation) == nil)
    #expect(try store.publish(StoreScenario.third).durability == .durable)
    #expect(copied() == before)
    store.close()
    let found = try rig.observe(memory)
    #expect(found == .saved(StoreScenario.third), "nothing is set aside as damaged: \(found)")
    #expect(try rig.archives(memory).openPredecessor().frames == [Data("before".utf8)])
  }

  @Test func `a device whose directory was copied by hard links opens, with and without a passcode`() async throws {
    let world = TestWorld()
    do {
      let device = try await world.open()
      try await device.setPasscode(ProtectedDevice.Passcode("1234"))
      try device.archives(for: ArchiveSlot(application: "a")).publish(Data("saved".utf8))
    }
    Self.copy(world.memory, TestWorld.path, to: "/copy")
    let device = try await world.open()
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(try device.archives(for: ArchiveSlot(application: "a")).openNewest().readAll() == Data("saved".utf8))
    try await device.changePasscode(from: ProtectedDevice.Passcode("1234"), to: ProtectedDevice.Passcode("5678"))
    #expect(try await world.opens("5678"))
  }
}
