import ApplicationLifecycle
internal import RestorationArchive

extension RestoreTurn {
  /// Why a node is not asked for; nil when it is.
  ///
  /// The node's class decides, then that of the nearest node above it that says something. A node edited while the device was
  /// locked is in use.
  ///
  /// - Parameter object: The node's object; nil when there is none yet: then the class of its tag counts.
  func reasonToWithhold(_ index: Int, from object: (any RestorableObject)? = nil) -> RestorationReport
    .NotRestoredReason?
  {
    guard request.extent < .restore else { return nil }
    if let object, isEdited(object) { return nil }
    var (next, object) = (Optional(index), object)
    while let node = next, !asked.contains(node) {
      let found = (object ?? self.object(at: node)).map { type(of: $0) } ?? registeredType(of: node)
      if let least = found.flatMap({ request.registry.extent(of: $0) }) {
        return least > request.extent ? .beyondExtent(least) : nil
      }
      (next, object) = (plan.nodes[node].parent, nil)
    }
    return nil
  }

  private func registeredType(of index: Int) -> (any RestorableObject.Type)? {
    plan.tag(of: index).flatMap { request.registry.registeredClass($0)?.type }
  }
}
