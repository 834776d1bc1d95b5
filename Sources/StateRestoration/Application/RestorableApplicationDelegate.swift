public import FoundationShim

/// What a program tells ``RestorableApplication`` about its hierarchy, and is told about its state.
///
/// Everything but the root controller has a default. Where a class uses a default, all its subclasses do: a subclass can
/// only override what its base class declares itself. Conform in an extension of its
/// own: there the compiler warns of a method that nearly has the name or the type of one of these.
@MainActor public protocol RestorableApplicationDelegate: LifecycleDelegate {
  /// The root of the hierarchy; asked before restoring and before preserving.
  ///
  /// With `nil` there is nothing to do, but for the windows of ``RestoredWindows``, whose roots are known.
  var rootController: (any RestorableController)? { get }

  /// The controller that the user sees on top; nil by default, which asks the hierarchies from their roots.
  ///
  /// A snapshot is kept only if this controller was preserved, and with it all that is seen in it: a ``ContainerController`` says
  /// what that is, in ``ContainerController/visibleControllers``; of any other all children with an identifier are seen.
  var topVisibleController: (any RestorableController)? { get }

  /// The visible controllers as an opaque payload, taken after sensitive content was hidden; `nil` for none.
  ///
  /// Called after the state was preserved: when the program has entered the background, has changed its state there, or ends.
  func makeSnapshot() -> Data?

  /// Shows the snapshot of the last time, until ``removeSnapshot()``.
  func showSnapshot(_ snapshot: Data)

  /// Takes the shown snapshot away: restoring has ended.
  func removeSnapshot()

  /// Restoring has ended; the report has every object, with the reasons.
  func didRestore(_ report: RestorationReport)

  /// Restoring failed as a whole; the launch goes on, and the stored state stays.
  func didFailToRestore(_ error: RestorationError)

  /// Preserving has ended; an error leaves the earlier state on disk.
  func didPreserve(_ result: Result<PreservationOutcome, RestorationError>)

  /// A handle could not be opened anew; while locked it is tried again after the unlock, without being told here.
  func didFailToReopen(_ handle: ProtectedFiles.Handle, error: ProtectionError)
}

extension RestorableApplicationDelegate {
  /// The hierarchies are asked.
  public var topVisibleController: (any RestorableController)? { nil }

  /// No snapshot.
  public func makeSnapshot() -> Data? { nil }

  /// Does nothing.
  public func showSnapshot(_ snapshot: Data) {}

  /// Does nothing.
  public func removeSnapshot() {}

  /// Does nothing.
  public func didRestore(_ report: RestorationReport) {}

  /// Does nothing.
  public func didFailToRestore(_ error: RestorationError) {}

  /// Does nothing.
  public func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) {}

  /// Does nothing.
  public func didFailToReopen(_ handle: ProtectedFiles.Handle, error: ProtectionError) {}
}
