extension LiveTree {
  /// Removes the nodes that have left the hierarchy, and puts right the lists that they were in.
  func removeOrphans() {
    defer { pruneChildLists() }
    guard !walk.orphans.isEmpty else { return }
    // Once for each parent, not for each child: a list may lose many of very many.
    var listed: [CaptureBatch.Key: Set<CaptureBatch.Key>] = [:]
    for node in walk.orphans where !node.isRemoved && isOrphan(node, &listed) {
      remove(node)
      if let parent = node.parent { walk.parentsThatLostChildren[parent.key] = parent }
    }
    walk.orphans = []
  }

  /// Takes out of lists the nodes that have left them.
  private func pruneChildLists() {
    guard !walk.parentsThatLostChildren.isEmpty else { return }
    for parent in walk.parentsThatLostChildren.values where !parent.isRemoved {
      findListedTwice(parent)
      parent.children.removeAll { $0.isRemoved || $0.parent !== parent }
      parent.byHand.removeAll { $0.isRemoved || $0.parent !== parent }
    }
    walk.parentsThatLostChildren = [:]
  }

  /// Names the children that a parent still lists though another one has them now.
  private func findListedTwice(_ parent: LiveNode) {
    let gone = parent.children.filter { !$0.isRemoved && $0.parent !== parent }
    guard !gone.isEmpty, let controller = parent.controller else { return }
    let listed = Set(controller.listedChildren.map(ObjectIdentifier.init))
    for node in gone where listed.contains(node.objectIdentity) {
      walk.batch.findings.append(.listedTwice(path: node.path, other: parent.path))
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

  /// Has an object that is another class's or model's from now on come anew, with everything below it.
  func comeAnew(_ node: LiveNode, _ object: any RestorableObject) {
    // What has moved below it in this capture takes its state along.
    let spared = remove(node, isComingAnew: true) { $0.lastMoved == walk.number }
    let anew = track(object, node.identifier, node.kind, byHand: node.isByHand)
    if let former = node.former {
      walk.batch.removals.removeAll { $0 == former }
      walk.batch.outgrown.append(former)
    }
    // One that has moved in this capture has its row elsewhere.
    walk.cameAnew[anew.key] = (node.former ?? node.key, node.lastMoved == walk.number ? nil : node.parent?.key)
    walk.successors[node.key] = anew.key
    anew.role = node.role
    func replace(in list: inout [LiveNode]) -> Int? {
      // Siblings that come anew do so one after the other, mostly from the last to the first.
      let beside = [walk.lastReplaced - 1, walk.lastReplaced + 1].first {
        list.indices.contains($0) && list[$0] === node
      }
      guard let index = beside ?? list.lastIndex(where: { $0 === node }) else { return nil }
      list[index] = anew
      walk.lastReplaced = index
      return index
    }
    if let parent = node.parent {
      // Its row is another one, which takes the place among the siblings.
      if !walk.batch.orders.contains(where: { $0.parent == parent.key }) {
        walk.batch.orders.append(.init(parent: parent.key, children: parent.children.map(\.key)))
      }
      let place = replace(in: &parent.children) ?? replace(in: &parent.byHand)
      // It has left in this capture as well.
      if place == nil { walk.orphans.append(anew) }
      for index in walk.batch.orders.indices where walk.batch.orders[index].parent == parent.key {
        walk.batch.orders[index].replace(node.key, near: place ?? 0, by: anew.key)
      }
    } else if replace(in: &roots) == nil {
      _ = replace(in: &shared)
    }
    insert(anew, parent: node.parent)
    for node in spared { park(node, below: anew) }
  }

  /// Removes the objects that were below a moved one and did not move along: the moved one brings their rows from below the one that
  /// came anew.
  func removeLeftBelowMoved() {
    guard !walk.movedAway.isEmpty else { return }
    let stayed = Dictionary(walk.stayedBehind.values.map { ($0.key, $0) }) { first, _ in first }
    func hasMovedAway(_ node: LiveNode) -> Bool {
      sequence(first: node) { stayed[$0.parentKey] }.contains { walk.movedAway.contains($0.parentKey) }
    }
    let left = stayed.filter { !walk.displaced.contains($0.key) && hasMovedAway($0.value) }
    walk.batch.releases.removeAll { left[$0] != nil }
    for node in left.values.sorted(by: { ($0.depth, $0.key) > ($1.depth, $1.key) }) {
      noteRemoval(of: node, isTop: left[node.parentKey] == nil)
    }
  }

  private func noteRemoval(of node: LiveNode, isTop: Bool) {
    walk.batch.removals.append(node.key)
    // What was stored below one that leaves goes with it.
    if node.cameByItself, isTop { noteLeft(node) }
    walk.left[node.objectIdentity] = node
    if let given = node.givenNode { walk.leftGiven.append(given) }
  }

  private func noteLeft(_ node: LiveNode) {
    let identity = Identity(
      classTag: node.identity?.classTag ?? node.subject.plain?.classTag ?? node.subject.plan.typeName,
      model: node.identity?.model, isView: node.kind == .view)
    leftByThemselves.append(
      LeftObject(isTop: node.parent == nil, parent: node.parent?.controller, path: node.path, identity: identity))
  }

  /// Whether a node has left something that stays whole, since one above it came anew.
  private func isBelowLeftWhole(_ node: LiveNode) -> Bool {
    guard !walk.leftWhole.isEmpty else { return false }
    let nearest = node.chain.dropFirst().first { walk.leftWhole.contains($0.key) || walk.movedAway.contains($0.key) }
    return nearest.map { !walk.movedAway.contains($0.key) } ?? false
  }

  /// Forgets a node and those below it; returns those that were spared.
  @discardableResult
  private func remove(
    _ node: LiveNode, isComingAnew: Bool = false, sparing isSpared: (LiveNode) -> Bool = { _ in false }
  ) -> [LiveNode] {
    var stack = [node]
    var order: [LiveNode] = []
    var spared: [LiveNode] = []
    while let next = stack.popLast() {
      order.append(next)
      next.isRemoved = true
      let below = (next.children + next.byHand).filter { $0.parent === next && !$0.isRemoved }
      stack += below.filter { !isSpared($0) }
      spared += below.filter(isSpared)
    }
    // The state of a shared object that has died is carried over: the next one of its name may ask for it.
    let isCarriedOver =
      isComingAnew || (node.kind == .shared && node.object == nil) || node.leavesState
      || walk.displaced.contains(node.key) || isBelowLeftWhole(node)
    // Alive until the capture has dealt with the children that have left them.
    walk.orphans += order
    walk.removed += order
    for one in order.reversed() {
      // It has brought a row, which goes the same way.
      let brought = walk.movedAway.contains(one.key) ? one.former : nil
      if isComingAnew, one === node {
        walk.batch.outgrown.append(one.key)
      } else if isCarriedOver {
        walk.batch.releases += [one.key] + [brought].compactMap(\.self)
        if isComingAnew {
          walk.leftWhole.insert(one.key)
          walk.stayedBehind[one.objectIdentity] = one
        }
      } else {
        noteRemoval(of: one, isTop: one === node || one.parent?.isRemoved != true)
        if let brought { walk.batch.removals.append(brought) }
      }
      // What one above it has left stays whole: its row is no absent one.
      if isComingAnew, one !== node, let (outgrown, parent) = walk.cameAnew[one.key], parent == one.parentKey {
        walk.batch.outgrown.removeAll { $0 == outgrown }
        walk.batch.releases.append(outgrown)
      }
      nodes[one.key] = nil
      if byObject[one.objectIdentity] === one { byObject[one.objectIdentity] = nil }
    }
    walk.hasMoved = true
    return spared
  }
}
