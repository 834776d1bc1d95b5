/// A controller that takes its children back: a navigation stack, a set of tabs, your own.
///
/// Restoring makes the objects of the whole tree, gives every container its children, parents first, and only then
/// lets objects decode. A child that was made and that no container installs dies after restoring; the report says so.
@MainActor public protocol RestorationContainer: RestorableController {
  /// Puts the children where they were.
  ///
  /// - Parameter children: All preserved children in the order in which they were preserved, those included that
  ///   could not be restored (their controller is nil) and those that exist already.
  func installRestoredChildren(_ children: [RestoredChild])

  /// What a child is to this container, when its place in the order doesn't say it: a column, a presentation.
  ///
  /// Recorded when preserving, and given back as ``RestoredChild/role``. Nil by default, for all children.
  func restorationRole(of child: any RestorableController) -> RestorationRole?

  /// The children that are seen now; by default all that have an identifier.
  ///
  /// Asked before a snapshot is taken: a visible screen that is not preserved will not come back, and is in no picture. List
  /// a child without an identifier too, if it is seen.
  var visibleControllers: [any RestorableController] { get }
}

extension RestorationContainer {
  /// All that have an identifier.
  public var visibleControllers: [any RestorableController] {
    restorationChildren.filter { $0.restorationIdentifier != nil }
  }

  /// The order says it all.
  public func restorationRole(of child: any RestorableController) -> RestorationRole? {
    DefaultRole.wasUsed(by: self)
    return nil
  }
}
