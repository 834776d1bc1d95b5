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
    case append, appendTwice, publish, changeClass, delete

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
    case .delete: if (try? store.deleteAll()) != nil { return ([], .some(nil)) }
    }
    return (frames, nil)
  }

  @Test(arguments: Meeting.all([.append, .appendTwice], Act.allCases))
  func `nothing that is acknowledged is lost, whoever acts between which steps`(_ meeting: Meeting) throws {
    for step in 1... {
      let rig = StoreRig()
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let peer = try rig.archives(memory)
      try peer.publish(Self.base)
      let first = Data("first".utf8)
      let store = try rig.archives(faulty)
      _ = try store.openNewest()
      // With a journal of our own an append takes no lock; the peer has one of its own, too, or has only read.
      if meeting.hasJournal { try store.append(first) }
      _ = try peer.openNewest()
      let start = faulty.callCount
      let outcome = SharedOutcome()
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        outcome.set(perform(meeting.peers, peer, "peer"))
      }
      let own = perform(meeting.mine, store, "own")
      faulty.onCall(nil)
      guard let others = outcome.value else {
        #expect(step > 3, "the steps are counted")
        return
      }
      let found = try rig.observe(memory.afterPowerCut(.dropAll))
      let place = "at step \(step): found \(found)"
      if let whole = others.whole {
        // The peer has replaced or deleted everything; what was appended after that is refused, not lost.
        #expect(found.content == whole, "\(place)")
        #expect(found.frames.isEmpty || own.frames.isEmpty, "\(place)")
        continue
      }
      #expect(found.content == Self.base, "\(place)")
      let expected = (meeting.hasJournal ? [first] : []) + own.frames + others.frames
      #expect(Set(expected).isSubset(of: Set(found.frames)), "\(place), acknowledged \(expected)")
    }
  }

  @Test(arguments: Meeting.all([.append, .publish, .changeClass], [.append, .appendTwice]))
  func `the same the other way round: a peer appends between the steps of whatever we do`(
    _ meeting: Meeting
  ) throws {
    for step in 1... {
      let rig = StoreRig()
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let peer = try rig.archives(memory)
      try peer.publish(Self.base)
      let first = Data("first".utf8)
      if meeting.hasJournal { try peer.append(first) }
      let store = try rig.archives(faulty)
      _ = try store.openNewest()
      let start = faulty.callCount
      let outcome = SharedOutcome()
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        outcome.set(perform(meeting.peers, peer, "peer"))
      }
      let own = perform(meeting.mine, store, "own")
      faulty.onCall(nil)
      guard let others = outcome.value else {
        #expect(step > 3, "the steps are counted")
        return
      }
      let found = try rig.observe(memory.afterPowerCut(.dropAll))
      let place = "at step \(step): found \(found)"
      if let whole = own.whole {
        #expect(found.content == whole, "\(place)")
        continue
      }
      #expect(found.content == Self.base, "\(place)")
      let expected = (meeting.hasJournal ? [first] : []) + own.frames + others.frames
      #expect(Set(expected).isSubset(of: Set(found.frames)), "\(place), acknowledged \(expected)")
    }
  }
}
