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
    for view in controller.listedViews where seen.insert(ObjectIdentifier(view)).inserted { found.append(view) }
    for child in controller.listedChildren { collect(child, &seen, &found) }
  }

  /// Whether a controller is preserved, and everything that is seen in it, as far as the containers say.
  func showsOnlyPreserved(_ top: any RestorableController) -> Bool {
    var seen: Set<ObjectIdentifier> = []
    return preserves(top) && showsOnlyPreserved(below: top, &seen)
  }

  private func showsOnlyPreserved(
    below parent: any RestorableController, _ seen: inout Set<ObjectIdentifier>
  ) -> Bool {
    guard seen.insert(ObjectIdentifier(parent)).inserted else { return true }
    let preserved = preservedChildren(of: parent)
    // Another controller does not say which of its children are seen: those that are left out may not be.
    let visible = (parent as? ContainerController)?.visibleControllers ?? preserved
    for child in visible {
      guard preserved.contains(where: { $0 === child }), showsOnlyPreserved(below: child, &seen) else { return false }
    }
    return true
  }

  /// The children that are preserved with their parent: those with an identifier, the first of their names.
  private func preservedChildren(of parent: any RestorableController) -> [any RestorableController] {
    var taken: Set<RestorationIdentifier> = []
    return parent.listedChildren.filter { child in
      guard let identifier = child.restoration.identifier, !identifier.rawValue.isEmpty else { return false }
      return taken.insert(identifier).inserted
    }
  }

  /// Whether a controller is preserved: it and all its ancestors have identifiers, the first of their names.
  func preserves(_ controller: any RestorableController) -> Bool {
    roots.contains { preserves(controller, below: $0) }
  }

  private func preserves(_ controller: any RestorableController, below parent: any RestorableController) -> Bool {
    guard let identifier = parent.restoration.identifier, !identifier.rawValue.isEmpty else { return false }
    if parent === controller { return true }
    return preservedChildren(of: parent).contains { preserves(controller, below: $0) }
  }
}
