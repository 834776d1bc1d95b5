internal import RestorationArchive

extension LiveTree {
  /// Preserves by hand what only a reference leads to.
  func resolveReferences() {
    if walk.hasMoved {
      walk.hasMoved = false
      rereadReferrers()
    }
    while let referrer = walk.unresolved.popLast() {
      // A node that has left must not bring anything in.
      guard !referrer.node.isRemoved else { continue }
      walk.resolved.append(referrer)
      let former = referrer.node.byHand
      referrer.node.byHand = []
      var owner = Owner(node: referrer.node)
      for reference in referrer.references { bringIn(reference.objects, from: &owner) }
      walk.orphans += former.filter { !owner.keysByHand.contains($0.key) }
      readPending()
    }
  }

  /// Adds to the records the places of the objects that they refer to, once all have theirs.
  func recordReferences() {
    for referrer in walk.resolved where !referrer.node.isRemoved {
      for reference in referrer.references {
        walk.batch.records[referrer.record].entries.append(entry(for: reference, from: referrer.node.path))
        noteTargets(of: reference, from: referrer.node.key)
      }
    }
    if !walk.batch.removals.isEmpty { targets = targets.filter { $0.value.object.object != nil } }
  }

  /// Notes which objects a reference leads to, wherever they are and whatever they show: by these an edit is told.
  func noteTargets(of reference: CapturedReference, from key: CaptureBatch.Key) {
    walk.batch.targets[key, default: [:]][reference.key] = reference.objects.map { object in
      if let known = targets[ObjectIdentifier(object)], known.object.object === object { return known.number }
      targetCount += 1
      targets[ObjectIdentifier(object)] = (WeakObject(object: object), targetCount)
      return targetCount
    }
  }

  /// The nodes of the objects that references of some objects lead to.
  ///
  /// - Parameter numbers: The numbers of the referred objects, from a capture of the referrers.
  func targets(
    of referrers: Set<CaptureBatch.Key>, in numbers: [CaptureBatch.Key: [String: [Int]]]
  ) -> [LiveNode] {
    let wanted = Set(referrers.flatMap { numbers[$0].map { $0.values.flatMap(\.self) } ?? [] })
    guard !wanted.isEmpty else { return [] }
    return targets.values.compactMap { target in
      wanted.contains(target.number) ? target.object.object.flatMap { node(of: $0) } : nil
    }
  }

  /// An object whose references are resolved, with tables of what it has, as it may refer to very many.
  private struct Owner {
    let node: LiveNode
    /// The keys of what it preserves by hand.
    var keysByHand: Set<CaptureBatch.Key> = []
    /// The identifiers of its children and of what it preserves by hand.
    @MainActor lazy var identifiers = Set(
      (node.children + node.byHand).lazy.filter { [node] in $0.parent === node }.map(\.identifier))

    init(node: LiveNode) { self.node = node }

    /// Takes an object among those preserved by hand.
    @MainActor mutating func add(_ other: LiveNode) {
      _ = identifiers.insert(other.identifier)
      if keysByHand.insert(other.key).inserted { node.byHand.append(other) }
    }
  }

  private func rereadReferrers() {
    guard !referrers.isEmpty else { return }
    let fresh = Set(walk.unresolved.map { $0.node.key })
    for (key, node) in referrers.sorted(by: { $0.key < $1.key }) {
      if node.isRemoved {
        referrers[key] = nil
      } else if !fresh.contains(key) {
        if node.lastRead == walk.number { walk.batch.repetitions += 1 }
        read(node)
      }
    }
    readPending()
  }

  /// The stored form of a reference: the places of its objects, which must be in the tree.
  func entry(for reference: CapturedReference, from path: RestorationPath) -> RestorationArchive.Entry {
    func place(_ object: any RestorableObject) -> RestorationPath? {
      if let node = node(of: object), !node.isRemoved { return node.path }
      walk.batch.findings.append(.danglingReference(path: path, key: reference.key))
      return nil
    }
    return switch reference.targets {
    case .one(let object): .init(key: reference.key, value: object.flatMap(place))
    case .many(let objects): .init(key: reference.key, value: objects.map(place))
    }
  }

  /// Preserves objects that are nowhere in the hierarchy, if a class can make them again.
  private func bringIn(_ objects: [any RestorableObject], from owner: inout Owner) {
    for object in objects {
      if let node = node(of: object), !node.isRemoved {
        if node.isByHand, node.parent === owner.node { keep(node, by: &owner) }
      } else if let controller = object as? any RestorableController, controller.restoration.class != nil,
        let identifier = controller.restoration.identifier, !identifier.isEmpty, !owner.identifiers.contains(identifier)
      {
        let node = track(controller, identifier, .controller, byHand: true)
        owner.add(node)
        insert(node, parent: owner.node)
      }
    }
  }

  /// Goes on preserving an object by hand, under the identifier that it has now.
  private func keep(_ node: LiveNode, by owner: inout Owner) {
    owner.add(node)
    if !node.hasItsName, let identifier = node.controller?.restoration.identifier, !identifier.isEmpty,
      !owner.identifiers.contains(identifier)
    {
      _ = owner.identifiers.insert(identifier)
      place(node, identifier: identifier, parent: owner.node)
    }
  }
}
