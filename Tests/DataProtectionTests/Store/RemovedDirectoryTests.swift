import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Somebody removes or exchanges what a running program has open: nothing is acknowledged that nobody finds.
@Suite struct RemovedDirectoryTests {
  let rig: StoreRig = {
    var rig = StoreRig()
    rig.isCache = true
    return rig
  }()
  let memory = MemoryFileSystem()

  /// What is taken away while a program runs.
  enum Removal: CaseIterable {
    case slot, slots, slotsMoved, slotsExchanged
  }

  private func perform(_ removal: Removal) {
    switch removal {
    case .slot: memory.remove(atPath: rig.path())
    case .slots: memory.remove(atPath: StoreRig.path)
    case .slotsMoved: memory.move(fromPath: StoreRig.path, toPath: "/moved")
    case .slotsExchanged:
      memory.move(fromPath: StoreRig.path, toPath: "/moved")
      memory.plant(.directory, atPath: StoreRig.path)
    }
  }

  @Test(arguments: Removal.allCases)
  func `a directory that is removed under a running program is made again, and the save says so`(
    _ removal: Removal
  ) throws {
    let store = try rig.archives(memory)
    let newest = try store.publish(StoreScenario.second).generation
    perform(removal)
    #expect(try store.append(Data("change".utf8), to: newest) == nil)
    let receipt = try store.publish(StoreScenario.third)
    #expect(receipt.durability == .durable && receipt.isRemade)
    let next = try store.publish(StoreScenario.first)
    #expect(next.durability == .durable && !next.isRemade)
    #expect(try store.append(Data("change".utf8), to: next.generation)?.durability == .durable)
    store.close()
    let found = try rig.observe(memory.afterPowerCut(.dropAll))
    #expect(found == .saved(StoreScenario.first, [Data("change".utf8)]))
    #expect(memory.names(atPath: StoreRig.path).contains(CacheDirectoryTag.name) || removal == .slot)
  }

  /// At every call of a save.
  @Test(arguments: Removal.allCases, [false, true])
  func `what is acknowledged while a directory goes away is found`(_ removal: Removal, _ appends: Bool) throws {
    var call = 1
    while true {
      let trial = RemovedDirectoryTests()
      let faulty = FaultyFileSystem(trial.memory)
      let store = try trial.rig.archives(faulty)
      let newest = try store.publish(StoreScenario.second).generation
      try store.append(Data("before".utf8), to: newest)
      let start = faulty.callCount
      let moment = start + call
      faulty.onCall { number, _ in if number == moment { trial.perform(removal) } }
      var receipt: PublishReceipt?
      if appends { receipt = try? store.append(Data("change".utf8), to: newest) }
      if !appends { receipt = try? store.publish(StoreScenario.third) }
      let isOver = faulty.callCount < start + call
      if isOver { trial.perform(removal) }
      faulty.onCall(nil)
      if !isOver, receipt?.durability == .durable {
        let found = try trial.rig.observe(trial.memory)
        // The last look came before it went away; what is removed then is only swept.
        if found.content == nil { #expect(faulty.callCount - moment < 6, "call \(call): \(found)") }
      }
      // And the next one is there.
      let again = try store.publish(StoreScenario.first)
      #expect(again.durability == .durable, "call \(call)")
      store.close()
      #expect(try trial.rig.observe(trial.memory).content == StoreScenario.first, "call \(call)")
      if isOver { break }
      call += 1
    }
    #expect(call > 5)
  }

  @Test func `a device that was erased is not made again by those who had it open`() async throws {
    let world = TestWorld()
    let device = try await world.open()
    let archives = try device.archives(for: ArchiveSlot(application: "a"))
    try archives.publish(Data("old".utf8))
    try await world.erase()
    for _ in 0..<3 { #expect(try errorCode { try archives.publish(Data("new".utf8)) } == .otherDevice) }
    #expect(world.memory.names(atPath: TestWorld.path + "/archives").isEmpty)
    let next = try await world.open().archives(for: ArchiveSlot(application: "a"))
    #expect(try errorCode { try next.openNewest() } == .notFound)
  }

  /// A directory of an overlay file system has one link for good, removed or not.
  @Test func `a save after an erase ends, where no count of links tells that a directory is gone`() async throws {
    let world = TestWorld()
    let overlay = OverlayFileSystem(base: world.memory)
    let device = try await world.open(through: FaultyFileSystem(overlay))
    let archives = try device.archives(for: ArchiveSlot(application: "a"))
    try archives.publish(Data("old".utf8))
    archives.close()
    try await world.erase()
    for _ in 0..<2 {
      #expect(try errorCode { try archives.publish(Data("new".utf8)) } == .otherDevice)
      #expect(try errorCode { try archives.openNewest() } == .otherDevice)
    }
  }

  // MARK: The lock

  /// Everything in the slot goes at any call of a save, and another writer comes at once.
  @Test(arguments: [false, true])
  func `nobody can take the lock of a slot away while a save goes on`(_ appends: Bool) throws {
    var call = 1
    while true {
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      let newest = try store.publish(StoreScenario.second).generation
      try store.append(Data("before".utf8), to: newest)
      let start = faulty.callCount
      let refusals = Log<ProtectionError.Code?>()
      let (rig, path) = (rig, rig.path())
      let moment = start + call
      faulty.onCall { number, _ in
        guard number == moment else { return }
        for name in memory.names(atPath: path) { memory.remove(atPath: path + "/" + name) }
        refusals.append(try? errorCode { try rig.archives(memory).publish(Data("other".utf8)) })
      }
      if appends { _ = try? store.append(Data("change".utf8), to: newest) }
      if !appends { _ = try? store.publish(StoreScenario.third) }
      faulty.onCall(nil)
      if faulty.callCount < moment { break }
      #expect(refusals.all == [.inUse], "call \(call)")
      #expect(try store.publish(StoreScenario.first).durability == .durable, "call \(call)")
      store.close()
      #expect(try rig.observe(memory).content == StoreScenario.first, "call \(call)")
      call += 1
    }
    #expect(call > 5)
  }

  @Test func `no temporary file stays once a save after failures is done`() throws {
    for operations in [nil, [.synchronize, .unlink], [.rename, .unlink], [.write, .unlink]]
      as [Set<FileSystemError.Operation>?]
    {
      var call = 1
      while true {
        let memory = MemoryFileSystem()
        let faulty = FaultyFileSystem(memory)
        let store = try rig.archives(faulty)
        try store.publish(StoreScenario.second)
        try store.publish(StoreScenario.third)
        faulty.fail(from: faulty.callCount + call, operations, .error(.inputOutput))
        _ = try? store.publish(StoreScenario.first)
        let isOver = faulty.hits.isEmpty
        faulty.heal()
        #expect(try store.publish(StoreScenario.first).durability == .durable)
        #expect(!rig.names(memory).contains("ledger.new"), "call \(call)")
        if isOver { break }
        call += 1
      }
    }
  }
}

/// An overlay file system as far as links are counted.
private struct OverlayFileSystem: WrappingFileSystem {
  let base: any FileSystem

  func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    var status = try base.status(of: descriptor)
    if status.kind == .directory { status.linkCount = 1 }
    return status
  }
}
