/// Knows which classes of containers give their children no roles, so that captures need not ask for each child.
///
/// Which code answers for a class is fixed by its conformance, which subclasses inherit: if the default answered once, it
/// always does.
@MainActor enum DefaultRole {
  private static var classes: Set<ObjectIdentifier> = []
  private static var lastAsked: ObjectIdentifier?

  /// Called by the default.
  static func wasUsed(by container: any RestorationContainer) { lastAsked = ObjectIdentifier(container) }

  /// Whether the default is known to answer for a class.
  static func isUsed(by type: any RestorationContainer.Type) -> Bool { classes.contains(ObjectIdentifier(type)) }

  /// Asks a container, which is an instance of `Container` itself, for a child's role, and remembers whether the default
  /// answered.
  static func role<Container: RestorationContainer>(
    of child: any RestorableController, in container: Container
  ) -> RestorationRole? {
    lastAsked = nil
    let role = container.restorationRole(of: child)
    if lastAsked == ObjectIdentifier(container) { classes.insert(ObjectIdentifier(Container.self)) }
    return role
  }
}
