internal import RestorationArchive

extension LiveTree {
  /// Replaces captured references by the places of their objects; preserves by hand what only a reference leads to.
  func resolveReferences() {
    if walk.hasMoved { rereadReferrers() }
    while let (node, record, references) = walk.unresolved.popLast() {
      // A node that has left must not bring anything in.
      guard !node.isRemoved else { continue }
      let former = node.byHand
      node.byHand = []
      var owner = Owner(node: node)
      for reference in references {
        walk.batch.records[record].entries.append(entry(for: reference, from: &owner))
      }
      walk.orphans += former.filter { !owner.keysByHand.contains($0.key) }
      readPending()
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
      if node.isRemoved { referrers[key] = nil } else if !fresh.contains(key) { read(node) }
    }
    readPending()
  }

  /// The places of objects that the app-level state refers to; they must be in the tree or registered as shared.
  func entries(forApplication references: [CapturedReference]) -> [RestorationArchive.Entry] {
    func place(_ object: any RestorableObject, _ key: String) -> RestorationPath? {
      if let node = node(of: object), !node.isRemoved { return node.path }
      walk.batch.findings.append(.danglingReference(path: [], key: key))
      return nil
    }
    return references.map { reference in
      switch reference.targets {
      case .one(let object): .init(key: reference.key, value: object.flatMap { place($0, reference.key) })
      case .many(let objects): .init(key: reference.key, value: objects.map { place($0, reference.key) })
      }
    }
  }

  private func entry(
    for reference: CapturedReference, from owner: inout Owner
  ) -> RestorationArchive.Entry {
    switch reference.targets {
    case .one(let object):
      return .init(key: reference.key, value: object.flatMap { place(of: $0, from: &owner, key: reference.key) })
    case .many(let objects):
      return .init(key: reference.key, value: objects.map { place(of: $0, from: &owner, key: reference.key) })
    }
  }

  private func place(of object: any RestorableObject, from owner: inout Owner, key: String) -> RestorationPath? {
    if let node = node(of: object), !node.isRemoved {
      if node.isByHand, node.parent === owner.node { owner.add(node) }
      return node.path
    }
    if let controller = object as? any RestorableController, controller.restorationClass != nil,
      let identifier = controller.restorationIdentifier, !identifier.isEmpty, !owner.identifiers.contains(identifier)
    {
      let node = track(controller, identifier, .controller, byHand: true)
      owner.add(node)
      insert(node, parent: owner.node)
      return node.path
    }
    walk.batch.findings.append(.danglingReference(path: owner.node.path, key: key))
    return nil
  }
}
