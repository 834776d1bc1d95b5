internal import RestorationArchive

extension RestoreTurn {
  /// Says of rows that nobody made an object for that their object may be there under another name.
  func findOtherNames() {
    for index in plan.nodes.indices
    where progress[index].reason == .noObject && plan.nodes[index].kind == .controller {
      guard let other = namesake(of: index) else { continue }
      progress[index].reject(
        .nameDiffers(found: other.restoration.identifier?.rawValue ?? "", type: "\(type(of: other))"))
    }
  }

  /// A child of the row's parent that is of the row's class, and whose name nothing is stored under.
  private func namesake(of index: Int) -> (any RestorableController)? {
    guard let parent = plan.nodes[index].parent, let owner = progress[parent].controller else { return nil }
    let identity = plan.identity(of: index)
    let stored = Set(
      plan.nodes.indices.lazy.filter { [plan] in plan.nodes[$0].parent == parent }.compactMap { [plan] in
        plan.paths[$0].last
      })
    return owner.listedChildren.first { child in
      guard let name = child.restoration.identifier, !stored.contains(name) else { return false }
      return request.registry.identity(of: child).identity.classTag == identity.classTag
    }
  }

  /// Gives up the rows of classes that the program does not have any more, those included that wait for an object.
  func failRetired() {
    guard request.registry.hasRetired else { return }
    for index in plan.nodes.indices where progress[index].object == nil && isRetired(index) {
      fail(index, .classRetired(plan.tag(of: index) ?? ""))
    }
  }

  /// Whether a row is of a class that the program does not have any more.
  func isRetired(_ row: Int) -> Bool {
    guard let tag = plan.tag(of: row) else { return false }
    return request.registry.isRetired(tag)
  }
}
