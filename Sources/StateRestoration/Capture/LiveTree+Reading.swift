internal import FoundationShim
internal import RestorationArchive

extension LiveTree {
  /// Reads all marked nodes, and those that reading marks.
  func readPending() {
    // A node marked twice is read once.
    while let node = pending.popLast() {
      if node.isDirty { read(node) }
    }
  }

  /// Reads all whose changes can't be noticed, the newest first, so that children come before their parents.
  func readUnnoticed() {
    // Nodes added meanwhile are pending.
    let nodes = polled
    var rest = nodes.count
    var hasLost = false
    while rest > 0 {
      readFast(nodes, &rest)
      guard rest > 0 else { break }
      rest -= 1
      if nodes[rest].isRemoved { hasLost = true }
      if nodes[rest].lastRead != walk.number { read(nodes[rest]) }
      if !pending.isEmpty { readPending() }
    }
    if hasLost { polled.removeAll { $0.isRemoved } }
  }

  /// Reads plain objects of one class from the end of a list, until one is neither.
  ///
  /// Common facts are looked up once, as there may be very many objects.
  private func readFast(_ nodes: [LiveNode], _ rest: inout Int) {
    let subject = nodes[rest - 1].subject
    guard let fastPath = subject.fastPath else { return }
    let number = walk.number
    var records: [CaptureBatch.Record] = []
    swap(&records, &walk.batch.records)
    while rest > 0 {
      let node = nodes[rest - 1]
      guard node.subject === subject else { break }
      if node.lastRead != number {
        guard node.isPlain, !node.isFlagUp, let object = node.object, let row = fastPath.read(object, node)
        else { break }
        node.isDirty = false
        node.lastRead = number
        node.hasItsName = true
        records.append(.init(key: node.key, kind: fastPath.kind, row: row))
      }
      rest -= 1
    }
    swap(&records, &walk.batch.records)
  }

  /// Captures one object's values and children.
  func read(_ node: LiveNode) {
    guard !node.isRemoved else { return }
    node.isDirty = false
    let wasRead = node.lastRead > 0
    node.lastRead = walk.number
    guard let object = node.object else {
      // Another object may have been given its address by now, and be listed in its place.
      node.hasItsName = false
      // Nobody but the list that it was in held it.
      if !wasRead { walk.batch.findings.append(.notHeld(path: node.path)) }
      walk.orphans.append(node)
      return
    }
    let subject = node.subject
    if !subject.isOpen { open(subject) }
    if node.mayWait {
      node.mayWait = false
      if node.isPlain, subject.fastPath?.isPlain(object, node) == true {
        node.hasItsName = true
        return unread.append(node)
      }
    }
    if let noteReading { noteReading(RestorationScope.isScope(object) ? nil : node.givenNode) }
    // The flag itself needs to be looked at only if it went up: whoever raises it says so in the list of changes.
    var isWatching = false
    if node.isFlagUp {
      node.isFlagUp = false
      isWatching = node.flag.rearm()
    }
    if node.isPlain, let fastPath = subject.fastPath {
      var captured: CapturedState?
      let row = node.watch(isWatching) { () -> Int? in
        if let row = fastPath.read(object, node) { return row }
        captured = node.read(object, context: walk.context)
        return nil
      }
      if let row {
        node.hasItsName = true
        walk.batch.records.append(.init(key: node.key, kind: fastPath.kind, row: row))
      } else if let captured {
        take(captured, of: node, object, wasRead: wasRead)
      }
    } else if node.isPlain, let kind = subject.plainKind {
      var captured: CapturedState?
      let plainly = node.watch(isWatching) { () -> CapturedValues? in
        let values = readPlainly(node, object)
        if let values, values.references.isEmpty { return values }
        captured = node.read(object, values: values, context: walk.context)
        return nil
      }
      if let plainly {
        node.hasItsName = true
        if node.isPolled { node.shape = nil }
        recordPlainly(plainly, of: node, kind)
      } else if let captured {
        take(captured, of: node, object, wasRead: wasRead)
      }
    } else {
      take(
        node.watch(isWatching) { node.read(object, context: walk.context) },
        of: node, object, wasRead: wasRead)
    }
  }

  /// Copies the values of an object that is as it was but for them; nil if it is another, or was not met yet as a plain one.
  func readPlainly(_ node: LiveNode, _ object: any RestorableObject) -> CapturedValues? {
    guard let plain = node.subject.plain, node.subject.plan.shape.isPlain(object, node, plain) else { return nil }
    return node.readValues(object, context: walk.context)
  }

  /// Records an object of which nothing but its values is to be recorded, none of them a reference.
  func recordPlainly(_ values: CapturedValues, of node: LiveNode, _ kind: Int) {
    if values.isAsStored { return }
    if !referrers.isEmpty { referrers[node.key] = nil }
    walk.batch.records.append(.init(key: node.key, kind: kind, row: values.row, entries: values.entries))
  }

  /// Brings the tree up to date with what an object answered.
  private func take(
    _ captured: CapturedState, of node: LiveNode, _ object: any RestorableObject, wasRead: Bool
  ) {
    node.hasItsName = captured.shape.identifier == node.identifier
    if !node.hasItsName, node.kind != .shared, !node.isDuplicate, relink(node) { return }
    // Before new children are met: they come below what the object is now.
    if !node.isDuplicate, isAnother(captured, node, object, wasRead: wasRead) { return comeAnew(node, object) }
    if node.kind == .controller {
      let listed = readChildren(of: node, captured.shape)
      node.listed = node.isPolled ? listed : nil
      giveRoles(captured.shape.roles, toChildrenOf: node)
    }
    if node.subject.isList, let list = object as? ListController, list.hasLostAssociation {
      oneTimeFindings.noteLostAssociation(of: list, at: node.path)
    }
    if !node.isDuplicate { record(captured, of: node, object) }
    if node.isPolled {
      node.shape = saysOnlyItsName(captured, node) ? nil : captured.shapeHash(withChildren: node.listed == nil)
    }
  }

  /// The identifier has changed: the parent is read first, as it knows what that means for the siblings.
  private func relink(_ node: LiveNode) -> Bool {
    guard walk.relinked.insert(node.key).inserted else { return false }
    node.isDirty = true
    pending.append(node)
    if let parent = node.parent {
      parent.isDirty = true
      pending.append(parent)
    } else {
      let controllers: Siblings = roots.compactMap { root in root.controller.map { ($0, $0.restoration.identifier) } }
      roots = link(controllers, as: .controller, to: nil, former: roots)
    }
    return true
  }

  /// Brings a node's children up to date.
  ///
  /// - Returns: The nodes of all children, in the order of the object's list; nil where some have none, or views come behind them.
  private func readChildren(of node: LiveNode, _ captured: CapturedShape) -> [LiveNode]? {
    if captured.children.isEmpty, captured.views.isEmpty, node.children.isEmpty { return [] }
    let former = node.children
    if captured.views.isEmpty, areUnchanged(former, captured.children, below: node) { return former }
    var live = link(
      captured.children.map { ($0, $0.restoration.identifier) }, as: .controller, to: node, former: former)
    if !captured.views.isEmpty {
      live += link(
        captured.views.map { ($0, $0.restoration.identifier) }, as: .view, to: node, former: former, taken: live)
    }
    // A child that is excluded or in the shadow of another is not observed, so its parent has to be asked again.
    let isWhole = live.count == captured.children.count + captured.views.count && !live.contains(where: \.isDuplicate)
    if !isWhole { poll(node) }
    let listed = isWhole && captured.views.isEmpty ? live : nil
    let isSame = live.count == former.count && zip(live, former).allSatisfy { $0 === $1 }
    guard !isSame else { return listed }
    node.children = live
    walk.batch.orders.append(.init(parent: node.key, children: live.map(\.key)))
    guard !former.isEmpty else { return listed }
    let staying = Set(live.map(\.key))
    walk.orphans += former.filter { !staying.contains($0.key) }
    return listed
  }

  /// Whether the children are those of the last capture, in their places and under their identifiers.
  private func areUnchanged(
    _ former: [LiveNode], _ children: [any RestorableController], below parent: LiveNode
  ) -> Bool {
    guard former.count == children.count else { return false }
    for index in former.indices {
      let node = former[index]
      guard node.objectIdentity == ObjectIdentifier(children[index]), node.parentKey == parent.key, !node.isDuplicate,
        !node.isRemoved
      else { return false }
      // Asked in this capture, it was alive and called by its identifier.
      if node.lastRead == walk.number, node.hasItsName { continue }
      // The parent's reference keeps a controller alive, so the same address is the same object while ours is.
      guard node.object != nil, children[index].restoration.identifier == node.identifier else { return false }
    }
    return true
  }

  /// Tells children their roles; those whose role has changed are recorded again.
  private func giveRoles(_ roles: [ObjectIdentifier: RestorationArchive.Role], toChildrenOf node: LiveNode) {
    guard node.hasRoles || !roles.isEmpty else { return }
    node.hasRoles = !roles.isEmpty
    for child in node.children where child.kind == .controller && child.role != roles[child.objectIdentity] {
      child.role = roles[child.objectIdentity]
      mark(child)
    }
  }

  func record(_ captured: CapturedState, of node: LiveNode, _ object: any RestorableObject) {
    let facts =
      node.subject.facts(for: captured.shape.classTag) ?? describe(captured, node.subject, object, at: node)
    precondition(
      facts.version == captured.version,
      "\(node.path): a \(subjectName(node)) names version \(captured.version), and another one version \(facts.version); "
        + "they are of one class.")
    node.isSpecial =
      captured.shape.model != nil || captured.shape.priority != .normal || captured.shape.protection != nil
      || !captured.shape.children.isEmpty || !captured.shape.views.isEmpty
      || captured.shape.classTag != node.subject.plain?.classTag
    var record = CaptureBatch.Record(
      key: node.key, kind: facts.kind, row: captured.row, priority: captured.shape.priority,
      entries: captured.entries, model: captured.shape.model, role: node.role, protection: captured.shape.protection)
    switch node.kind {
    case .controller: if node.isByHand { record.flags.insert(.byHand) }
    case .view: record.flags.insert(.view)
    case .shared: record.flags.insert(.shared)
    }
    if captured.isAsStored { return }
    if let (registered, found) = facts.mistaken, let tag = facts.tag {
      walk.batch.findings.append(.inheritedTag(path: node.path, tag: tag, registered: registered, found: found))
    }
    if captured.references.isEmpty {
      if !referrers.isEmpty { referrers[node.key] = nil }
    } else {
      referrers[node.key] = node
    }
    if !captured.references.isEmpty || !node.byHand.isEmpty {
      walk.unresolved.append(
        Referrer(node: node, record: walk.batch.records.count, references: captured.references))
    }
    walk.batch.records.append(record)
  }

  private func subjectName(_ node: LiveNode) -> String { "\(node.subject.plan.type)" }

  /// Whether an object shows another model than before, or is of another class, so that its row is not its own any more.
  ///
  /// The first model that it names is no other one, unless it was given the state of one.
  private func isAnother(
    _ captured: CapturedState, _ node: LiveNode, _ object: any RestorableObject, wasRead: Bool
  ) -> Bool {
    let tag = captured.shape.classTag ?? node.subject.plan.typeName
    if wasRead, captured.shape.model == nil, !node.namesModel, let known = node.identity,
      known.classTag == tag, known.isView == (node.kind == .view)
    {
      // As nearly always: it is of the class that it was of, and has named no model yet.
      return false
    }
    let identity = Identity(classTag: tag, model: captured.shape.model, isView: node.kind == .view)
    let before = node.identity ?? Identity(classTag: node.subject.plain?.classTag ?? tag, isView: identity.isView)
    let isNamed = node.namesModel
    node.namesModel = identity.model != nil
    node.identity = identity
    if identity.model == nil, !isNamed {
      // While it has named none, it goes on with the state of the model that it was given.
      node.identity?.model = before.model
    }
    if identity.model != nil, !wasRead || before.model != identity.model { walk.named.append(node) }
    guard wasRead, before != identity else { return false }
    if Self.isAnotherModel(identity.model, than: before.model, wasNamed: isNamed) { return true }
    guard before.classTag != identity.classTag else { return false }
    return registry.asker(object, identity).mismatch(with: before) != nil
  }

  /// Whether a controller shows another model than when it was read last, or names none any more.
  func showsAnotherModel(_ controller: any RestorableController) -> Bool {
    guard let node = node(of: controller), node.lastRead > 0 else { return false }
    return Self.isAnotherModel(controller.restoration.model, than: node.identity?.model, wasNamed: node.namesModel)
  }

  /// Whether an object has another model than before, or named one and names none any more; the first model is no other one.
  private static func isAnotherModel(
    _ model: ModelIdentifier?, than before: ModelIdentifier?, wasNamed: Bool
  ) -> Bool {
    before != nil && model != before && (model != nil || wasNamed)
  }

  /// Finds out what instances of a class with one tag have in common, and begins their kind in the batch.
  private func describe(
    _ captured: CapturedState, _ subject: LiveClass, _ object: any RestorableObject, at node: LiveNode
  ) -> LiveClass.Tag {
    let tag = captured.shape.classTag
    var kind = CaptureBatch.Kind(
      version: captured.version, classTag: tag ?? subject.plan.typeName, isNamedByType: tag == nil,
      column: subject.column)
    kind.acceptedClasses = subject.acceptedClasses(tag, registry.revision) { registry.acceptedClasses(object, tag) }
    kind.isAskedFor = registry.extent(of: subject.plan.type).map { $0 <= extent } ?? true
    var mistaken: (registered: String, found: String)?
    if let tag {
      switch registry.flaw(of: tag, on: object) {
      case .belongs(_, let registered, let found)?: mistaken = (registered, found)
      case .unregistered?: walk.batch.findings.append(.unregisteredClass(path: node.path, tag: tag))
      case nil: break
      }
    }
    let facts = LiveClass.Tag(
      tag: tag, version: captured.version, kind: walk.batch.kinds.count, mistaken: mistaken)
    walk.batch.kinds.append(kind)
    subject.add(facts, named: captured.shape.version)
    return facts
  }
}
