import FaultyFileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Two processes on one slot: one acts between any two steps of the other, at every step.
///
/// Whoever is told that a frame is saved must find it again, or a whole state that was saved later.
@Suite struct PeerInterleavingTests {
  /// What a process does with an archive that it has read.
  enum Act: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case append, appendTwice, publish, changeClass, reseal, promote, delete

    var testDescription: String { rawValue }
  }

  /// Who does what, and whether our journal is begun already.
  struct Meeting: Sendable, CustomTestStringConvertible {
    let mine: Act
    let peers: Act
    let hasJournal: Bool

    var testDescription: String { "\(mine), peer: \(peers), journal: \(hasJournal)" }

    static func all(_ mine: [Act], _ peers: [Act]) -> [Meeting] {
      mine.flatMap { mine in
        peers.flatMap { peers in [false, true].map { Meeting(mine: mine, peers: peers, hasJournal: $0) } }
      }
    }
  }

  private static let base = Data("base".utf8)
  private static let pending = Data("pending".utf8)

  /// Does something; returns the frames and the state that were acknowledged as durable.
  private func perform(_ act: Act, _ store: ArchiveStore, _ name: String) -> (frames: [Data], whole: Data??) {
    var frames: [Data] = []
    switch act {
    case .append, .appendTwice:
      for number in 0..<(act == .append ? 1 : 2) {
        let frame = Data("\(name) \(number)".utf8)
        guard let receipt = try? store.append(frame), receipt.durability == .durable else { break }
        frames.append(frame)
      }
    case .publish:
      let whole = Data(name.utf8)
      if (try? store.publish(whole))?.durability == .durable { return ([], .some(whole)) }
    case .changeClass: try? store.setProtection(.none)
    case .reseal: _ = try? store.store.resealAll()
    case .promote:
      guard let found = try? store.openPending().archives.first, let receipt = try? store.promotePending(found),
        receipt.durability == .durable
      else { break }
      return ([], .some(Self.pending))
    case .delete: if (try? store.deleteAll()) != nil { return ([], .some(nil)) }
    }
    return (frames, nil)
  }

  /// What is there after one has acted between two steps of the other, and what both were told.
  private struct Outcome {
    let own: (frames: [Data], whole: Data??)
    let peers: (frames: [Data], whole: Data??)
    let found: StoreState
    let place: Comment
  }

  /// The frame that a meeting begins with, if a journal is there already.
  private static let first = Data("first".utf8)

  /// Lets the peer act before each of our calls in turn, until there is no further call.
  ///
  /// - Parameter prepare: Brings both to where the meeting begins.
  private func meet(
    _ meeting: Meeting, _ prepare: (_ own: ArchiveStore, _ peer: ArchiveStore) throws -> Void,
    check: (Outcome) -> Void
  ) throws {
    for step in 1... {
      let rig = StoreRig()
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let peer = try rig.archives(memory)
      try peer.publish(Self.base)
      let store = try rig.archives(faulty)
      try prepare(store, peer)
      let start = faulty.callCount
      let outcome = SharedOutcome()
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        outcome.set(perform(meeting.peers, peer, "peer"))
      }
      let own = perform(meeting.mine, store, "own")
      faulty.onCall(nil)
      guard let peers = outcome.value else {
        #expect(step > 3, "the steps are counted")
        return
      }
      let found = try rig.observe(memory.afterPowerCut(.dropAll))
      check(Outcome(own: own, peers: peers, found: found, place: "at step \(step): found \(found)"))
    }
  }

  /// Every frame that was acknowledged is there.
  private func expectAllFrames(_ meeting: Meeting, _ outcome: Outcome) {
    #expect(outcome.found.content == Self.base, outcome.place)
    let expected = (meeting.hasJournal ? [Self.first] : []) + outcome.own.frames + outcome.peers.frames
    #expect(Set(expected).isSubset(of: Set(outcome.found.frames)), outcome.place)
  }

  @Test(arguments: Meeting.all([.append, .appendTwice], Act.allCases))
  func `nothing that is acknowledged is lost, whoever acts between which steps`(_ meeting: Meeting) throws {
    try meet(meeting) { store, peer in
      _ = try store.openNewest()
      // With a journal of our own an append takes no lock; the peer has one of its own, too, or has only read.
      if meeting.hasJournal { try store.append(Self.first) }
      _ = try peer.openNewest()
    } check: { outcome in
      guard let whole = outcome.peers.whole else { return expectAllFrames(meeting, outcome) }
      // The peer has replaced or deleted everything; what was appended after that is refused, not lost.
      #expect(outcome.found.content == whole, outcome.place)
      #expect(outcome.found.frames.isEmpty || outcome.own.frames.isEmpty, outcome.place)
    }
  }

  @Test(arguments: Meeting.all([.append, .publish, .changeClass, .reseal], [.append, .appendTwice]))
  func `the same the other way round: a peer appends between the steps of whatever we do`(
    _ meeting: Meeting
  ) throws {
    try meet(meeting) { store, peer in
      if meeting.hasJournal { try peer.append(Self.first) }
      _ = try store.openNewest()
    } check: { outcome in
      guard let whole = outcome.own.whole else { return expectAllFrames(meeting, outcome) }
      #expect(outcome.found.content == whole, outcome.place)
    }
  }

  @Test func `sealing anew makes a new generation of what is there`() throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    let store = try rig.archives(memory)
    try store.publish(Self.base)
    try store.append(Self.first)
    let before = rig.names(memory, endingWith: ".archive")
    #expect(try store.store.resealAll())
    let after = rig.names(memory, endingWith: ".archive")
    #expect(after.count == 1 && after != before)
    let found = try rig.archives(memory).openNewest()
    #expect(try found.readAll() == Self.base && found.frames == [Self.first])
  }

  @Test(arguments: Meeting.all([.promote], [.append, .appendTwice]))
  func `what was saved while locked is not taken over a frame that a peer appends meanwhile`(
    _ meeting: Meeting
  ) throws {
    try meet(meeting) { store, peer in
      if meeting.hasJournal { try peer.append(Self.first) }
      _ = try store.openNewest()
      try store.publishPending(Self.pending, kind: .whole)
    } check: { outcome in
      guard let whole = outcome.own.whole else { return expectAllFrames(meeting, outcome) }
      #expect(outcome.found.content == whole && outcome.peers.frames.isEmpty, outcome.place)
    }
  }
}
