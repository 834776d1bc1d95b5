// Generic over the object's own class, so that each use is one direct call instead of a dynamic cast. A facet is only
// ever asked about instances of the class it was made for: `ClassPlan` is looked up by the object's own type.

/// How to read an object's place in the tree.
@MainActor protocol ShapeFacet {
  /// Whether an object is called as its node is, remade by a tag and has nothing below it, no model and no special
  /// priority.
  ///
  /// Asks what `read` does, without making a list of answers: most objects are like that, time after time.
  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ classTag: RestorationClass?) -> Bool
  func read(_ object: any RestorableObject) -> CapturedShape
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
  func flaw(endingIn version: StateVersion) -> String?
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
  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ classTag: RestorationClass?) -> Bool { false }
}

extension ExactText {
  /// Whether this is the same text; looks first whether it is the same copy of it, as it mostly is.
  @inline(__always)
  fileprivate func isSame(as other: Self) -> Bool {
    // Strings of the same bits are one text; nothing is concluded from bits that differ.
    let bits = unsafe (
      unsafeBitCast(rawValue, to: (UInt, UInt).self), unsafeBitCast(other.rawValue, to: (UInt, UInt).self)
    )
    return bits.0 == bits.1 || self == other
  }
}

struct SharedShape: ShapeFacet {
  func read(_ object: any RestorableObject) -> CapturedShape { CapturedShape() }
}

struct ViewShape<T: RestorableView>: ShapeFacet {
  func read(_ object: any RestorableObject) -> CapturedShape {
    CapturedShape(identifier: downcast(object, to: T.self).restorationIdentifier)
  }
}

struct ControllerShape<T: RestorableController>: ShapeFacet {
  func isPlain(_ object: any RestorableObject, _ node: LiveNode, _ classTag: RestorationClass?) -> Bool {
    let controller = downcast(object, to: T.self)
    guard let current = controller.restorationIdentifier, current.isSame(as: node.identifier) else { return false }
    switch (controller.restorationClass, classTag) {
    case (nil, nil): break
    case (let current?, let classTag?): guard current.isSame(as: classTag) else { return false }
    default: return false
    }
    return controller.restorationModelIdentifier == nil && controller.preservationPriority == .normal
      && controller.restorationChildren.isEmpty && controller.restorationViews.isEmpty
  }

  func read(_ object: any RestorableObject) -> CapturedShape {
    let controller = downcast(object, to: T.self)
    return CapturedShape(
      identifier: controller.restorationIdentifier, classTag: controller.restorationClass,
      model: controller.restorationModelIdentifier, priority: controller.preservationPriority,
      children: controller.restorationChildren, views: controller.restorationViews)
  }
}

struct ContainerShape<T: RestorationContainer>: ShapeFacet {
  func read(_ object: any RestorableObject) -> CapturedShape {
    var shape = ControllerShape<T>().read(object)
    let container = downcast(object, to: T.self)
    guard !DefaultRole.isUsed(by: T.self) else { return shape }
    for child in shape.children {
      // In this order: to find the role of one without a name a stack looks through all below it.
      guard child.restorationIdentifier != nil, let role = DefaultRole.role(of: child, in: container) else { continue }
      shape.roles[ObjectIdentifier(child)] = role
    }
    return shape
  }
}

struct ValueFacet<T: StatefulObject>: StateFacet {
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
  ) throws(RestorationError) -> T.RestorableState? {
    let stored = coder.storedVersion ?? version
    if stored == version {
      return try coder.read(
        T.RestorableState.self, forKey: ReservedKey.state, at: downcast(object, to: T.self).restorableState)
    }
    return coder.hasState ? try migrated(from: stored, to: version, coder: coder) : nil
  }

  private func migrated(
    from stored: StateVersion, to version: StateVersion, coder: RestorationDecoder
  ) throws(RestorationError) -> T.RestorableState {
    do {
      if let state = try T.migrations.migrate(from: stored, coder.recordedState) { return state }
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(
        .migrationFailed, "A step of the migration from version \(stored) to \(version) refused the state.",
        path: coder.path, cause: error)
    }
    throw RestorationError(
      .noMigration, "The state has version \(stored), and no migration of \(T.self) begins there.", path: coder.path)
  }

  func flaw(endingIn version: StateVersion) -> String? {
    T.migrations.flaw(endingIn: version)
  }
}

struct HookFacet<T: CodingObject>: CodingFacet {
  func encode(_ object: any RestorableObject, with coder: RestorationEncoder) {
    downcast(object, to: T.self).encodeRestorableState(with: coder)
  }

  func decode(_ object: any RestorableObject, with coder: RestorationDecoder) throws(RestorationError) {
    try downcast(object, to: T.self).decodeRestorableState(with: coder)
  }
}
