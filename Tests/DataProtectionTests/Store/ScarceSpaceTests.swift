import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Disks that are full, and volumes that are mounted read-only.
@Suite struct ScarceSpaceTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func saved(_ rig: StoreRig? = nil) throws {
    let store = try (rig ?? self.rig).archives(memory)
    let newest = try store.publish(StoreScenario.second).generation
    try store.append(StoreScenario.frames[0], to: newest)
    store.close()
  }

  /// Whatever the run before has left in the page cache alone.
  @Test func `a run without a change ends well on a full disk, and what it found is durable`() throws {
    let store = try rig.archives(memory)
    let newest = try store.publish(StoreScenario.second).generation
    let start = memory.callCount
    try store.append(StoreScenario.frames[0], to: newest)
    let calls = memory.callCount - start
    for call in 0...calls {
      let disk = MemoryFileSystem()
      let first = try rig.archives(disk)
      try first.publish(StoreScenario.second)
      disk.cutPower(afterCall: disk.callCount + call)
      _ = try? first.append(StoreScenario.frames[0], to: newest)
      let killed = disk.afterProcessDeath()
      killed.fill(leaving: 10)
      let next = try rig.archives(killed)
      try next.open()
      let found = try next.openNewest().frames
      try next.requireDurable()
      // A change is still refused, with the reason.
      let error = #expect(throws: ProtectionError.self) { try next.publish(StoreScenario.third) }
      #expect(error?.message.contains("disk is full") == true)
      let after = try rig.observe(killed.afterPowerCut(.dropAll))
      #expect(after == .saved(StoreScenario.second, found), "killed after \(call)")
    }
  }

  @Test func `on a read-only volume everything can be read, and a save says why it fails`() throws {
    try saved()
    rig.sealing.lock()
    try rig.archives(memory).publishPending(StoreScenario.away)
    rig.sealing.unlock()
    let before = memory.revision
    let store = try rig.archives(ReadOnlyFileSystem(base: memory))
    try store.open()
    let opened = try store.openNewest()
    #expect(try opened.readAll() == StoreScenario.second && opened.frames == [StoreScenario.frames[0]])
    #expect(opened.standing == .current)
    #expect(try store.openPending().archives.map(\.content) == [StoreScenario.away])
    #expect(try store.attempts(at: opened) == nil)
    // No mark can be made: that is an error, and not the end of restoring.
    #expect(try errorCode { try store.beginAttempt(at: opened) } == .io)
    try store.requireDurable()
    #expect(try store.append(Data(), to: opened.generation) == nil)
    let saves: [() throws -> Void] = [
      { try store.publish(StoreScenario.third) }, { try store.publishPending(StoreScenario.away) },
    ]
    for save in saves {
      let error = #expect(throws: ProtectionError.self, performing: save)
      #expect(error?.code == .io && error?.errno == 30 && error?.message.contains("read-only") == true)
    }
    #expect(memory.revision == before)
  }

  @Test func `a device on a read-only mount gives its archives and files`() async throws {
    let world = TestWorld()
    do {
      let device = try await world.open()
      try device.archives(for: ArchiveSlot(application: "a")).publish(Data("saved".utf8))
      try device.files(in: "drafts").create("x", contents: Data("text".utf8)).close()
    }
    let device = try await world.open(through: ReadOnlyFileSystem(base: world.memory))
    let archives = try device.archives(for: ArchiveSlot(application: "a"))
    try archives.open()
    #expect(try archives.openNewest().readAll() == Data("saved".utf8))
    #expect(try device.files(in: "drafts").read("x") == Data("text".utf8))
  }
}
