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

  /// Reads all whose changes can't be noticed, the newest first, so that children come before their parents.
  func readUnnoticed() {
    // What is added meanwhile is pending.
    let nodes = polled
    var rest = nodes.count
    while rest > 0 {
      readPlain(nodes, &rest)
      guard rest > 0 else { break }
      rest -= 1
      if nodes[rest].lastRead != captureNumber { read(nodes[rest]) }
      if !pending.isEmpty { readPending() }
    }
  }

  /// Reads plain objects of one class from the end of a list, until one is neither.
  ///
  /// What is the same for all of them is looked up once, as there may be very many.
  private func readPlain(_ nodes: [TrackedNode], _ rest: inout Int) {
    let subject = nodes[rest - 1].subject
    guard let lane = subject.lane else { return }
    let number = captureNumber
    var records: [CaptureBatch.Record] = []
    swap(&records, &batch.records)
    while rest > 0 {
      let node = nodes[rest - 1]
      guard node.subject === subject else { break }
      if node.lastRead != number {
        guard node.isPlain, !node.isFlagUp, let object = node.object, let row = lane.read(object, node)
        else { break }
        node.isDirty = false
        node.lastRead = number
        node.hasItsName = true
        records.append(.init(key: node.key, kind: lane.kind, row: row))
      }
      rest -= 1
    }
    swap(&records, &batch.records)
  }

  /// Captures one object's values and children.
  func read(_ node: TrackedNode) {
    guard !node.isRemoved else { return }
    node.isDirty = false
    let wasRead = node.lastRead > 0
    node.lastRead = captureNumber
    guard let object = node.object else {
      // Another object may have been given its address by now, and be listed in its place.
      node.hasItsName = false
      // Nobody but the list that it was in held it.
      if !wasRead { batch.findings.append(.notHeld(path: node.path)) }
      orphans.append(node)
      return
    }
    let subject = node.subject
    if !subject.isOpen { open(subject) }
    // The flag itself needs to be looked at only if it went up: whoever raises it says so in the list of changes.
    var isWatching = false
    if node.isFlagUp {
      node.isFlagUp = false
      isWatching = node.binding.flag.rearm()
    }
    if node.isPlain, let lane = subject.lane {
      var captured: CapturedState?
      let row = node.binding.watch(isWatching) { () -> Int? in
        if let row = lane.read(object, node) { return row }
        captured = node.binding.read(object, in: subject.column, at: node, context: context)
        return nil
      }
      if let row {
        node.hasItsName = true
        batch.records.append(.init(key: node.key, kind: lane.kind, row: row))
      } else if let captured {
        take(captured, of: node, object)
      }
    } else {
      take(
        node.binding.watch(isWatching) { node.binding.read(object, in: subject.column, at: node, context: context) },
        of: node,
        object)
    }
  }

  /// Brings the tree up to date with what an object answered.
  private func take(_ captured: CapturedState, of node: TrackedNode, _ object: any RestorableObject) {
    node.hasItsName = captured.shape.identifier == node.identifier
    if !node.hasItsName, node.kind != .shared, !node.isShadowed, relink(node) { return }
    if node.kind == .controller {
      readChildren(of: node, captured.shape)
      giveRoles(captured.shape.roles, toChildrenOf: node)
    }
    if !node.isShadowed { record(captured, of: node, object) }
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
      let controllers: Siblings = roots.compactMap { root in root.controller.map { ($0, $0.restorationIdentifier) } }
      roots = link(controllers, as: .controller, to: nil, former: roots)
    }
    return true
  }

  private func readChildren(of node: TrackedNode, _ captured: CapturedShape) {
    if captured.children.isEmpty, captured.views.isEmpty, node.children.isEmpty { return }
    let former = node.children
    if captured.views.isEmpty, areUnchanged(former, captured.children, below: node) { return }
    var live = link(
      captured.children.map { ($0, $0.restorationIdentifier) }, as: .controller, to: node, former: former)
    if !captured.views.isEmpty {
      live += link(
        captured.views.map { ($0, $0.restorationIdentifier) }, as: .view, to: node, former: former, taken: live)
    }
    // A child that is excluded or in the shadow of another is not observed, so its parent has to be asked again.
    if live.count != captured.children.count + captured.views.count || live.contains(where: \.isShadowed) {
      poll(node)
    }
    let isSame = live.count == former.count && zip(live, former).allSatisfy { $0 === $1 }
    guard !isSame else { return }
    node.children = live
    batch.orders.append(.init(parent: node.key, children: live.map(\.key)))
    let staying = Set(live.map(\.key))
    orphans += former.filter { !staying.contains($0.key) }
  }

  /// Whether the children are those of the last capture, in their places and under their identifiers.
  private func areUnchanged(
    _ former: [TrackedNode], _ children: [any RestorableController], below parent: TrackedNode
  ) -> Bool {
    guard former.count == children.count else { return false }
    for index in former.indices {
      let node = former[index]
      guard node.objectIdentity == ObjectIdentifier(children[index]), node.parentKey == parent.key, !node.isShadowed,
        !node.isRemoved
      else { return false }
      // Asked in this capture, it was alive and called by its identifier.
      if node.lastRead == captureNumber, node.hasItsName { continue }
      // The parent's reference keeps a controller alive, so the same address is the same object while ours is.
      guard node.object != nil, children[index].restorationIdentifier == node.identifier else { return false }
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

  private func record(_ captured: CapturedState, of node: TrackedNode, _ object: any RestorableObject) {
    let facts = node.subject.facts(for: captured.shape.classTag) ?? describe(captured, node.subject, object)
    node.isSpecial =
      captured.shape.model != nil || captured.shape.priority != .normal || !captured.shape.children.isEmpty
      || !captured.shape.views.isEmpty || captured.shape.classTag != node.subject.lane?.classTag
    var record = CaptureBatch.Record(
      key: node.key, kind: facts.kind, row: captured.row, priority: captured.shape.priority, flags: [],
      entries: captured.entries, model: captured.shape.model)
    if node.keepsStored {
      guard fingerprint(batch.entries(of: record), captured.references) != node.fingerprintWhenRefused else {
        return batch.standing.append(node.key)
      }
      record.setsStoredAside = setStoredAside(of: node)
      if hasLeftOut { endLeavingOut(from: node.parent) }
    }
    if let limit = facts.freshFor, let stamp = batch.kinds[facts.kind].savedAt {
      ages.note(node.key, limit: limit, stamp: stamp)
    }
    if node.hasBorrowed {
      node.hasBorrowed = false
      record.setsStoredAside = true
    }
    switch node.kind {
    case .controller: if node.isByHand { record.flags.insert(.byHand) }
    case .view: record.flags.insert(.view)
    case .shared: record.flags.insert(.shared)
    }
    if let (registered, found) = facts.mistaken, let tag = facts.tag {
      batch.findings.append(.inheritedTag(path: node.path, tag: tag, registered: registered, found: found))
    }
    if captured.references.isEmpty {
      if !referrers.isEmpty { referrers[node.key] = nil }
    } else {
      referrers[node.key] = node
    }
    if !captured.references.isEmpty || !node.byHand.isEmpty {
      unresolved.append((node, batch.records.count, captured.references))
    }
    if let role = node.role {
      record.flags.insert(.hasRole)
      record.entries.append(.init(key: ReservedKey.role, value: role))
    }
    batch.records.append(record)
  }

  /// Has what restoring died at set aside above something that has newer state: that would stay out with it at every launch.
  func endLeavingOut(from parent: TrackedNode?) {
    var next = parent
    while let above = next {
      if above.waitsForNewer {
        above.fingerprintWhenRefused = nil
        mark(above)
      }
      next = above.parent
    }
  }

  /// Has the stored state of an object that has newer state set aside; with what is stored above and below it for objects
  /// of another class or model, as newer state of one is no part of the other's.
  ///
  /// - Returns: Whether it is the object's alone.
  func setStoredAside(of node: TrackedNode) -> Bool {
    guard let top = stranger(from: node) else {
      node.keepsStored = false
      return true
    }
    top.setAsideCapture = captureNumber
    var below: Set<CaptureBatch.Key> = []
    func clear(from start: [TrackedNode]) {
      var stack = start
      while let next = stack.popLast() {
        if next.keepsStored {
          next.keepsStored = false
          if next !== top { below.insert(next.key) }
          if next !== node { mark(next) }
        }
        stack += next.children + next.byHand
      }
    }
    clear(from: [top])
    // On its way out of its place, with what is above it, it is in no list any more.
    if node.keepsStored { clear(from: node.ancestry(below: top)) }
    batch.strangers.append(top.key, below: below)
    return false
  }

  /// What has become of an object that turned up below another one, if all that was stored below that one has gone aside:
  /// in this capture it takes part in that, and later there is nothing in its place any more.
  func joinSetAside(_ node: TrackedNode) {
    var next = node.parent
    while let above = next {
      if let capture = above.setAsideCapture {
        node.keepsStored = false
        if capture == captureNumber { batch.strangers.join(node.key, below: above.key) }
        return
      }
      next = above.parent
    }
  }

  /// The topmost object, of one and those above it, below which everything stored is another class's or model's.
  func stranger(from node: TrackedNode) -> TrackedNode? {
    var top: TrackedNode?
    var next: TrackedNode? = node
    while let above = next {
      if above.isStranger, above.keepsStored { top = above }
      next = above.parent
    }
    return top
  }

  /// Finds out what instances of a class with one tag have in common, and begins their kind in the batch.
  private func describe(
    _ captured: CapturedState, _ subject: TrackedClass, _ object: any RestorableObject
  ) -> TrackedClass.Tag {
    var kind = CaptureBatch.Kind(version: captured.version, classTag: captured.shape.classTag, column: subject.column)
    var mistaken: (registered: String, found: String)?
    var limit: Duration?
    if let tag = kind.classTag {
      if case .belongs(_, let registered, let found)? = registry.flaw(of: tag, on: object) {
        mistaken = (registered, found)
      }
      limit = registry.registeredClass(tag)?.freshFor
      if let limit { kind.savedAt = Freshness.stamp(now(), limit: limit) }
    }
    let facts = TrackedClass.Tag(
      tag: kind.classTag, kind: batch.kinds.count, mistaken: mistaken, freshFor: limit)
    batch.kinds.append(kind)
    subject.add(facts)
    return facts
  }
}
