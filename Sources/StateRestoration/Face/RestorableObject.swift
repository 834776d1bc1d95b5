/// What everything that can be preserved has in common: controllers, views and shared objects.
///
/// Adopt ``RestorableController`` or ``RestorableView`` for the parts of a screen; adopt this protocol alone for a
/// model or manager that is registered with ``RestorationRegistry/share(_:as:version:)``. The preserved state of
/// an object is said in one or more of three ways, which may be mixed in one class hierarchy: ``Restored``
/// properties, one Codable value (``StatefulObject``), or coder methods (``CodingObject``).
@MainActor public protocol RestorableObject: AnyObject {}

extension RestorableObject {
  /// Says that the state has changed in a way that can't be observed; the next automatic save has it.
  ///
  /// Not needed for ``Restored`` properties and `@Observable` classes.
  public func invalidateRestorableState() { LiveTree.invalidate(self) }
}

/// An object that is told when restoring is over.
@MainActor public protocol FinishingObject: RestorableObject {
  /// Called once after restoring, when every object has decoded its state.
  ///
  /// The order among objects is not specified.
  func applicationFinishedRestoringState()
}
