/// Walks over hierarchies, parents first; each object once, even where a hierarchy shows it twice.
@MainActor struct ControllerWalk {
  /// The tops of the hierarchies.
  let roots: [any RestorableController]

  /// Every controller and view below the roots, the roots first; those without an identifier too.
  var objects: [any RestorableObject] {
    var seen: Set<ObjectIdentifier> = []
    var found: [any RestorableObject] = []
    for root in roots { collect(root, &seen, &found) }
    return found
  }

  private func collect(
    _ controller: any RestorableController, _ seen: inout Set<ObjectIdentifier>,
    _ found: inout [any RestorableObject]
  ) {
    guard seen.insert(ObjectIdentifier(controller)).inserted else { return }
    found.append(controller)
    for view in controller.restorationViews where seen.insert(ObjectIdentifier(view)).inserted { found.append(view) }
    for child in controller.restorationChildren { collect(child, &seen, &found) }
  }

  /// Whether a controller is preserved: it and all its ancestors have identifiers, the first of their names.
  func preserves(_ controller: any RestorableController) -> Bool {
    roots.contains { preserves(controller, below: $0) }
  }

  private func preserves(_ controller: any RestorableController, below parent: any RestorableController) -> Bool {
    guard let identifier = parent.restorationIdentifier, !identifier.rawValue.isEmpty else { return false }
    if parent === controller { return true }
    var taken: Set<RestorationIdentifier> = []
    return parent.restorationChildren.contains { child in
      guard let identifier = child.restorationIdentifier, taken.insert(identifier).inserted else { return false }
      return preserves(controller, below: child)
    }
  }
}
