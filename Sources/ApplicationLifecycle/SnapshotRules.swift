/// Whether a snapshot is kept for the next launch.
package struct SnapshotRules: Sendable, Hashable {
  /// Whether the state was preserved at this entry into the background, or was unchanged since.
  package var isStatePreserved: Bool

  /// Whether the top visible controller is part of that state.
  package var isTopControllerPreserved: Bool

  /// Whether the program called `ignoreSnapshotOnNextLaunch()`.
  package var isIgnoredOnNextLaunch: Bool

  /// Describes an entry into the background.
  package init(isStatePreserved: Bool, isTopControllerPreserved: Bool, isIgnoredOnNextLaunch: Bool) {
    self.isStatePreserved = isStatePreserved
    self.isTopControllerPreserved = isTopControllerPreserved
    self.isIgnoredOnNextLaunch = isIgnoredOnNextLaunch
  }

  /// Whether the snapshot shows a screen that will come back; otherwise any older one is deleted.
  package var keepsSnapshot: Bool {
    isStatePreserved && isTopControllerPreserved && !isIgnoredOnNextLaunch
  }
}
