import FaultyFileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What is saved is read under the class that is recorded for it, when a program asks for that.
struct RecordedClassTests {
  private let rig = StoreRig()
  private let memory = MemoryFileSystem()

  /// Opens the slot as a program that wants no protection, and goes on with what is recorded.
  private func following() throws -> ArchiveStore {
    let store = try rig.archives(memory, ProtectionClass.none)
    store.followRecordedProtection()
    return store
  }

  @Test func `a generation is read under its class, which is then the store's`() throws {
    let store = try rig.archives(memory)
    try store.publish(Data("text".utf8))
    try store.append(Data("change".utf8))
    let other = try following()
    #expect(try other.openNewest().frames == [Data("change".utf8)])
    #expect(other.protection == .complete)
    try other.setProtection(.none)
    #expect(try rig.observe(memory) == .saved(Data("text".utf8), [Data("change".utf8)], protection: .none))
  }

  @Test func `changes on top of what was saved while locked tell the class`() throws {
    let store = try rig.archives(memory)
    try store.publish(Data("text".utf8))
    try store.publishPending(Data("locked".utf8), kind: .whole)
    let pending = try #require(try store.openPending().archives.first)
    try store.promotePending(pending)
    try store.append(Data("change".utf8))
    let other = try following()
    let opened = try other.openNewest()
    #expect(try opened.readAll() == Data("locked".utf8))
    #expect(try opened.frames == [Data("change".utf8)])
    #expect(opened.tailDropped == 0)
    #expect(other.protection == .complete)
  }

  @Test func `where nothing is saved the class that was asked for stays`() throws {
    let other = try following()
    #expect(throws: ProtectionError.self) { try other.openNewest() }
    #expect(other.protection == .none)
  }
}
