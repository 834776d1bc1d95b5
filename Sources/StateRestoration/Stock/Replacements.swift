/// The controllers made anew for the state of others that a container has already: the new take the places of the old.
@MainActor struct Replacements {
  /// The controllers that the container has, by identifier; of several with one identifier the first, whose state it is.
  private(set) var existing: [RestorationIdentifier: any RestorableController] = [:]
  private var made: [ObjectIdentifier: any RestorableController] = [:]

  /// Finds the controllers that make room.
  init(of existing: [any RestorableController], by children: [RestoredChild]) {
    let objects = Set(existing.map(ObjectIdentifier.init))
    for controller in existing.reversed() {
      if let identifier = controller.restoration.identifier { self.existing[identifier] = controller }
    }
    for child in children {
      guard let controller = child.controller, !objects.contains(ObjectIdentifier(controller)),
        let old = self.existing[child.identifier]
      else { continue }
      made[ObjectIdentifier(old)] = controller
    }
  }

  /// The controller that takes the place of another; nil if it was not made anew.
  subscript(_ existing: any RestorableController) -> (any RestorableController)? { made[ObjectIdentifier(existing)] }
}
