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
        walk.batch.targets[referrer.node.key, default: [:]][reference.key] = reference.objects.map {
          node(of: $0)?.key
        }
      }
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
        if node.isByHand, node.parent === owner.node { owner.add(node) }
      } else if let controller = object as? any RestorableController, controller.restorationClass != nil,
        let identifier = controller.restorationIdentifier, !identifier.isEmpty, !owner.identifiers.contains(identifier)
      {
        let node = track(controller, identifier, .controller, byHand: true)
        owner.add(node)
        insert(node, parent: owner.node)
      }
    }
  }
}
