internal import RestorationArchive

extension CaptureTree {
  /// Siblings and what they call themselves.
  typealias Siblings = [(object: any RestorableObject, identifier: RestorationIdentifier?)]

  /// Finds or makes the nodes of a list of siblings; a second owner of an identifier is left out and named.
  ///
  /// - Parameters:
  ///   - objects: The siblings, in order.
  ///   - kind: What they are.
  ///   - parent: The node above them; nil for roots.
  ///   - former: What lay below the parent before.
  ///   - taken: Other nodes below the parent, whose identifiers are theirs.
  func link(
    _ objects: Siblings, as kind: NodeReport.Kind, to parent: TrackedNode?, former: [TrackedNode],
    taken: [TrackedNode] = []
  ) -> [TrackedNode] {
    var result: [TrackedNode] = []
    result.reserveCapacity(objects.count)
    var owners = Dictionary(taken.map { ($0.identifier, $0) }) { first, _ in first }
    owners.reserveCapacity(objects.count)
    let claimed = trackClaimed(objects, as: kind, below: parent, taken: owners.keys)
    let holders = holders(among: objects, of: parent, former: former + claimed)
    for (object, identifier) in objects {
      guard let identifier else { continue }
      guard !identifier.isEmpty else {
        batch.findings.append(.emptyIdentifier(parent: parent?.path ?? [], owner: name(object)))
        continue
      }
      let known = node(of: object)
      if let owner = owners[identifier] ?? holders[identifier], owner !== known || owners[identifier] != nil {
        let path = (parent?.path ?? []).appending(identifier)
        let names = names(kept: owner.object, refused: object, among: objects)
        batch.findings.append(.duplicateIdentifier(path: path, kept: names.kept, refused: names.refused))
        if let known, known !== owner, known.parent === parent, owners[known.identifier] == nil,
          holders[known.identifier] ?? known === known
        {
          known.isShadowed = true
          owners[known.identifier] = known
          result.append(known)
        }
        continue
      }
      let node = known ?? track(object, identifier, kind)
      node.isShadowed = false
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
    if parent == nil || !claimed.isEmpty {
      let staying = Set(result.map(\.key))
      orphans += ((parent == nil ? former : []) + claimed).filter { !staying.contains($0.key) }
    }
    return result
  }

  /// Siblings of which two are called the same, under the identifiers that restored ones among them were saved with: as if
  /// a capture had met them before they were renamed.
  private func trackClaimed(
    _ objects: Siblings, as kind: NodeReport.Kind, below parent: TrackedNode?,
    taken: some Collection<RestorationIdentifier>
  ) -> [TrackedNode] {
    guard !claims.isEmpty else { return [] }
    let identifiers = objects.compactMap(\.identifier) + taken
    guard Set(identifiers).count < identifiers.count else { return [] }
    return objects.compactMap { object, identifier in
      guard identifier != nil, self.node(of: object) == nil, let claim = claims[ObjectIdentifier(object)],
        claim.object === object, let former = claim.identifier, (parent == nil) == (claim.parent == nil),
        parent?.origin == claim.parent
      else { return nil }
      let node = track(object, former, kind)
      insert(node, parent: parent)
      return node
    }
  }

  /// Which siblings keep the identifiers that they had, against others that are called the same now.
  ///
  /// Who had an identifier before keeps it, whatever the order, so that its earlier state is not lost to the other's. The
  /// other keeps the identifier that it had, and may stand in the way of a third one by that. So does what the parent
  /// preserves by hand. Empty, and not looked for, while everybody is called as before.
  private func holders(
    among objects: Siblings, of parent: TrackedNode?, former: [TrackedNode]
  ) -> [RestorationIdentifier: TrackedNode] {
    let byHand = parent?.byHand.filter { $0.parent === parent && $0.object != nil } ?? []
    guard !former.isEmpty || !byHand.isEmpty else { return [:] }
    var holders = Dictionary(byHand.map { ($0.identifier, $0) }) { first, _ in first }
    // In order; nil for one that had no identifier here.
    var claimants: [RestorationIdentifier: [TrackedNode?]] = [:]
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

  func insert(_ node: TrackedNode, parent: TrackedNode?) {
    node.parent = parent
    node.isDirty = true
    if node.subject.awareness != .everything { poll(node) }
    nodes.append(node)
    byObject[node.objectIdentity] = node
    pending.append(node)
    hasMoved = true
    var claim = claims.removeValue(forKey: node.objectIdentity)
    if let other = claim, other.object !== node.object {
      displaced.append(other)
      claim = nil
    }
    if let claim, claim.isLate { unmet.remove(claim.node) }
    node.origin = claim?.node
    node.keepsStored = claim?.keepsStored == true
    node.isStranger = claim?.isStranger == true
    node.fingerprintWhenRefused = claim?.fingerprintWhenRefused
    // What lies in its place below a stranger is the other one's, and below what was left out it waits with that.
    if isBelowStranger(parent) || isBelowLeftOut(parent) {
      if claim == nil {
        node.keepsStored = true
        if let known = refusedBelow[node.objectIdentity], known.object === node.object {
          node.fingerprintWhenRefused = known.fingerprint
        }
      } else if !node.keepsStored {
        makeNewer(parent)
      }
    }
    node.isLeftOut = node.keepsStored && claim?.isLeftOut == true
    node.staysLeftOut = claim?.staysLeftOut == true
    node.isBorrower = node.keepsStored && claim?.isByPath != false
    if hasStrangers, claim?.keepsStored != false { joinSetAside(node) }
    put(node, claimed: claim.flatMap { $0.isByPath ? nil : $0.node })
  }

  func place(_ node: TrackedNode, identifier: RestorationIdentifier, parent: TrackedNode?) {
    guard node.parent !== parent || node.identifier != identifier else { return }
    if let parent, parent.isInside(node) { untangle(parent, from: node) }
    leaveParent(of: node)
    node.parent = parent
    node.identifier = identifier
    hasMoved = true
    put(node)
    if node.isBorrower, node.keepsStored {
      giveBack(node)
    } else {
      makeNewer(parent)
    }
  }

  /// Whether everything stored below a node is another class's or model's, and stays until something there is newer.
  private func isBelowStranger(_ parent: TrackedNode?) -> Bool {
    guard hasStrangers, let parent else { return false }
    return stranger(from: parent) != nil
  }

  /// Whether something above was left out after a crash, and stays out until something there is newer.
  private func isBelowLeftOut(_ parent: TrackedNode?) -> Bool {
    guard hasLeftOut else { return false }
    var next = parent
    while let above = next {
      if above.waitsForNewer { return true }
      next = above.parent
    }
    return false
  }

  /// Something with state of its own has come below an object: that is newer than another class's or model's state
  /// there, all of which goes aside, and than what was left out.
  private func makeNewer(_ parent: TrackedNode?) {
    guard let parent else { return }
    if isBelowStranger(parent) {
      _ = setStoredAside(of: parent)
      mark(parent)
    }
    if hasLeftOut { endLeavingOut(from: parent) }
  }

  /// Tells where a node is now.
  private func put(_ node: TrackedNode, claimed: NodeID? = nil) {
    node.needsPlace = false
    if let parent = node.parent, parent.needsPlace { put(parent) }
    let section: CaptureBatch.Section? =
      node.parent != nil ? nil : node.kind == .shared ? .shared : .interface
    batch.placements.append(
      .init(
        key: node.key, parent: node.parent?.key, section: section, identifier: node.identifier, claimed: claimed))
  }

  /// Leaves where it is what is stored for the former place of an object that never had it, and below it: the objects get
  /// places of their own.
  private func giveBack(_ top: TrackedNode) {
    var stack = [top]
    while let node = stack.popLast() {
      // It may move in the same capture: then it is put there, and nowhere else.
      if node !== top {
        node.needsPlace = true
        displacedBorrowers.append(node)
      }
      if node.isBorrower, node.keepsStored {
        batch.releases.append(node.key)
        node.isStranger = false
        // In its new place may lie what is not its own either.
        if !isBelowStranger(node.parent), !isBelowLeftOut(node.parent) {
          (node.keepsStored, node.isBorrower, node.hasBorrowed) = (false, false, true)
          mark(node)
        }
      }
      stack += node.children + node.byHand
    }
  }

  /// Puts those where they are that stayed below an object that was given back its place to another.
  func putDisplacedBorrowers() {
    for node in displacedBorrowers where node.needsPlace && !node.isRemoved { put(node) }
    displacedBorrowers = []
  }

  /// Notes that a node leaves the lists of its parent, which are put right once for all that leave.
  private func leaveParent(of node: TrackedNode) {
    if let parent = node.parent { parentsThatLostChildren[parent.key] = parent }
  }

  /// Takes what lay between two nodes out of the way, when one of them now lies below the other the other way round.
  ///
  /// Whoever lists it as a child now is read in the same capture; else it has left the hierarchy.
  private func untangle(_ parent: TrackedNode, from node: TrackedNode) {
    precondition(
      !isListed(parent, below: node),
      "A cycle of children: \(node.object.map(name) ?? "an object") at \(node.path) is listed as a child of "
        + "\(parent.object.map(name) ?? "an object") at \(parent.path), which lies below it.")
    var between = parent
    while let next = between.parent, next !== node { between = next }
    leaveParent(of: between)
    between.parent = node.parent
    between.identifier = ReservedNode.temporary("moving", between.key)
    orphans.append(between)
    put(between)
  }

  /// Whether a controller is among the live descendants of another.
  private func isListed(_ node: TrackedNode, below top: TrackedNode) -> Bool {
    guard let sought = node.controller, let start = top.controller else { return false }
    var seen: Set<ObjectIdentifier> = []
    var stack: [any RestorableController] = [start]
    while let next = stack.popLast() {
      if next === sought { return true }
      if seen.insert(ObjectIdentifier(next)).inserted { stack += next.restorationChildren }
    }
    return false
  }
}
