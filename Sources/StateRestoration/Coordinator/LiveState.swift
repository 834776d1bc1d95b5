internal import FoundationEssentials

/// What a run holds in memory when the device is unlocked after it was looked at locked, as an archive with all that no
/// archive on disk has had room for.
enum LiveState: Sendable {
  /// The nodes that were touched since a locked launch, newer than what this run has saved of them.
  case touched(Data)
  /// Everything, in a run that had read the state before: what its last save left out over the budget is only here.
  case everything(Data)

  /// Whether it takes the place of what this run has saved while locked.
  var includesOwn: Bool { if case .touched = self { true } else { false } }
}
