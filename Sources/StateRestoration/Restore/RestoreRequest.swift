internal import FoundationShim
internal import RestorationArchive

/// What one restoration is to bring back, and whom it asks.
@MainActor struct RestoreRequest {
  let registry: RestorationRegistry
  let log: RestorationLog
  /// The circumstances of now, to which ages are counted.
  let now: RestorationArchive.Context
  /// Told which node's code runs next; nil for none.
  let note: (UInt32?) -> Void
  weak var delegate: (any RestorationCoordinatorDelegate)?
  /// What was edited while the device was locked: that is newer.
  var edits = Edits()
  /// Says whether a node that failed before is tried again.
  var retries: (RestorationPath) -> Bool = { _ in false }
  /// How much is asked for.
  var extent = Lifecycle.LaunchOptions.Extent.restore
  /// Whether objects decode last first, for tests of code that must not depend on the order.
  var decodesInReverse = false
  /// Why the parts can't be used that are damaged.
  var damagedParts: [RestorationArchive.Part: String] = [:]
  /// The node that the last attempt died at.
  var crashNode: NodeID?
}
