/// Decides whether state is preserved and restored, codes the state of the whole program, and makes controllers.
///
/// Nothing is preserved and nothing restored unless the delegate says yes. Both questions are asked every time, and
/// neither has a default. The coordinator holds its delegate weakly: keep it for as long as the program runs.
///
/// - Important: Implement the other methods that you need in the class that declares the conformance, not in a subclass of
///   it. Where that class leaves one out, Swift uses the default for all its subclasses too. Conform in an
///   extension of its own: there the compiler warns of a method that nearly has the name or the type of an optional one.
@MainActor public protocol RestorationCoordinatorDelegate: AnyObject {
  /// Whether to preserve now.
  ///
  /// Asked before every save; and without one when the coordinator has to know what the program has, because the device is
  /// locked, say, or its stored state could not be read. So it changes nothing.
  /// These values can be read in ``shouldRestoreApplicationState(with:)``. Values that are not always there belong in
  /// ``willEncodeRestorableState(with:)``: a delegate without that, whose first answer has no values, is not asked for changes.
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool

  /// Whether to restore what the coder describes, after a look at its versions.
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool

  /// Encodes state of the whole program, before any controller is encoded.
  ///
  /// Called after ``shouldSaveApplicationState(with:)`` has said yes, and like it not only for a save.
  /// After a launch on a locked device it counts as one object: if these values have changed when the device is
  /// unlocked, all of them take the place of the stored ones. So leave out values that change by themselves, such as a count of
  /// launches; see <doc:LockedDevices>.
  func willEncodeRestorableState(with coder: RestorationEncoder)

  /// Decodes state of the whole program, after every controller has decoded.
  ///
  /// Called in every restoration that takes place: with an empty coder when nothing was encoded, and when the program's
  /// state is left out because the program crashed in reading it.
  func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError)

  /// Makes the controller at a path that no restoration class took care of, or answers nil.
  func makeController(
    at path: RestorationPath, coder: RestorationDecoder
  ) -> (any RestorableController)?

  /// Decides what to restore after the same state ended two runs badly, without one in between in which restoring it ended
  /// well. By default the older generation.
  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision

  /// Says whether a node that was left out after a crash is to be tried again. By default not.
  ///
  /// Asked at every restoration after the one that left the node out; about the state of the whole program under the empty
  /// path. The state that was left out is given only where nothing newer that the user has made lies beside it.
  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool

  /// Says what to do when the device is unlocked after a locked launch. By default late restoring.
  func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> RestorationCoordinator.LateRestoration

  /// Takes the report of a restoration that the coordinator made by itself, after an unlock.
  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport)

  /// Takes the outcome of a save that the coordinator made by itself; its receipt has the findings.
  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome)

  /// Takes the failure of a save that the coordinator made by itself; the earlier state is still there.
  ///
  /// The failure is told here and in the configuration's log only. With automatic preservation the save
  /// is tried again by itself.
  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError)

  /// Called when asynchronous restoring did not end within its time limit; later answers are ignored.
  func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator)
}

extension RestorationCoordinatorDelegate {
  /// Encodes nothing.
  public func willEncodeRestorableState(with coder: RestorationEncoder) {
    coder.delegateWithoutState = ObjectIdentifier(self)
  }

  /// Decodes nothing.
  public func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}

  /// Makes nothing.
  public func makeController(
    at path: RestorationPath, coder: RestorationDecoder
  ) -> (any RestorableController)? {
    coder.delegateWithoutMaker = ObjectIdentifier(self)
    return nil
  }

  /// The older generation.
  public func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision { .olderGeneration }

  /// Not again.
  public func coordinator(
    _ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath
  ) -> Bool { false }

  /// Late restoring of untouched objects.
  public func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> RestorationCoordinator.LateRestoration
  { .restoreUntouched }

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {}

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {}

  /// Does nothing.
  public func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {}

  /// Does nothing.
  public func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator) {}
}
