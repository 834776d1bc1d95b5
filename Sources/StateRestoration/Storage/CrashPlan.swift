internal import DataProtection
public import FoundationShim

extension RestorationCoordinator {
  /// The attempts to restore one state that did not end.
  public struct CrashHistory: Sendable, Hashable, Codable {
    /// Number of attempts that ended with the death of the process, since restoring last ended well.
    public var failedAttempts: Int
    /// When the state was preserved.
    public var savedAt: Date?
  }
}

extension RestorationCoordinator {
  /// What to do after the same state ended two runs badly.
  public enum CrashDecision: String, Sendable, Hashable, Codable, CaseIterable {
    /// Restore the generation before it. Save then: as long as nothing is saved, the next launch begins with the newest
    /// again.
    case olderGeneration
    /// Try the same state again, without the node that was being restored.
    case tryAgain
    /// Restore nothing. The next save sets the state aside, so that it can be restored on request.
    case restoreNothing
  }
}

/// The way after a crash: leave out the crash node, then ask, then the older generation, then nothing.
enum CrashPlan: Hashable, Sendable {
  /// Nothing speaks against the state, or one attempt died outside any node.
  case restoreEverything
  /// The last attempt died at this node: leave its subtree out.
  case leaveOut(node: UInt32)
  /// Two attempts at the same state ended badly: the delegate decides.
  case ask(node: UInt32?)
  /// Everything was tried.
  case nothing

  /// Chooses by how attempts at the newest state have ended.
  ///
  /// Outside any node there is no crash node: a kill from outside is likelier than a crash, and must not cost state.
  init(newest history: AttemptHistory, isDeveloperMode: Bool) {
    switch history.deaths {
    case _ where isDeveloperMode: self = .restoreEverything
    case ...0: self = .restoreEverything
    case 1: self = history.node.map { .leaveOut(node: $0) } ?? .restoreEverything
    default: self = .ask(node: history.node)
    }
  }

  /// Chooses by how attempts at the generation before it, its fallback, have ended.
  init(fallback history: AttemptHistory, isDeveloperMode: Bool) {
    switch history.deaths {
    case _ where isDeveloperMode: self = .restoreEverything
    case ...0: self = .restoreEverything
    case 1 where history.node == nil: self = .restoreEverything
    default: self = .nothing
    }
  }

  /// Chooses for a state that the program asks for by name: the node that the last request died at is left out.
  init(request history: AttemptHistory, isDeveloperMode: Bool) {
    guard !isDeveloperMode, history.requestDied || history.deaths > 0, let node = history.node else {
      self = .restoreEverything
      return
    }
    self = .leaveOut(node: node)
  }

  /// The node to leave out; nil for none.
  var crashNode: UInt32? {
    if case .leaveOut(let node) = self { node } else { nil }
  }
}
