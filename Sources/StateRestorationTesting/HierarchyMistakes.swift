import StateRestoration

/// What leaves something out of the preserved state without a word.
@MainActor struct HierarchyMistakes {
  private(set) var findings: [LintFinding] = []
  private let ignored: Set<String>
  private var listed: Set<ObjectIdentifier> = []

  /// Looks through a hierarchy.
  ///
  /// - Parameters:
  ///   - root: The root of the hierarchy.
  ///   - ignored: Names of properties and types that are left out on purpose.
  init(in root: any RestorableController, ignoring ignored: Set<String>) {
    self.ignored = ignored
    note(root)
    look(at: root, below: [])
  }

  /// Notes what the hierarchy lists, before anything is judged.
  private mutating func note(_ controller: any RestorableController) {
    guard listed.insert(ObjectIdentifier(controller)).inserted else { return }
    for view in controller.listedViews { listed.insert(ObjectIdentifier(view)) }
    for child in controller.listedChildren { note(child) }
  }

  private mutating func look(at controller: any RestorableController, below parent: RestorationPath) {
    guard let identifier = named(controller, below: parent) else { return }
    let path = parent.appending(identifier)
    var mirror: Mirror? = Mirror(reflecting: controller)
    while let level = mirror {
      for child in level.children {
        guard let label = child.label, !label.hasPrefix("$") else { continue }
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        guard !ignored.contains(name) else { continue }
        if holdsUnlisted(child.value) { findings.append(.unlistedChild(path, property: name)) }
      }
      mirror = level.superclassMirror
    }
    for view in controller.listedViews { _ = named(view, below: path) }
    for child in controller.listedChildren { look(at: child, below: path) }
  }

  /// The identifier of a listed object; one that has none is a finding unless it is the root.
  private mutating func named(_ object: any RestorableObject, below parent: RestorationPath) -> RestorationIdentifier? {
    let identity =
      (object as? any RestorableController)?.restoration ?? (object as? any RestorableView)?.restoration
    if let identifier = identity?.identifier, !identifier.rawValue.isEmpty { return identifier }
    if identity?.isExcluded == true { return nil }
    let type = "\(Swift.type(of: object))"
    if !ignored.contains(type) { findings.append(.missingIdentifier(below: parent, type: type)) }
    return nil
  }

  /// Whether a property holds an object with an identifier that the hierarchy does not list.
  private func holdsUnlisted(_ value: Any) -> Bool {
    if let controller = value as? any RestorableController {
      return controller.restoration.identifier?.rawValue.isEmpty == false
        && !listed.contains(ObjectIdentifier(controller))
    }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional, .collection: return mirror.children.contains { holdsUnlisted($0.value) }
    default: return false
    }
  }
}

/// What a report says did not come back; in a round trip everything should.
@MainActor func notRestored(_ report: RestorationReport?) -> [LintFinding] {
  (report?.nodes ?? []).compactMap { node in
    node.notRestoredReason.map { .notRestored(node.path, reason: "\($0)") }
  }
}
