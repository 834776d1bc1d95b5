internal import RestorationArchive

extension LiveTree {
  /// Siblings and what they call themselves.
  typealias Siblings = [(object: any RestorableObject, identifier: RestorationIdentifier?)]

  /// Finds or makes the nodes of a list of siblings; a second owner of an identifier is left out and named.
  ///
  /// - Parameters:
  ///   - objects: The siblings, in order.
  ///   - kind: What they are.
  ///   - parent: The node above them; nil for roots.
  ///   - former: The parent's children before.
  ///   - taken: Other nodes below the parent, whose identifiers are theirs.
  func link(
    _ objects: Siblings, as kind: NodeReport.Kind, to parent: LiveNode?, former: [LiveNode],
    taken: [LiveNode] = []
  ) -> [LiveNode] {
    var result: [LiveNode] = []
    result.reserveCapacity(objects.count)
    var owners = Dictionary(taken.map { ($0.identifier, $0) }) { first, _ in first }
    owners.reserveCapacity(objects.count)
    let holders = holders(among: objects, of: parent, former: former)
    let givenOwners = given.owners(among: objects)
    lazy var places = Dictionary(objects.enumerated().map { (ObjectIdentifier($1.object), $0) }) { first, _ in first }
    for (object, identifier) in objects {
      guard let identifier, !identifier.isEmpty || parent != nil else {
        if let parent {
          oneTimeFindings.noteUnnamed(object, below: parent.path)
        } else {
          walk.batch.findings.append(.excludedRoot(owner: name(object)))
        }
        continue
      }
      guard !identifier.isEmpty else {
        walk.batch.findings.append(.emptyIdentifier(parent: parent?.path ?? [], owner: name(object)))
        continue
      }
      let known = node(of: object)
      if known == nil, let owner = givenOwners[identifier], owner !== object {
        // Restoring gave that one the row of this name.
        let names = names(kept: owner, refused: object, places: places)
        walk.duplicates.append(.init(parent: parent, identifier: identifier, kept: names.kept, refused: names.refused))
        given.noteDuplicate(object)
        continue
      }
      if let owner = owners[identifier] ?? holders[identifier], owner !== known || owners[identifier] != nil {
        let names = names(kept: owner.object, refused: object, places: places)
        walk.duplicates.append(.init(parent: parent, identifier: identifier, kept: names.kept, refused: names.refused))
        given.noteDuplicate(object)
        // From elsewhere: nobody has its rows any more, and they stay as they are.
        if let known, known.parent !== parent { walk.displaced.insert(known.key) }
        if known == nil { displace(below: object) }
        if let known, known !== owner, known.parent === parent, owners[known.identifier] == nil,
          holders[known.identifier] ?? known === known
        {
          known.isDuplicate = true
          owners[known.identifier] = known
          result.append(known)
        }
        continue
      }
      let node = known ?? track(object, identifier, kind)
      if node.isDuplicate {
        // Its changes were not recorded.
        node.isDuplicate = false
        mark(node)
      }
      if known != nil, node.isByHand || node.kind != kind {
        // Preserved by hand or as a shared object until now, a child from now on.
        node.isByHand = false
        node.kind = kind
        mark(node)
      }
      owners[identifier] = node
      if known == nil {
        insert(node, parent: parent)
      } else {
        place(node, identifier: identifier, parent: parent)
      }
      result.append(node)
    }
    if parent == nil, !former.isEmpty {
      let staying = Set(result.map(\.key))
      walk.orphans += former.filter { !staying.contains($0.key) }
    }
    return result
  }

  /// Has the objects below one that has no place keep their rows as they are: they may have moved there.
  private func displace(below object: any RestorableObject) {
    var seen: Set<ObjectIdentifier> = []
    var waiting: [any RestorableObject] = [object]
    while let next = waiting.popLast() {
      guard let controller = next as? any RestorableController, seen.insert(ObjectIdentifier(next)).inserted else {
        continue
      }
      let below: [any RestorableObject] = controller.listedChildren + controller.listedViews
      for node in below.compactMap(node(of:)) { walk.displaced.insert(node.key) }
      waiting += below
    }
  }

  /// Which siblings keep the identifiers that they had, against others that are called the same now.
  ///
  /// The former owner of an identifier keeps it, in any order, so that its earlier state is not lost to the other's. The
  /// other keeps the identifier that it had, and may stand in the way of a third one by that. So does what the parent
  /// preserves by hand. Empty, and not looked for, while everybody is called as before.
  private func holders(
    among objects: Siblings, of parent: LiveNode?, former: [LiveNode]
  ) -> [RestorationIdentifier: LiveNode] {
    let byHand = parent?.byHand.filter { $0.parent === parent && $0.object != nil } ?? []
    guard !former.isEmpty || !byHand.isEmpty else { return [:] }
    var holders = Dictionary(byHand.map { ($0.identifier, $0) }) { first, _ in first }
    // In order; nil for one that had no identifier here.
    var claimants: [RestorationIdentifier: [LiveNode?]] = [:]
    var hasRenamed = false
    for (object, identifier) in objects {
      guard let identifier else { continue }
      let known = node(of: object).flatMap { $0.parent === parent ? $0 : nil }
      if let known, known.identifier == identifier {
        holders[identifier] = known
      } else {
        claimants[identifier, default: []].append(known)
        if known != nil { hasRenamed = true }
      }
    }
    guard !claimants.isEmpty else { return [:] }
    guard hasRenamed else { return holders }
    var refused = claimants.flatMap { holders[$0] == nil ? $1.dropFirst() : $1[...] }.compactMap(\.self)
    while let node = refused.popLast() {
      guard holders[node.identifier] == nil else { continue }
      holders[node.identifier] = node
      refused += (claimants[node.identifier] ?? []).compactMap(\.self)
    }
    return holders
  }

  /// An object that moved away from below one that came anew in the same capture brings its row.
  private func followFormer(_ node: LiveNode, below parent: LiveNode?) {
    guard !walk.stayedBehind.isEmpty, node.former == nil,
      let former = walk.stayedBehind.removeValue(forKey: node.objectIdentity), former.object === node.object
    else { return }
    if let parent, walk.successors[former.parentKey] == parent.key {
      walk.successors[former.key] = node.key
    } else {
      walk.batch.releases.removeAll { $0 == former.key || $0 == former.former }
      (node.former, node.identity, node.lastRead) = (former.former ?? former.key, former.identity, former.lastRead)
      walk.movedAway.formUnion([former.key, node.key])
      for child in former.children + former.byHand where child.parentKey == former.key { child.parent = node }
    }
  }

  func insert(_ node: LiveNode, parent: LiveNode?) {
    followFormer(node, below: parent)
    node.parent = parent
    node.isDirty = true
    if node.subject.awareness != .everything { poll(node) }
    nodes.append(node)
    byObject[node.objectIdentity] = node
    pending.append(node)
    if node.kind != .shared, !walk.others.isEmpty, let object = node.object, isElsewhere(object) {
      oneTimeFindings.noteElsewhere(object, at: node.path)
    }
    walk.hasMoved = true
    var given = self.given.take(node)
    if given != nil, isBelowWholeRow(parent) { (given, node.identity) = (nil, nil) }
    node.givenNode = given?.node
    if case .own? = given {
      // Observing an object takes reading it, so that only others wait.
      node.mayWait = walk.batch.isMeeting && node.subject.awareness == .nothing
    }
    let isEdit = self.given.takeEdit(node)
    if self.given.takeRefused(node) || (walk.batch.isMeeting && !isEdit) { given = given ?? .nothing }
    node.cameByItself = given == nil && node.former == nil
    node.isNewcomer = node.cameByItself
    put(node, given: given, isEdit: isEdit)
  }

  /// Whether a node above has come by itself in this capture, as its object shows another model: the object's former row stays
  /// whole, with the state that objects below it were given.
  private func isBelowWholeRow(_ parent: LiveNode?) -> Bool {
    guard !walk.cameAnew.isEmpty, let parent else { return false }
    return parent.chain.contains { $0.cameByItself && walk.cameAnew[$0.key] != nil }
  }

  func place(_ node: LiveNode, identifier: RestorationIdentifier, parent: LiveNode?) {
    guard node.parent !== parent || node.identifier != identifier else { return }
    if let parent, parent.isInside(node) { untangle(parent, from: node) }
    if node.parent !== parent { node.lastMoved = walk.number }
    leaveParent(of: node)
    node.parent = parent
    node.identifier = identifier
    walk.hasMoved = true
    put(node)
  }

  /// Tells where a node is now.
  func put(_ node: LiveNode, given: CaptureBatch.Given? = nil, isEdit: Bool = false) {
    if node.key < walk.firstNewKey { walk.hasPlacedAgain = true }
    let section: CaptureBatch.Section? =
      node.parent != nil ? nil : node.kind == .shared ? .shared : .interface
    walk.batch.placements.append(
      .init(
        key: node.key, former: node.former, parent: node.parent?.key, section: section, identifier: node.identifier,
        given: given, isEdit: isEdit))
  }

  /// Leaves one placement of each object that is still there, ancestors first: a place then lies below its final ancestors, and a
  /// node never lies below itself on the way.
  func orderPlacements() {
    // New objects came in that order.
    guard walk.hasPlacedAgain || !(walk.batch.releases.isEmpty && walk.batch.outgrown.isEmpty) else { return }
    var last: [CaptureBatch.Key: (placement: CaptureBatch.Placement, depth: Int)] = [:]
    for placement in walk.batch.placements {
      guard let node = node(placement.key) else {
        // It was given state, and has left in the capture that met it.
        if let gift = placement.given?.gift, walk.batch.removals.contains(placement.key) {
          walk.batch.leftGifts.append(gift)
        }
        continue
      }
      var newest = placement
      if let first = last[placement.key]?.placement { (newest.given, newest.isEdit) = (first.given, first.isEdit) }
      last[placement.key] = (newest, node.depth)
    }
    walk.batch.placements = last.values.sorted { ($0.depth, $0.placement.key) < ($1.depth, $1.placement.key) }.map(
      \.placement)
  }

  /// Notes that a node leaves the lists of its parent, which are put right once for all that leave.
  private func leaveParent(of node: LiveNode) {
    if let parent = node.parent { walk.parentsThatLostChildren[parent.key] = parent }
  }

  /// Puts a node out of the way until the object that lists it is read in the same capture; else it has left the hierarchy.
  func park(_ node: LiveNode, below parent: LiveNode?) {
    node.parent = parent
    node.identifier = ReservedNode.temporary("moving", node.key)
    walk.orphans.append(node)
    put(node)
  }

  /// Takes the nodes between two others out of the way, when one of them now lies below the other the other way round.
  private func untangle(_ parent: LiveNode, from node: LiveNode) {
    precondition(
      !isListed(parent, below: node),
      "A cycle of children: \(node.object.map(name) ?? "an object") at \(node.path) is listed as a child of "
        + "\(parent.object.map(name) ?? "an object") at \(parent.path), which lies below it.")
    var between = parent
    while let next = between.parent, next !== node { between = next }
    leaveParent(of: between)
    park(between, below: node.parent)
  }

  /// Whether a controller is among the live descendants of another.
  private func isListed(_ node: LiveNode, below top: LiveNode) -> Bool {
    guard let sought = node.controller, let start = top.controller else { return false }
    var seen: Set<ObjectIdentifier> = []
    var stack: [any RestorableController] = [start]
    while let next = stack.popLast() {
      if next === sought { return true }
      if seen.insert(ObjectIdentifier(next)).inserted { stack += next.listedChildren }
    }
    return false
  }
}
