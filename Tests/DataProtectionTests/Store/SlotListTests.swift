import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// The list of slots: lost, damaged, made anew, and what it says of a slot that is gone or has come back.
@Suite struct SlotListTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func save(_ text: String = "saved", in slot: ArchiveSlot? = nil) throws {
    let store = try rig.archives(memory, slot: slot)
    #expect(try store.publish(Data(text.utf8)).durability == .durable)
    store.close()
  }

  private func problem() throws -> ProtectionError.Code? { try StoreInspection(rig.directory(memory)).listProblem }

  @Test(arguments: [false, true])
  func `a lost or damaged list is there again after the next save of any slot`(isDamaged: Bool) throws {
    let other = ArchiveSlot(application: "other")
    try save()
    try save(in: other)
    if isDamaged { memory.plant([1, 2, 3], atPath: "/slots") } else { memory.remove(atPath: "/slots") }
    #expect(try problem() == (isDamaged ? .corrupt : .missing))
    try save("again")
    #expect(try problem() == nil)
    memory.remove(atPath: rig.path())
    memory.remove(atPath: rig.path(other))
    for slot in [rig.slot, other] {
      #expect(try errorCode { try rig.archives(memory, slot: slot).openNewest() } == .missing)
    }
  }

  @Test func `a list that is lost while a program runs is there again after its next whole save`() throws {
    let store = try rig.archives(memory)
    try store.publish(Data("1".utf8))
    memory.remove(atPath: "/slots")
    try store.publish(Data("2".utf8))
    #expect(try problem() == nil)
    store.close()
    memory.remove(atPath: rig.path())
    #expect(try errorCode { try rig.archives(memory).openNewest() } == .missing)
  }

  @Test func `a lost list is there again after a run without a change`() throws {
    try save()
    memory.remove(atPath: "/slots")
    let store = try rig.archives(memory)
    try store.open()
    _ = try store.openNewest()
    try store.requireDurable()
    #expect(try problem() == nil)
  }

  /// With the list and the slot gone, only the other slots say that there was a list.
  @Test func `an error while looking for what is gone is no answer`() throws {
    try save(in: ArchiveSlot(application: "other"))
    try save()
    memory.remove(atPath: "/slots")
    memory.remove(atPath: rig.path())
    #expect(try errorCode { try rig.archives(memory).openNewest() } == .missing)
    for code in [.inputOutput, FileSystemError.Code(rawValue: 24)] as [FileSystemError.Code] {
      var call = 1
      while true {
        let faulty = FaultyFileSystem(memory)
        let store = try rig.archives(faulty)
        faulty.fail(call: faulty.callCount + call, .error(code))
        let found = try errorCode { try store.openNewest() }
        if faulty.hits.isEmpty { break }
        #expect(found == .io || found == .missing, "call \(call) with \(code): \(String(describing: found))")
        call += 1
      }
      #expect(call > 5)
    }
  }

  @Test func `an error while the list is made anew leaves no slot out`() throws {
    let other = ArchiveSlot(application: "other")
    try save(in: other)
    try save()
    memory.remove(atPath: "/slots")
    let start = memory.afterProcessDeath()
    var call = 1
    while true {
      let memory = start.afterProcessDeath()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      faulty.fail(call: faulty.callCount + call, .error(.inputOutput))
      let isDurable = (try? store.publish(Data("again".utf8)))?.durability == .durable
      if faulty.hits.isEmpty { break }
      if isDurable {
        #expect(try rig.directory(memory).readList().value?.entries.count == 2, "call \(call), \(faulty.hits)")
      }
      call += 1
    }
    #expect(call > 20)
  }

  @Test func `a deleted slot that is put back is found, and reported`() throws {
    try save("1")
    try save("2")
    var old: [String: [UInt8]] = [:]
    for name in rig.names(memory) { old[name] = memory.content(atPath: rig.path() + "/" + name) }
    try rig.archives(memory).deleteAll()
    memory.plant(.directory, atPath: rig.path())
    for (name, bytes) in old { memory.plant(bytes, atPath: rig.path() + "/" + name) }
    let found = try rig.observe(memory)
    #expect(found.content == Data("2".utf8) && found.standing == .rollbackUnverifiable)
    // A save goes on from it, and the next run is sure.
    let store = try rig.archives(memory)
    let newest = try store.openNewest()
    #expect(try store.append(Data("lost?".utf8), to: newest.generation) == nil)
    try store.publish(Data("3".utf8))
    store.close()
    #expect(try rig.observe(memory) == .saved(Data("3".utf8)))
  }

  @Test func `an old list put back loses no slot that was saved since`() throws {
    try save(in: ArchiveSlot(application: "other"))
    let old = try #require(memory.content(atPath: "/slots"))
    try save("1")
    memory.plant(old, atPath: "/slots")
    let found = try rig.observe(memory)
    #expect(found.content == Data("1".utf8) && found.standing == .rollbackUnverifiable)
    try save("2")
    #expect(try rig.observe(memory) == .saved(Data("2".utf8)))
    memory.remove(atPath: rig.path())
    #expect(try errorCode { try rig.archives(memory).openNewest() } == .missing)
  }
}
