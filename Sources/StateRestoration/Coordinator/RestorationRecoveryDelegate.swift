public import RestorationArchive

/// What to do with the state of a device that was locked at launch, once it is unlocked.
public enum LateRestoration: String, Sendable, Hashable, Codable, CaseIterable {
  /// Restore now what the user has not touched meanwhile; touched nodes keep the newer state.
  case restoreUntouched
  /// Leave it to the program, which calls ``RestorationCoordinator/restore(into:from:retriesLeftOut:)`` when it suits.
  case wait
}

/// Decisions that most programs leave to the framework; a delegate may adopt it in addition.
///
/// The coordinator asks its ``RestorationCoordinator/delegate``, if that adopts this protocol too. Every method has a
/// default. Implement them in the class that declares the conformance: a subclass's own method would not be called.
@MainActor public protocol RestorationRecoveryDelegate: AnyObject {
  /// Decides what to restore after the same state ended two runs badly, without one in between in which restoring it ended
  /// well. By default the older generation.
  func coordinator(_ coordinator: RestorationCoordinator, decideAfter history: CrashHistory) -> CrashDecision

  /// Says whether a node that was left out after a crash is to be tried again. By default not.
  ///
  /// Asked at every restoration after the one that left the node out; about the state of the whole program under the empty
  /// path. The state that was left out then goes before newer state of its place, which goes dormant.
  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool

  /// Says what to do when the device is unlocked after a locked launch. By default late restoring.
  func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> LateRestoration

  /// Takes the report of a restoration that the coordinator made by itself, after an unlock.
  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport)

  /// Takes the outcome of a save that the coordinator made by itself; its receipt has the findings.
  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome)

  /// Takes the failure of a save that the coordinator made by itself; what was preserved before is still there.
  ///
  /// The failure is told here and in the configuration's log only. With automatic preservation the save
  /// is tried again by itself.
  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError)

  /// Called when asynchronous restoring did not end within its time limit; later answers are ignored.
  func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator)
}

extension RestorationRecoveryDelegate {
  /// The older generation.
  public func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: CrashHistory
  ) -> CrashDecision { .olderGeneration }

  /// Not again.
  public func coordinator(
    _ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath
  ) -> Bool { false }

  /// Late restoring of what is untouched.
  public func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> LateRestoration { .restoreUntouched }

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {}

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {}

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {}

  /// Does nothing.
  public func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator) {}
}
