/// A controller that takes its children back: a navigation stack, a set of tabs, your own.
///
/// Subclass ``ContainerController`` for a container of your own; adopt this protocol where you have another superclass.
///
/// Restoring makes the objects of the whole tree, gives every container its children, parents first, and only then
/// lets objects decode. A child that was made and that no container installs dies after restoring; the report says so.
@MainActor public protocol RestorationContainer: RestorationParent {
  /// Puts the children where they were.
  ///
  /// - Parameter children: All preserved children in the order in which they were preserved, those included that
  ///   could not be restored (their controller is nil) and those that exist already.
  func installRestoredChildren(_ children: [RestoredChild])

  /// What a child is to this container, when its place in the order doesn't say it: a column, a presentation. Else nil.
  ///
  /// Recorded when preserving, and given back as ``RestoredChild/role``.
  func restorationRole(of child: any RestorableController) -> RestoredChild.Role?
}
