import FaultyFileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

@Suite struct PendingTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()
  let base = Data("base".utf8)
  let away = Data("away".utf8)

  /// A process that has read its base and then saves while locked.
  private func saveWhileLocked(_ kind: PendingArchive.Kind = .whole, _ content: Data? = nil) throws {
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    try store.publishPending(content ?? away, kind: kind)
  }

  private func code(_ body: () throws -> some Any) throws -> ProtectionError.Code? {
    do {
      _ = try body()
      return nil
    } catch let error as ProtectionError {
      return error.code
    }
  }

  @Test func `a pending generation is taken over when its base is unchanged`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    let store = try rig.archives(memory)
    let pending = try #require(try store.openPending())
    #expect(pending.isBaseUnchanged && pending.kind == .whole && pending.content == away)
    #expect(pending.base?.rawValue == 1)
    try store.promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
    try store.append(Data("on top".utf8))
    #expect(try rig.observe(memory) == .saved(away, [Data("on top".utf8)]))
    #expect(try rig.archives(memory).openPredecessor().readAll() == base)
    #expect(try rig.archives(memory).openNewest().protection == .completeUnlessOpen)
    try rig.archives(memory).publish(base)
    try rig.archives(memory).publish(base)
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
  }

  @Test func `while locked nothing pending can be read, and it is not nothing`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    #expect(try code { try rig.archives(memory).openPending() } == .locked)
  }

  @Test func `a process that hasn't read its base may save touched nodes only`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    let store = try rig.archives(memory)
    #expect(try code { try store.openNewest() } == .locked)
    #expect(try code { try store.publishPending(away, kind: .whole) } == .superseded)
    try store.publishPending(away, kind: .touchedNodes)
    rig.sealing.unlock()
    let pending = try #require(try rig.archives(memory).openPending())
    #expect(pending.kind == .touchedNodes && pending.base?.rawValue == 1 && !pending.isBaseUnchanged)
    #expect(try code { try rig.archives(memory).promotePending(pending) } == .superseded)
    #expect(try rig.observe(memory) == .saved(base, pending: away))
  }

  @Test func `a first launch that found nothing may save whole`() throws {
    try rig.directory(memory).archives(for: rig.slot, protection: .complete).deleteAll()
    let store = try rig.archives(memory)
    #expect(try code { try store.openNewest() } == .notFound)
    rig.sealing.lock()
    try store.publishPending(away, kind: .whole)
    rig.sealing.unlock()
    let later = try rig.archives(memory)
    let pending = try #require(try later.openPending())
    #expect(pending.base == nil && pending.isBaseUnchanged)
    #expect(try code { try later.openNewest() } == .notFound)
    try later.promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
  }

  @Test func `a changed base keeps both`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    let other = try rig.archives(memory)
    _ = try other.openNewest()
    try other.append(Data("meanwhile".utf8))
    let pending = try #require(try rig.archives(memory).openPending())
    #expect(!pending.isBaseUnchanged)
    #expect(try code { try rig.archives(memory).promotePending(pending) } == .superseded)
    #expect(try rig.observe(memory) == .saved(base, [Data("meanwhile".utf8)], pending: away))
    try other.publish(Data("whole".utf8))
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8), pending: away))
    try rig.archives(memory).discardPending(pending)
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8)))
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
  }

  @Test func `there is at most one; a new one replaces only another pending one`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked(.whole, Data("first".utf8))
    try saveWhileLocked(.whole, Data("second".utf8))
    #expect(rig.names(memory, endingWith: ".pending").count == 1)
    #expect(rig.names(memory, endingWith: ".archive").count == 1)
    #expect(try rig.observe(memory) == .saved(base, pending: Data("second".utf8)))
  }

  @Test func `a replayed, replaced or planted pending generation is not used`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked(.whole, Data("first".utf8))
    let path = StoreRig.path + "/" + rig.names(memory, endingWith: ".pending")[0]
    let old = try #require(memory.content(atPath: path))
    try saveWhileLocked(.whole, Data("second".utf8))
    memory.plant(old, atPath: path)
    #expect(try rig.observe(memory).pending == Data("second".utf8))
    let pending = try #require(try rig.archives(memory).openPending())
    try rig.archives(memory).discardPending(pending)
    memory.plant(old, atPath: path)
    #expect(try rig.observe(memory).pending == nil)
    let archive = StoreRig.path + "/" + rig.names(memory, endingWith: ".archive")[0]
    memory.plant(
      try #require(memory.content(atPath: archive)),
      atPath: archive.replacing(".archive", with: ".pending").replacing("1.pending", with: "9.pending"))
    #expect(try code { try rig.archives(memory).openPending() } != nil)
    #expect(try rig.archives(memory).openNewest().readAll() == base)
  }

  @Test func `a listed pending generation that is gone is missing`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    memory.remove(atPath: StoreRig.path + "/" + rig.names(memory, endingWith: ".pending")[0])
    #expect(try code { try rig.archives(memory).openPending() } == .missing)
    #expect(try rig.archives(memory).openNewest().readAll() == base)
  }
}
