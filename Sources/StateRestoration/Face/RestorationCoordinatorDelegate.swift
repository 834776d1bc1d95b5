public import RestorationArchive

/// Decides whether state is preserved and restored, codes what belongs to the whole program, and makes controllers.
///
/// Nothing is preserved and nothing restored unless the delegate says yes: both questions are asked every time,
/// and both default to no. The coordinator holds its delegate weakly: keep it for as long as the program runs.
///
/// - Important: Implement the methods that you need in the class that declares the conformance, not in a subclass of it.
///   Where that class leaves a method out, Swift uses the default below for all its subclasses too, and never calls
///   a subclass's own method: both questions would silently stay at no.
@MainActor public protocol RestorationCoordinatorDelegate: AnyObject {
  /// Whether to preserve now. No by default.
  ///
  /// Asked before every save; and without one when the coordinator has to know what the program has, because the device is
  /// locked, say, or its stored state could not be read. So it changes nothing.
  /// What is encoded here can be read in ``shouldRestoreApplicationState(with:)``.
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool

  /// Whether to restore what the coder describes, after a look at its versions. No by default.
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool

  /// Encodes state of the whole program, before any controller is encoded.
  ///
  /// Called after ``shouldSaveApplicationState(with:)`` has said yes, and like it not only for a save.
  /// After a launch on a locked device it counts as one object: if what is encoded here has changed when the device is
  /// unlocked, all of it takes the place of what was preserved. So leave out what changes by itself, such as a count of
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
}

extension RestorationCoordinatorDelegate {
  /// No.
  public func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { false }

  /// No.
  public func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { false }

  /// Encodes nothing.
  public func willEncodeRestorableState(with coder: RestorationEncoder) {}

  /// Decodes nothing.
  public func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}

  /// Makes nothing.
  public func makeController(
    at path: RestorationPath, coder: RestorationDecoder
  ) -> (any RestorableController)? {
    coder.delegateWithoutMaker = ObjectIdentifier(self)
    return nil
  }
}
