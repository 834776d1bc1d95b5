internal import RestorationArchive

/// What restoring has given to live objects in this turn, until the capture at its end meets them.
@MainActor struct GivenState {
  /// An object that restoring gave something.
  private struct GivenObject {
    weak var object: (any RestorableObject)?
    let given: CaptureBatch.Given
    /// Whose state it is, if it is a model's.
    let identity: Identity?
    /// Whether the state outlives it: it is a shared object, only references name it, or a sibling has its identifier.
    var outlives: Bool
    /// Whether the capture has met it.
    var isMet = false
  }

  private var objects: [GivenObject] = []
  /// Where they stand there; one that has died may have left its address to another.
  private var indices: [ObjectIdentifier: Int] = [:]
  /// What the app-level state was given, and whether it was edited; nil if nobody asked for it.
  private var application: (given: CaptureBatch.Given, isEdit: Bool)?
  /// Objects that were refused their state and that no capture has met since.
  private var refused: [ObjectIdentifier: WeakObject] = [:]
  /// Objects whose values are an edit from the beginning, and that no capture has met since.
  private var edited: [ObjectIdentifier: WeakObject] = [:]
  /// Objects that call themselves otherwise than the rows that they were given, and that no capture has met since.
  private var renamed: Set<ObjectIdentifier> = []
  /// Rows that nobody was given, and that a scope has forgotten.
  private var forgotten: [NodeID] = []
  /// Those that were refused, and the objects below them, as the capture has met them.
  private var refusedKeys: Set<CaptureBatch.Key> = []

  /// Forgets what objects were given; those that were refused theirs may still come.
  mutating func reset() {
    (objects, indices, application, refusedKeys) = ([], [:], nil, [])
    renamed = []
  }

  /// Makes room for the objects that a restoration is about to name.
  mutating func reserve(_ count: Int) {
    // Not exactly one more for each of many that come late.
    guard objects.isEmpty else { return }
    objects.reserveCapacity(objects.count + count)
    indices.reserveCapacity(objects.count + count)
  }

  /// Notes the node that an object was given.
  ///
  /// - Parameters:
  ///   - identity: Whose state it is, if it is a model's.
  ///   - outlives: Whether the state outlives the object.
  mutating func note(
    _ object: any RestorableObject, _ given: CaptureBatch.Given, of identity: Identity?, outlives: Bool
  ) {
    indices[ObjectIdentifier(object)] = objects.count
    objects.append(GivenObject(object: object, given: given, identity: identity, outlives: outlives))
  }

  /// Notes what the app-level state was given.
  mutating func noteApplication(_ given: CaptureBatch.Given, isEdit: Bool = false) { application = (given, isEdit) }

  /// Notes that an object was refused its state.
  mutating func noteRefused(_ object: any RestorableObject) {
    refused[ObjectIdentifier(object)] = .init(object: object)
  }

  /// Notes that an object's first values are an edit.
  mutating func noteEdit(_ object: any RestorableObject) {
    edited[ObjectIdentifier(object)] = .init(object: object)
  }

  /// Notes that an object calls itself otherwise than the row that it was given.
  mutating func noteRenamed(_ object: any RestorableObject) { renamed.insert(ObjectIdentifier(object)) }

  /// The siblings that have the rows of their identifiers, where others have given themselves other names since: empty, and not
  /// looked for, while nobody has.
  func owners(among siblings: LiveTree.Siblings) -> [RestorationIdentifier: any RestorableObject] {
    guard !renamed.isEmpty else { return [:] }
    var owners: [RestorationIdentifier: any RestorableObject] = [:]
    for (object, identifier) in siblings {
      guard let identifier, let index = indices[ObjectIdentifier(object)], objects[index].object === object,
        !renamed.contains(ObjectIdentifier(object)), owners[identifier] == nil
      else { continue }
      owners[identifier] = object
    }
    return owners
  }

  /// Notes nodes that the capture at the end of this turn removes.
  mutating func noteForgotten(_ nodes: [NodeID]) { forgotten += nodes }

  /// Whether an object's first values are an edit.
  mutating func takeEdit(_ node: LiveNode) -> Bool {
    guard !edited.isEmpty else { return false }
    return edited.removeValue(forKey: node.objectIdentity).map { $0.object === node.object } ?? false
  }

  /// Notes that a sibling has an object's identifier.
  mutating func noteDuplicate(_ object: any RestorableObject) {
    if let index = indices[ObjectIdentifier(object)] { objects[index].outlives = true }
  }

  /// Tells a node that the capture meets what its object was given, and whose that is; nil for nothing.
  mutating func take(_ node: LiveNode) -> CaptureBatch.Given? {
    guard !objects.isEmpty, let index = indices[node.objectIdentity], let object = objects[index].object,
      object === node.object
    else { return nil }
    objects[index].isMet = true
    let given = objects[index].given
    // An object that keeps its own state keeps its class and model as well.
    if given.gift == nil || given.gift?.record != nil { node.identity = objects[index].identity }
    return given
  }

  /// What the app-level state was given.
  mutating func takeApplication() -> (given: CaptureBatch.Given, isEdit: Bool)? {
    defer { application = nil }
    return application
  }

  /// Whether an object that the capture meets was refused its state, or lies below one that was.
  mutating func takeRefused(_ node: LiveNode) -> Bool {
    guard !refused.isEmpty || !refusedKeys.isEmpty else { return false }
    let isRefused = refused.removeValue(forKey: node.objectIdentity).map { $0.object === node.object } ?? false
    guard isRefused || refusedKeys.contains(node.parentKey) else { return false }
    refusedKeys.insert(node.key)
    return true
  }

  /// How many objects were given something.
  var count: Int { objects.count }

  /// The rows that a scope has forgotten since the last capture.
  mutating func takeForgotten() -> [NodeID] {
    defer { forgotten = [] }
    return forgotten
  }

  /// Ends a capture; returns what objects were given that it has not met: those have left the hierarchy in the same turn.
  ///
  /// - Parameter count: How many objects there were when it began; the next capture meets those that have come since.
  mutating func takeUnmet(_ count: Int) -> [CaptureBatch.Gift] {
    refusedKeys = []
    refused = refused.filter { $0.value.object != nil }
    edited = edited.filter { $0.value.object != nil }
    guard count > 0 else { return [] }
    renamed = []
    var unmet: [CaptureBatch.Gift] = []
    for index in 0..<count where !objects[index].isMet && !objects[index].outlives {
      if let gift = objects[index].given.gift { unmet.append(gift) }
    }
    objects.removeFirst(count)
    indices = [:]
    for case (let index, let object?) in objects.map(\.object).enumerated() {
      indices[ObjectIdentifier(object)] = index
    }
    return unmet
  }
}
