internal import RestorationArchive

/// One round through the objects whose changes can't be noticed, spread over turns of the main actor.
@MainActor struct AskingRound {
  private let nodes: [LiveNode]
  private var next = 0
  /// The revision of the tree that it goes through.
  let revision: Int
  /// How many objects were asked.
  private(set) var askedCount = 0

  fileprivate init(_ nodes: [LiveNode], revision: Int) { (self.nodes, self.revision) = (nodes, revision) }

  /// Whether everybody was asked.
  var isOver: Bool { next >= nodes.count }

  /// The next object to ask, one that no capture is about to read anyway.
  fileprivate mutating func takeNext() -> LiveNode? {
    while next < nodes.count {
      defer { next += 1 }
      let node = nodes[next]
      guard !node.isRemoved, !node.isDirty, !node.isDuplicate, node.lastRead > 0, !node.flag.isRaised else { continue }
      askedCount += 1
      return node
    }
    return nil
  }
}

/// What objects answered in one turn, to be compared away from the main actor with what the table has.
struct AskedValues: Sendable {
  /// Their values.
  var batch = CaptureBatch()
  /// Objects that have changed in more than their values.
  var changed: [CaptureBatch.Key] = []

  var isEmpty: Bool { batch.records.isEmpty && changed.isEmpty }
}

extension LiveTree {
  /// Whether there are objects whose changes can't be noticed; call this between captures.
  var hasAnyoneToAsk: Bool {
    if polled.last?.isRemoved == true { polled.removeAll { $0.isRemoved } }
    return !polled.isEmpty
  }

  /// Begins a round; objects that come later have a later one.
  func beginAsking() -> AskingRound { AskingRound(polled, revision: revision) }

  /// Asks objects until a turn is over; changes nothing of the tree.
  ///
  /// - Parameters:
  ///   - round: How far the round has come.
  ///   - application: The app-level state, in the first turn.
  ///   - context: What coder methods may ask for.
  ///   - isOver: Whether the turn is over; asked after each object, with how many were looked at for it: children as well.
  func ask(
    _ round: inout AskingRound, application: ApplicationState? = nil, context: RestorationArchive.Context,
    until isOver: (Int) -> Bool
  ) -> AskedValues {
    precondition(!isCapturing, "A capture is in progress.")
    isCapturing = true
    defer { isCapturing = false }
    var asked = AskedValues()
    walk = CaptureWalk(context: context, number: walk.number, firstNewKey: nodes.count)
    if let application { add(application, to: &asked) }
    while let node = round.takeNext() {
      ask(node, &asked)
      if isOver(1 + node.children.count) { break }
    }
    for referrer in walk.unresolved { walk.resolved.append(referrer) }
    recordReferences()
    for subject in walk.openClasses { subject.close() }
    asked.batch = walk.batch
    walk = CaptureWalk(context: context, number: walk.number, firstNewKey: nodes.count)
    return asked
  }

  private func ask(_ node: LiveNode, _ asked: inout AskedValues) {
    // One that has died, or that came without a name: the next capture sees to it.
    guard let object = node.object else { return asked.changed.append(node.key) }
    let subject = node.subject
    if subject.awareness == .state {
      // Its values are noticed.
      if node.isPlain, let plain = subject.plain, subject.plan.shape.isPlain(object, node, plain) { return }
      let captured = CapturedState(shape: subject.plan.shape.read(object), version: 1)
      if !hasSameShape(node, object, captured) { asked.changed.append(node.key) }
      return
    }
    if !subject.isOpen { open(subject) }
    if node.isPlain, let fastPath = subject.fastPath, let row = fastPath.read(object, node) {
      return walk.batch.records.append(.init(key: node.key, kind: fastPath.kind, row: row))
    }
    var values: CapturedValues?
    if node.isPlain, subject.fastPath == nil, let kind = subject.plainKind {
      values = readPlainly(node, object)
      if let values, values.references.isEmpty { return recordPlainly(values, of: node, kind) }
    }
    let captured = node.read(object, values: values, context: walk.context)
    guard hasSameShape(node, object, captured) else { return asked.changed.append(node.key) }
    record(captured, of: node, object)
  }

  /// Whether an object is where it was when it was captured last, with the same objects below it and the same references.
  private func hasSameShape(_ node: LiveNode, _ object: any RestorableObject, _ captured: CapturedState) -> Bool {
    if node.isPlain, captured.references.isEmpty, let plain = node.subject.plain, captured.shape.isPlain(node, plain) {
      return true
    }
    // Another object may have been given the address of one that has died.
    guard let shape = node.shape else { return saysOnlyItsName(captured, node) }
    return listsTheSame(node, captured.shape) && shape == captured.shapeHash(withChildren: node.listed == nil)
      && node.children.allSatisfy { $0.object != nil }
  }

  /// Whether an object has nothing to say of its place but its name and the class that it is known to be of, as most have.
  func saysOnlyItsName(_ captured: CapturedState, _ node: LiveNode) -> Bool {
    let shape = captured.shape
    return shape.identifier == node.identifier && shape.model == nil && shape.priority == .normal
      && shape.protection == nil && shape.children.isEmpty && shape.views.isEmpty && shape.roles.isEmpty
      && captured.references.isEmpty
      && node.identity?.classTag == shape.classTag ?? node.subject.plan.typeName
  }

  /// Whether an object lists the children that it listed when it was captured last, where their nodes tell.
  private func listsTheSame(_ node: LiveNode, _ shape: CapturedShape) -> Bool {
    guard let listed = node.listed else { return true }
    return shape.views.isEmpty && listed.count == shape.children.count
      && zip(listed, shape.children).allSatisfy { child, object in
        child.objectIdentity == ObjectIdentifier(object) && child.object != nil
          && child.identifier == object.restoration.identifier
      }
  }

  private func add(_ application: ApplicationState, to asked: inout AskedValues) {
    let entries = application.entries + application.references.map { entry(for: $0, from: []) }
    guard hasApplication else {
      if !entries.isEmpty { asked.changed.append(CaptureBatch.application) }
      return
    }
    for reference in application.references { noteTargets(of: reference, from: CaptureBatch.application) }
    append(application: entries)
  }
}

extension CapturedState {
  /// What the object says of its place and of the objects that it refers to, in short.
  ///
  /// - Parameter withChildren: Whether of its children and views as well.
  @MainActor func shapeHash(withChildren: Bool) -> Int {
    var hasher = Hasher()
    hasher.combine(shape.identifier)
    hasher.combine(shape.classTag)
    hasher.combine(shape.model)
    hasher.combine(shape.priority)
    hasher.combine(shape.protection)
    if withChildren {
      for child in shape.children {
        hasher.combine(ObjectIdentifier(child))
        hasher.combine(child.restoration.identifier)
      }
      hasher.combine(shape.children.count)
      for view in shape.views {
        hasher.combine(ObjectIdentifier(view))
        hasher.combine(view.restoration.identifier)
      }
    }
    hasher.combine(shape.roles)
    for reference in references {
      hasher.combine(reference.key)
      for object in reference.objects { hasher.combine(ObjectIdentifier(object)) }
      hasher.combine(reference.objects.count)
    }
    return hasher.finalize()
  }
}
