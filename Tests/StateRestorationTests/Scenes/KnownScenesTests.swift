import FoundationEssentials
import TestTraits
import Testing

@testable import StateRestoration

/// What one run knows of the scenes, joined with a list on disk.
@MainActor @Suite(.tags(.threads)) struct KnownScenesTests {
  /// What a run has to do with a session.
  enum Own: CaseIterable {
    case unknown, unchanged, changed, opened, discarded

    var known: KnownScenes {
      var known = KnownScenes()
      if self == .unchanged || self == .changed || self == .discarded {
        known.join([KnownScenesTests.session(at: 1, role: "old")], keepsMissing: false, held: [])
      }
      switch self {
      case .unknown, .unchanged: break
      case .changed: known.change("s") { $0 = KnownScenesTests.session(at: 2, role: "own") }
      case .opened: known.add(KnownScenesTests.session(at: 2))
      case .discarded: known.discard("s")
      }
      return known
    }
  }

  /// What a list says of the session.
  enum Stored: CaseIterable {
    case missing, asBefore, changed

    var sessions: [RestoredWindow] {
      switch self {
      case .missing: []
      case .asBefore: [KnownScenesTests.session(at: 1, role: "old")]
      case .changed: [KnownScenesTests.session(at: 3, role: "theirs")]
      }
    }
  }

  nonisolated static func session(
    _ id: RestoredWindow.ID = "s", at time: Double, role: String = ""
  ) -> RestoredWindow {
    RestoredWindow(id: id, role: role, lastActive: Date(timeIntervalSinceReferenceDate: time))
  }

  @Test(arguments: Own.allCases, Stored.allCases)
  func `what a run has changed wins, and everything else is as it is on disk`(own: Own, stored: Stored) {
    for keepsMissing in [false, true] {
      for isHeld in [false, true] {
        var known = own.known
        known.join(stored.sessions, keepsMissing: keepsMissing, held: isHeld ? ["s"] : [])
        let role = stored == .missing ? "" : stored == .asBefore ? "old" : "theirs"
        let expected: [RestoredWindow] =
          switch own {
          case .changed: [Self.session(at: 2, role: "own")]
          case .opened: [Self.session(at: 2, role: role)]
          case .discarded: []
          case .unchanged where stored == .missing && (isHeld || keepsMissing): Own.unchanged.known.sessions
          case .unknown, .unchanged: stored.sessions
          }
        #expect(known.sessions == expected)
        // It is as it is until the list is written, whoever writes what meanwhile.
        let joined = known.sessions
        known.join(joined, keepsMissing: false, held: [])
        #expect(known.sessions == joined)
        #expect(known.unwritten.sessions.isEmpty == (own != .changed && own != .opened))
        #expect(known.unwritten.discarded.isEmpty == (own != .discarded))
      }
    }
  }

  @Test(arguments: Own.allCases)
  func `what is written is nobody's own any more`(own: Own) {
    var known = own.known
    let written = known.sessions
    known.settle()
    #expect(known.unwritten.discarded.isEmpty)
    #expect(known.unwritten.sessions.isEmpty)
    known.join(written, keepsMissing: false, held: [])
    #expect(known.sessions == written)
  }

  @Test func `sessions of several runs stand in one order, the most recent first`() {
    var known = KnownScenes()
    known.add(Self.session("b", at: 2))
    known.add(Self.session("old", at: 1))
    known.join([Self.session("c", at: 3), Self.session("a", at: 2)], keepsMissing: false, held: [])
    #expect(known.sessions.map(\.id) == ["c", "a", "b", "old"])
    #expect(!known.change("nobody") { $0.role = "other" })
  }
}
