package import FoundationShim

/// What an application needs of the coordinator; a border at which tests can stand in.
@MainActor package protocol ApplicationEngine: AnyObject {
  /// The tops of hierarchies beside the delegate's root: those of windows.
  var roots: [any RestorableController] { get }

  /// Restores into the hierarchy below a root; nil when there is none and one is needed.
  func restoreState(into root: (any RestorableController)?) async throws(RestorationError) -> RestorationReport?

  /// Restores nothing in this launch; the next save sets the stored state aside, as after any refusal.
  ///
  /// From now on the hierarchy below the root, if there is one already, is preserved.
  func declineRestoring(into root: (any RestorableController)?) async

  /// Preserves the hierarchy below a root; nil when there is none and one is needed.
  func preserveState(of root: (any RestorableController)?) async throws(RestorationError) -> PreservationOutcome?

  /// Begins to guard the following steps as part of restoring, until ``endGuard()``.
  func beginGuard()

  /// Ends the guard: the launch went well, and that is on disk when this returns.
  func endGuard() async

  /// The program ends in order: a restoration that is still extended has not crashed.
  func announceEnd()

  /// The program does not run any more, however it has ended.
  func didEnd()

  /// Deletes everything that is preserved.
  func deleteState() async throws(RestorationError)

  /// Does what an unlock has left to do, and returns when the hierarchies have their state; nil when there is no report.
  func finishLateRestoration() async -> RestorationReport?

  /// Frees what can be read or made again.
  func freeMemory()

  /// The program is suspended: what an unlock leaves to do waits.
  func suspend()

  /// The program runs again.
  func wake()

  /// Protected data is available again.
  func protectedDataDidBecomeAvailable()

  /// The report of the last restoring, also of one that came late, after an unlock; `nil` before the first.
  var lastReport: RestorationReport? { get }

  /// The settings of the program.
  var configuration: RestorationConfiguration { get }

  /// The snapshot, which goes when state is deleted; the application sets it.
  var snapshots: SnapshotKeeper? { get set }

  /// How much restoring brings back.
  var extent: Lifecycle.LaunchOptions.Extent { get set }
}

extension ApplicationEngine {
  /// Does nothing.
  package func didEnd() {}

  /// Does nothing: a coordinator follows the device by itself.
  package func protectedDataDidBecomeAvailable() {}
}

/// Where one snapshot is kept, sealed.
///
/// Every call blocks and must not come from the main actor.
package protocol SnapshotStore: Sendable {
  /// The snapshot, and when it was taken; `nil` when there is none.
  func open() throws(ProtectionError) -> (picture: Data, takenAt: Date)?

  /// Keeps a snapshot instead of the last one.
  func keep(_ snapshot: Data, takenAt: Date) throws(ProtectionError)

  /// Deletes it; nothing to delete is fine.
  func delete() throws(ProtectionError)
}

/// What an application needs of the device.
package protocol ApplicationDevice: Sendable {
  /// Begins to lock.
  func lock()

  /// Calls back with `false` when protected data will become unavailable, with `true` when it is available again.
  ///
  /// The callback may come on any thread; it ends when the result is released.
  func observeAvailability(_ body: @escaping @Sendable (Bool) -> Void) -> any Sendable
}
