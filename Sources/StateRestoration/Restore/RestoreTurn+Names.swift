internal import RestorationArchive

extension RestoreTurn {
  /// Says of rows that nobody made an object for that their object may be there under another name.
  func findOtherNames() {
    let missing = plan.nodes.indices.filter {
      progress[$0].reason == .noObject && plan.nodes[$0].kind == .controller && plan.nodes[$0].parent != nil
    }
    guard !missing.isEmpty else { return }
    // Looked through once for each parent, as very many of its rows may have no object.
    var stored: [Int: Set<RestorationIdentifier>] = [:]
    for index in missing { if let parent = plan.nodes[index].parent { stored[parent] = [] } }
    for index in plan.nodes.indices {
      if let parent = plan.nodes[index].parent, let name = plan.paths[index].last { stored[parent]?.insert(name) }
    }
    let namesakes = stored.reduce(into: [:]) { $0[$1.key] = unstoredChildren(of: $1.key, $1.value) }
    for index in missing {
      guard let parent = plan.nodes[index].parent, let tag = plan.identity(of: index).classTag,
        let other = namesakes[parent]?[tag]
      else { continue }
      progress[index].reject(
        .nameDiffers(found: other.restoration.identifier?.rawValue ?? "", type: "\(type(of: other))"))
    }
  }

  /// The first child of each class below a row's object whose name nothing is stored under, by its class.
  private func unstoredChildren(
    of parent: Int, _ stored: Set<RestorationIdentifier>
  ) -> [RestorationArchive.ClassTag: any RestorableController] {
    var children: [RestorationArchive.ClassTag: any RestorableController] = [:]
    noteBeginning(of: parent)
    for child in controller(at: parent)?.listedChildren ?? [] {
      guard let name = child.restoration.identifier, !stored.contains(name),
        let tag = request.registry.identity(of: child).identity.classTag, children[tag] == nil
      else { continue }
      children[tag] = child
    }
    return children
  }

  /// Gives up the rows of classes that the program does not have any more, those included that wait for an object.
  func failRetired() {
    guard request.registry.hasRetired else { return }
    for index in plan.nodes.indices where !hasObject(at: index) && isRetired(index) {
      fail(index, .classRetired(plan.tag(of: index) ?? ""))
    }
  }

  /// Whether a row is of a class that the program does not have any more.
  func isRetired(_ row: Int) -> Bool {
    guard let tag = plan.tag(of: row) else { return false }
    return request.registry.isRetired(tag)
  }
}
