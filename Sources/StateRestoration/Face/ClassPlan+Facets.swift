// Generic over the object's own class, so that each use is one direct call instead of a dynamic cast. A facet is only
// ever asked about instances of the class it was made for: `ClassPlan` is looked up by the object's own type.

/// How to read an object's place in the tree.
@MainActor protocol ShapeFacet {
  /// Whether an object is called as its node is, says nothing else but what plain objects of its class do, and has nothing
  /// below it.
  ///
  /// Asks what `read` does, without making a list of answers: most objects are like that, time after time.
  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ plain: PlainIdentity) -> Bool
  func read(_ object: any RestorableObject) -> CapturedShape
  func identity(of object: any RestorableObject) -> RestorationIdentity
  func children(of object: any RestorableObject) -> [any RestorableController]
  func views(of object: any RestorableObject) -> [any RestorableView]
}

/// How to read the children of a parent.
@MainActor protocol ChildrenFacet {
  func children(of object: any RestorableObject) -> [any RestorableController]
}

/// How to read the views of their owner.
@MainActor protocol ViewsFacet {
  func views(of object: any RestorableObject) -> [any RestorableView]
}

/// How to read the roles of a container's children.
@MainActor protocol RolesFacet {
  func roles(
    of children: [any RestorableController], in object: any RestorableObject
  ) -> [ObjectIdentifier: RestoredChild.Role]
}

/// How to read and assign an object's one value.
@MainActor protocol StateFacet {
  /// Makes an empty column for values of the class.
  func makeColumn() -> any StateColumn
  /// Copies an object's value into a column that this facet made, and returns its row.
  func capture(_ object: any RestorableObject, in column: any StateColumn) -> Int
  /// Decodes an object's value; the result assigns it.
  func prepare(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) -> (@MainActor () -> Void)?
  /// Decodes an object's value and assigns it.
  func give(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError)
  /// Remembers an object's value; the result gives it back.
  func snapshot(of object: any RestorableObject) -> @MainActor () -> Void
  /// The version of the value's type; nil where the object names it.
  var version: StateVersion? { get }
  /// What is wrong with the end of the migrations; nil when nothing is.
  var flaw: String? { get }
}

/// How to run an object's coder methods.
@MainActor protocol CodingFacet {
  func encode(_ object: any RestorableObject, with coder: RestorationEncoder)
  func decode(_ object: any RestorableObject, with coder: RestorationDecoder) throws(RestorationError)
}

@inline(__always) @MainActor
private func downcast<T: AnyObject>(_ object: any RestorableObject, to type: T.Type) -> T {
  assert(object is T)
  return unsafe unsafeDowncast(object, to: T.self)
}

extension ShapeFacet {
  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ plain: PlainIdentity) -> Bool { false }
  func children(of object: any RestorableObject) -> [any RestorableController] { [] }
  func views(of object: any RestorableObject) -> [any RestorableView] { [] }
}

struct SharedShape: ShapeFacet {
  func read(_ object: any RestorableObject) -> CapturedShape { CapturedShape() }
  func identity(of object: any RestorableObject) -> RestorationIdentity { RestorationIdentity(nil) }
}

struct ViewShape<T: RestorableView>: ShapeFacet {
  func read(_ object: any RestorableObject) -> CapturedShape {
    let identity = identity(of: object)
    precondition(
      identity.class == nil && identity.model == nil && identity.priority == .normal,
      "The restoration of a \(T.self) has a class, a model or a priority; a view comes with its controller."
    )
    return CapturedShape(identity: identity)
  }

  func identity(of object: any RestorableObject) -> RestorationIdentity { downcast(object, to: T.self).restoration }
}

struct ControllerShape<T: RestorableController>: ShapeFacet {
  let parent: (any ChildrenFacet)?
  let owner: (any ViewsFacet)?
  var container: (any RolesFacet)?

  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ plain: PlainIdentity) -> Bool {
    downcast(object, to: T.self).restoration.saysOnly(node.identifier, plain)
      && (parent?.children(of: object).isEmpty ?? true) && (owner?.views(of: object).isEmpty ?? true)
  }

  func read(_ object: any RestorableObject) -> CapturedShape {
    var shape = CapturedShape(identity: downcast(object, to: T.self).restoration)
    if let parent { shape.children = parent.children(of: object) }
    if let owner { shape.views = owner.views(of: object) }
    if let container { shape.roles = container.roles(of: shape.children, in: object) }
    return shape
  }

  func identity(of object: any RestorableObject) -> RestorationIdentity { downcast(object, to: T.self).restoration }

  func children(of object: any RestorableObject) -> [any RestorableController] { parent?.children(of: object) ?? [] }

  func views(of object: any RestorableObject) -> [any RestorableView] { owner?.views(of: object) ?? [] }
}

struct ParentFacet<T: RestorationParent>: ChildrenFacet {
  func children(of object: any RestorableObject) -> [any RestorableController] {
    downcast(object, to: T.self).restorationChildren
  }
}

struct OwnerFacet<T: RestorationViewOwner>: ViewsFacet {
  func views(of object: any RestorableObject) -> [any RestorableView] { downcast(object, to: T.self).restorationViews }
}

struct ContainerFacet<T: RestorationContainer>: RolesFacet {
  func roles(
    of children: [any RestorableController], in object: any RestorableObject
  ) -> [ObjectIdentifier: RestoredChild.Role] {
    let container = downcast(object, to: T.self)
    var roles: [ObjectIdentifier: RestoredChild.Role] = [:]
    for child in children {
      // In this order: few children have a role, and only those are asked for their names.
      guard let role = container.restorationRole(of: child), child.restoration.identifier != nil else { continue }
      roles[ObjectIdentifier(child)] = role
    }
    return roles
  }
}

/// The value's type is a parameter of its own: asking the class for it takes the runtime a while at each use.
struct ValueFacet<T: StatefulObject, Value>: StateFacet where T.RestorableState == Value {
  func makeColumn() -> any StateColumn { ValueColumn<T>() }

  func capture(_ object: any RestorableObject, in column: any StateColumn) -> Int {
    assert(column is ValueColumn<T>)
    // A column is only ever handed to the plan that made it, as an object is to the plan of its class.
    return unsafe unsafeDowncast(column, to: ValueColumn<T>.self).append(from: downcast(object, to: T.self))
  }

  /// Decodes the value, to be assigned once everything else of the object is decoded too.
  func prepare(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) -> (@MainActor () -> Void)? {
    guard let state = try decoded(coder, version, for: object) else { return nil }
    return { downcast(object, to: T.self).restorableState = state }
  }

  func give(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) {
    guard let state = try decoded(coder, version, for: object) else { return }
    downcast(object, to: T.self).restorableState = state
  }

  func snapshot(of object: any RestorableObject) -> @MainActor () -> Void {
    let former = downcast(object, to: T.self).restorableState
    return { downcast(object, to: T.self).restorableState = former }
  }

  func decoded(
    _ coder: RestorationDecoder, _ version: StateVersion, for object: any RestorableObject
  ) throws(RestorationError) -> Value? {
    let stored = coder.storedVersion ?? version
    if stored == version {
      return try coder.read(
        Value.self, forKey: ReservedKey.state, at: downcast(object, to: T.self).restorableState)
    }
    guard coder.hasState else { return nil }
    let state = coder.recordedState
    return try StateHistory.migrated(state, from: stored, to: version) { try migrations.migrate(from: stored, state) }
  }

  var version: StateVersion? { (Value.self as? any VersionedState.Type)?.stateVersion }

  var flaw: String? { version.flatMap { migrations.flaw(endingIn: $0) } }

  private var migrations: StateMigrations<Value> { StateHistory.migrations(of: Value.self) }
}

struct HookFacet<T: CodingObject>: CodingFacet {
  func encode(_ object: any RestorableObject, with coder: RestorationEncoder) {
    downcast(object, to: T.self).encodeRestorableState(with: coder)
  }

  func decode(_ object: any RestorableObject, with coder: RestorationDecoder) throws(RestorationError) {
    try downcast(object, to: T.self).decodeRestorableState(with: coder)
  }
}
