extension RestorationReport {
  /// Why the state is as it is at this launch: one value, readable before any user interface exists.
  ///
  /// ``RestorationCoordinator/prepare()`` finds it out and ``RestorationCoordinator/reason`` keeps it. A program uses it to
  /// choose its first words ("Your notes are locked", "One window was left out because it failed to open").
  @nonexhaustive public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    /// None of the others; whether the state could be read is the report's outcome.
    case normal
    /// The process died in the last attempt to restore this state.
    ///
    /// The node that it died at is left out, if one is known; after repeated deaths nothing may be restored.
    case afterCrash
    /// The state was preserved by another version of the program.
    case afterUpdate
    /// The generation before the newest: that could not be read, restoring it failed, or the program asked for this
    /// one.
    case olderGeneration
    /// The state is locked: nothing is restored and nothing is overwritten until the device is unlocked.
    case deferredUntilUnlock
  }
}

extension RestorationReport.Reason: CustomStringConvertible {
  /// A short clause in plain words.
  public var description: String {
    switch self {
    case .normal: "normal launch"
    case .afterCrash: "after restoring failed the last time"
    case .afterUpdate: "after an update of the program"
    case .olderGeneration: "from an older generation"
    case .deferredUntilUnlock: "waiting until the device is unlocked"
    }
  }
}
