extension LiveTree {
  /// Removes the nodes that have left the hierarchy, and puts right the lists that they were in.
  func removeOrphans() {
    defer { pruneChildLists() }
    guard !orphans.isEmpty else { return }
    // Once for each parent, not for each child: a list may lose many of very many.
    var listed: [CaptureBatch.Key: Set<CaptureBatch.Key>] = [:]
    for node in orphans where !node.isRemoved && isOrphan(node, &listed) {
      remove(node)
      if let parent = node.parent { parentsThatLostChildren[parent.key] = parent }
    }
    orphans = []
  }

  /// Takes out of lists the nodes that have left them.
  private func pruneChildLists() {
    guard !parentsThatLostChildren.isEmpty else { return }
    for parent in parentsThatLostChildren.values where !parent.isRemoved {
      findListedTwice(parent)
      parent.children.removeAll { $0.isRemoved || $0.parent !== parent }
      parent.byHand.removeAll { $0.isRemoved || $0.parent !== parent }
    }
    parentsThatLostChildren = [:]
  }

  /// Names the children that a parent still lists though another one has them now.
  private func findListedTwice(_ parent: LiveNode) {
    let gone = parent.children.filter { !$0.isRemoved && $0.parent !== parent }
    guard !gone.isEmpty, let controller = parent.controller else { return }
    let listed = Set(controller.restorationChildren.map(ObjectIdentifier.init))
    for node in gone where listed.contains(node.objectIdentity) {
      batch.findings.append(.listedTwice(path: node.path, other: parent.path))
    }
  }

  private func isOrphan(_ node: LiveNode, _ listed: inout [CaptureBatch.Key: Set<CaptureBatch.Key>]) -> Bool {
    guard let parent = node.parent else {
      return node.object == nil || (node.kind != .shared && !roots.contains { $0 === node })
    }
    if parent.isRemoved || node.object == nil { return true }
    if listed[parent.key] == nil { listed[parent.key] = Set((parent.children + parent.byHand).map(\.key)) }
    return listed[parent.key]?.contains(node.key) == false
  }

  private func remove(_ node: LiveNode) {
    var stack = [node]
    var order: [LiveNode] = []
    while let next = stack.popLast() {
      order.append(next)
      next.isRemoved = true
      stack += (next.children + next.byHand).filter { $0.parent === next && !$0.isRemoved }
    }
    // The state of a shared object that has died is carried over: the next one of its name may ask for it.
    let isCarriedOver = (order[0].kind == .shared && order[0].object == nil) || order[0].isUnheld
    for node in order.reversed() {
      if isCarriedOver { batch.releases.append(node.key) } else { batch.removals.append(node.key) }
      nodes[node.key] = nil
      if node.isPolled { hasLostPolled = true }
      if byObject[node.objectIdentity] === node { byObject[node.objectIdentity] = nil }
    }
    hasMoved = true
  }
}
