import ApplicationLifecycle
internal import RestorationArchive

/// How much one launch asks for, and the nodes that are asked for whatever it is.
struct ExtentRule {
  /// The launch's extent.
  var launch = RestorationExtent.restore
  private var asked: Set<Int> = []

  /// A node is asked for by name: its object was registered.
  mutating func ask(for index: Int) { if launch < .restore { asked.insert(index) } }

  /// Whether a node is asked for by name.
  func isAsked(_ index: Int) -> Bool { asked.contains(index) }
}

extension RestoreTurn {
  /// Why a node is not asked for; nil when it is.
  ///
  /// The node's class decides, then that of the nearest node above it that says something. A node edited while the device was
  /// locked is in use.
  ///
  /// - Parameter object: The node's object; nil when there is none yet: then the class of its tag counts.
  func reasonToWithhold(_ index: Int, from object: (any RestorableObject)? = nil) -> NotRestoredReason? {
    guard extent.launch < .restore else { return nil }
    if let object, edited.contains(ObjectIdentifier(object)) { return nil }
    var (next, object) = (Optional(index), object)
    while let node = next, !extent.isAsked(node) {
      let found = (object ?? self.object(at: node)).map { type(of: $0) } ?? registeredType(of: node)
      if let least = found?.restorationExtent { return least > extent.launch ? .beyondExtent(least) : nil }
      (next, object) = (plan.nodes[node].parent, nil)
    }
    return nil
  }

  private func registeredType(of index: Int) -> (any RestorableObject.Type)? {
    plan.tag(of: index).flatMap { registry.registeredClass($0)?.type }
  }

  /// The nodes that no object takes over in this run.
  var withheldNodes: Set<NodeID> {
    guard extent.launch < .restore else { return [] }
    return Set(plan.nodes.indices.filter { progress[$0].reason?.isOfExtent == true }.map { plan.nodes[$0].id })
  }
}

extension NotRestoredReason {
  /// Whether the launch alone is the reason.
  var isOfExtent: Bool { if case .beyondExtent = self { true } else { false } }
}
