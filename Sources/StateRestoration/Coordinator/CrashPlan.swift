internal import DataProtection
public import FoundationEssentials

/// What is known about attempts to restore one state that did not end.
public struct CrashHistory: Sendable, Hashable, Codable {
  /// Number of attempts that ended with the death of the process, since the last save.
  ///
  /// Five in a row, and more, count as two, whatever was saved meanwhile.
  public var failedAttempts: Int
  /// True when a node's own code was running when the process died, so that leaving out that node may be enough.
  public var hasCulprit: Bool
  /// When the state was preserved.
  public var savedAt: Date?

  /// Describes attempts that did not end.
  public init(failedAttempts: Int, hasCulprit: Bool, savedAt: Date? = nil) {
    self.failedAttempts = failedAttempts
    self.hasCulprit = hasCulprit
    self.savedAt = savedAt
  }
}

/// What to do after the same state ended two runs badly.
public enum CrashDecision: String, Sendable, Hashable, Codable, CaseIterable {
  /// Restore the generation before it. Save then: as long as nothing is saved, the next launch begins with the newest again.
  case olderGeneration
  /// Try the same state again, without the node that was being restored.
  case tryAgain
  /// Restore nothing. The next save sets the state aside, so that it can be restored on request.
  case restoreNothing
}

/// The way through R6.2: leave out the culprit, then ask, then the older generation, then nothing.
enum CrashPlan: Hashable, Sendable {
  /// Nothing speaks against the state, or one attempt died outside any node.
  case restoreEverything
  /// The last attempt died at this node: leave its subtree out.
  case leaveOut(node: UInt32)
  /// Three attempts ended badly, or the generation before has stood in and ended outside any node: restore that.
  case olderGeneration
  /// Two attempts at the same state ended badly: the delegate decides.
  case ask(node: UInt32?)
  /// Everything was tried.
  case nothing

  /// Chooses by what the marker says.
  ///
  /// A power cut does not count the first time: the store does not count it.
  init(after history: AttemptHistory, isDeveloperMode: Bool) {
    switch isDeveloperMode ? 0 : history.deaths {
    case 0: self = .restoreEverything
    // Outside any node there is no culprit: a kill from outside is likelier than a crash, and must not cost state.
    case 1: self = history.node.map { .leaveOut(node: $0) } ?? .restoreEverything
    case 2: self = .ask(node: history.node)
    case 3: self = .olderGeneration
    default: self = .nothing
    }
  }
}
