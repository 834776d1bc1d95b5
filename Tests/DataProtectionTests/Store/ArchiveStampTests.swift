import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

/// A whole generation that is saved only if nobody has saved since: two that do so lose nothing of each other.
@Suite struct ArchiveStampTests {
  /// What is there when its stamp is taken.
  enum Start: CaseIterable {
    case nothing, saved, journal, pending, damaged, damagedWhole, withoutLedger, planted

    func prepare(_ rig: StoreRig, _ memory: MemoryFileSystem) throws {
      guard self != .nothing else { return }
      let store = try rig.archives(memory)
      try store.publish(ArchiveStampTests.base)
      if self != .damagedWhole { try store.publish(ArchiveStampTests.base) }
      let newest = StoreRig.path + "/" + (try #require(rig.names(memory, endingWith: ".archive").max()))
      switch self {
      case .nothing, .saved: break
      case .journal: try store.append(ArchiveStampTests.frame)
      case .pending:
        try store.publishPending(ArchiveStampTests.away, kind: .whole)
      case .damaged, .damagedWhole:
        var bytes = try #require(memory.content(atPath: newest))
        bytes[ToySealing.headerByteCount] ^= 1
        memory.plant(bytes, atPath: newest)
      case .withoutLedger: memory.remove(atPath: StoreRig.path + "/ledger")
      case .planted:
        let higher = newest.replacing("0000000000000002.archive", with: "0000000000000007.archive")
        memory.plant([1, 2, 3], atPath: higher)
        memory.plant(.symbolicLink, atPath: newest.replacing(".archive", with: "-00000000.journal"))
      }
    }
  }

  /// What somebody else does then.
  enum Change: CaseIterable {
    case publish, append, appendTwice, savePending, mergePending, promote, discardPending, changeClass, reseal, delete

    /// Does it; false where there is nothing to do it with.
    func perform(_ store: ArchiveStore) throws -> Bool {
      let isThere = (try? store.openNewest()) != nil
      let pending = try store.openPending().archives
      switch self {
      case .publish: try store.publish(ArchiveStampTests.base)
      case .append, .appendTwice:
        guard (try? store.append(ArchiveStampTests.frame)) != nil else { return false }
        if self == .appendTwice { try store.append(ArchiveStampTests.frame) }
      case .savePending: try store.publishPending(ArchiveStampTests.away, kind: .touchedNodes)
      case .mergePending:
        guard !pending.isEmpty else { return false }
        try store.publish(ArchiveStampTests.base, consuming: pending)
      case .promote:
        guard let first = pending.first else { return false }
        try store.promotePending(first)
      case .discardPending:
        guard let first = pending.first else { return false }
        try store.discardPending(first)
      case .changeClass:
        guard isThere, (try? store.setProtection(.none)) != nil else { return false }
      case .reseal:
        guard isThere, try store.store.resealAll() else { return false }
      case .delete:
        guard isThere else { return false }
        try store.deleteAll()
      }
      return true
    }
  }

  private static let base = Data("base".utf8)
  private static let frame = Data("frame".utf8)
  private static let away = Data("away".utf8)
  private static let own = Data("own".utf8)

  private let rig = StoreRig()
  private let memory = MemoryFileSystem()

  /// Every file of the store, the lock's tip included.
  private var files: [String: [UInt8]?] {
    Dictionary(
      uniqueKeysWithValues: rig.names(memory).map { ($0, memory.content(atPath: "\(StoreRig.path)/\($0)")) })
  }

  @Test(arguments: Start.allCases, Change.allCases)
  func `what somebody else has changed since is not replaced, and nothing is written`(start: Start, change: Change)
    throws
  {
    try start.prepare(rig, memory)
    let store = try rig.archives(memory)
    store.followRecordedProtection()
    let seen = try store.stamp()
    _ = try? store.openNewest()
    let pending = try store.openPending().archives
    let isChanged = try change.perform(rig.archives(memory))
    let before = files
    guard isChanged else {
      #expect(try store.stamp() == seen)
      try store.publish(Self.own, unlessChangedSince: seen)
      return
    }
    #expect(try errorCode { try store.publish(Self.own, consuming: pending, unlessChangedSince: seen) } == .superseded)
    #expect(files == before)
    let again = try store.stamp()
    #expect(again != seen)
    _ = try? store.openNewest()
    try store.publish(Self.own, consuming: try store.openPending().archives, unlessChangedSince: again)
    #expect(try store.openNewest().readAll() == Self.own)
    #expect(
      try errorCode { try store.publish(Self.base, unlessChangedSince: again) } == .superseded, "nor twice by oneself")
  }

  @Test(arguments: Start.allCases)
  func `what is only looked at, locked or saved elsewhere changes nothing`(start: Start) throws {
    try start.prepare(rig, memory)
    let store = try rig.archives(memory)
    let seen = try store.stamp()
    rig.sealing.lock()
    #expect(try rig.archives(memory).stamp() == seen)
    _ = try? rig.archives(memory).openNewest()
    rig.sealing.unlock()
    let peer = try rig.archives(memory)
    if let opened = try? peer.openNewest(checkingFrames: true) { _ = try? peer.beginAttempt(for: opened) }
    _ = try? peer.openPredecessor()
    _ = try peer.openPending()
    _ = try peer.listMaterial()
    for scene in ["one", "two"] {
      try rig.archives(memory, slot: ArchiveSlot(application: "com.example.notes", scene: scene)).publish(Self.base)
    }
    #expect(try peer.stamp() == seen)
    try store.publish(Self.own, unlessChangedSince: seen)
    #expect(try rig.archives(memory).openNewest().readAll() == Self.own)
  }

  /// What a peer was told, and the disk if we had died then; handed out of a hook.
  private final class Meeting: Sendable {
    private let state = Mutex<(isDone: Bool, death: MemoryFileSystem)?>(nil)

    var outcome: (isDone: Bool, death: MemoryFileSystem)? { state.withLock { $0 } }

    func end(isDone: Bool, death: MemoryFileSystem) { state.withLock { $0 = (isDone, death) } }
  }

  /// Adds a name to what is saved, whoever else adds theirs; false when it is not sure to be there.
  private func join(_ name: String, _ store: ArchiveStore) -> Bool {
    while true {
      do {
        let seen = try store.stamp()
        let content = try text(store) + "\(name) "
        return try store.publish(Data(content.utf8), unlessChangedSince: seen).durability == .durable
      } catch let error as ProtectionError where error.code == .superseded {
        continue
      } catch {
        return false
      }
    }
  }

  private func text(_ store: ArchiveStore) throws -> String {
    do {
      return String(decoding: try store.openNewest().readAll(), as: UTF8.self)
    } catch {
      guard error.code == .notFound else { throw error }
      return ""
    }
  }

  private func names(_ fileSystem: MemoryFileSystem) throws -> Set<String> {
    Set(try text(rig.archives(fileSystem)).split(separator: " ").map(String.init))
  }

  @Test(arguments: [false, true])
  func `two that join what is there lose nothing, whoever comes between or dies at any step`(isFirst: Bool) throws {
    for step in 1... {
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let peer = try rig.archives(memory)
      if !isFirst { #expect(join("base", peer)) }
      let store = try rig.archives(faulty)
      let meeting = Meeting()
      let start = faulty.callCount
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        let isDone = join("peer", peer)
        meeting.end(isDone: isDone, death: memory.afterProcessDeath())
      }
      #expect(join("own", store))
      faulty.onCall(nil)
      guard let outcome = meeting.outcome else {
        #expect(step > 10, "the steps are counted")
        return
      }
      let others = Set((isFirst ? [] : ["base"]) + (outcome.isDone ? ["peer"] : []))
      #expect(try names(memory.afterPowerCut(.dropAll)) == others.union(["own"]), "at step \(step)")
      let death = outcome.death
      #expect(try names(death).isSuperset(of: others), "killed at step \(step)")
      #expect(join("third", try rig.archives(death)))
      #expect(
        try names(death.afterPowerCut(.dropAll)).isSuperset(of: others.union(["third"])), "killed at step \(step)")
    }
  }
}
