internal import FoundationEssentials
internal import RestorationArchive

extension CaptureTree {
  /// Reads everything that is marked, and what is marked by reading it.
  func readPending() {
    // What was marked twice is read once.
    while let node = pending.popLast() {
      if node.isDirty { read(node) }
    }
  }

  /// Captures one object's values and children.
  func read(_ node: TrackedNode) {
    guard !node.isRemoved else { return }
    node.isDirty = false
    guard let captured = node.binding.capture(context: context, observing: true) else {
      orphans.append(node)
      return
    }
    if node.kind != .shared, captured.identifier != node.identifier, !node.isShadowed, relink(node) { return }
    if node.kind == .controller {
      readChildren(of: node, captured)
      giveRoles(captured.roles, toChildrenOf: node)
    }
    if !node.isShadowed { record(captured, of: node) }
  }

  /// The identifier has changed: the parent is read first, as it knows what that means for the siblings.
  private func relink(_ node: TrackedNode) -> Bool {
    guard !node.isByHand, relinked.insert(node.key).inserted else { return false }
    node.isDirty = true
    pending.append(node)
    if let parent = node.parent {
      parent.isDirty = true
      pending.append(parent)
    } else {
      let controllers = roots.compactMap { root in root.controller.map { ($0, $0.restorationIdentifier) } }
      roots = link(controllers, to: nil, former: roots)
    }
    return true
  }

  private func readChildren(of node: TrackedNode, _ captured: CapturedState) {
    if captured.children.isEmpty, captured.views.isEmpty, node.children.isEmpty { return }
    let former = node.children
    if captured.views.isEmpty, stand(former, captured.children, below: node) { return }
    var live = link(captured.children.map { ($0, $0.restorationIdentifier) }, to: node, former: former)
    // A child that is excluded or in the shadow of another is not observed, so its parent has to be asked again.
    if live.count != captured.children.count || live.contains(where: \.isShadowed) { distrust(node) }
    live += linkViews(captured.views, to: node, taken: live)
    let isSame = live.count == former.count && zip(live, former).allSatisfy { $0 === $1 }
    guard !isSame else { return }
    node.children = live
    batch.orders.append(.init(parent: node.key, children: live.map(\.key)))
    let staying = Set(live.map(\.key))
    orphans += former.filter { !staying.contains($0.key) }
  }

  /// Whether the children are those of the last capture, in their places and under their identifiers.
  private func stand(
    _ former: [TrackedNode], _ children: [any RestorableController], below parent: TrackedNode
  ) -> Bool {
    guard former.count == children.count else { return false }
    for index in former.indices {
      let node = former[index]
      // The parent's reference keeps a controller alive, so the same address is the same object while ours is.
      guard node.objectIdentity == ObjectIdentifier(children[index]), node.parent === parent, !node.isShadowed,
        !node.isRemoved, node.object != nil, children[index].restorationIdentifier == node.identifier
      else { return false }
    }
    return true
  }

  /// Tells children their roles; those whose role has changed are recorded again.
  private func giveRoles(_ roles: [RestorationIdentifier: RestorationRole], toChildrenOf node: TrackedNode) {
    guard node.hasRoles || !roles.isEmpty else { return }
    node.hasRoles = !roles.isEmpty
    for child in node.children where child.kind == .controller && child.role != roles[child.identifier] {
      child.role = roles[child.identifier]
      mark(child)
    }
  }

  private func record(_ captured: CapturedState, of node: TrackedNode) {
    if node.keepsStored {
      guard fingerprint(captured) != node.sighted else { return }
      node.keepsStored = false
      batch.setAside.append(node.key)
    }
    var attributes = captured.attributes
    switch node.kind {
    case .controller: if node.isByHand { attributes.flags.insert(.byHand) }
    case .view: attributes.flags.insert(.view)
    case .shared: attributes.flags.insert(.shared)
    }
    if let tag = attributes.classTag {
      if let object = node.object, case .belongs(_, let registered, let found)? = registry.flaw(of: tag, on: object) {
        batch.findings.append(.inheritedTag(path: node.path, tag: tag, registered: registered, found: found))
      }
      if let limit = registry.registeredClass(tag)?.freshFor {
        attributes.savedAt = Freshness.stamp(now(), limit: limit)
      }
    }
    if captured.references.isEmpty {
      if !referrers.isEmpty { referrers[node.key] = nil }
    } else {
      referrers[node.key] = node
    }
    if !captured.references.isEmpty || !node.byHand.isEmpty {
      unresolved.append((node, batch.records.count, captured.references))
    }
    var values = captured.values
    if let role = node.role {
      attributes.flags.insert(.hasRole)
      values.append(.init(key: ReservedKey.role, value: role))
    }
    batch.records.append(.init(key: node.key, values: values, attributes: attributes))
  }
}
