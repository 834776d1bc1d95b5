import RestorationArchive

/// Whose state a node is, as far as a program's registry and a hierarchy that it has built tell.
@MainActor struct KnownClasses {
  private let registry: RestorationRegistry
  private var types: [RestorationPath: any RestorableObject.Type] = [:]
  private var seen: Set<ObjectIdentifier> = []

  init(_ registry: RestorationRegistry, _ hierarchy: (any RestorableController)?) {
    self.registry = registry
    for (identifier, object) in registry.livingSharedObjects {
      types[[ReservedNode.shared, identifier]] = Swift.type(of: object)
    }
    if let hierarchy { add(hierarchy, below: []) }
  }

  private mutating func add(_ controller: any RestorableController, below parent: RestorationPath) {
    guard let identifier = controller.restorationIdentifier else { return }
    let path = parent.appending(identifier)
    // The first of a name, and each object once, as everywhere: also where the children run in a circle.
    guard types[path] == nil, seen.insert(ObjectIdentifier(controller)).inserted else { return }
    types[path] = Swift.type(of: controller)
    for child in controller.restorationChildren { add(child, below: path) }
    for view in controller.restorationViews {
      guard let name = view.restorationIdentifier, types[path.appending(name)] == nil else { continue }
      types[path.appending(name)] = Swift.type(of: view)
    }
  }

  /// The class of a node; nil when nobody names it.
  func type(_ tag: RestorationClass?, at path: RestorationPath) -> (any RestorableObject.Type)? {
    guard let tag else { return types[path] }
    return registry.registeredClass(tag)?.type
  }
}
