import RestorationArchive

// Generic over the object's own class, so that each use is one direct call instead of a dynamic cast. A facet is only
// ever asked about instances of the class it was made for: `ClassPlan` is looked up by the object's own type.

/// How to read an object's place in the tree.
@MainActor protocol ShapeFacet {
  func read(_ object: any RestorableObject, into capture: inout CapturedState)
}

/// How to read and assign an object's one value.
@MainActor protocol StateFacet {
  func capture(_ object: any RestorableObject) -> RestorationArchive.Entry
  func prepare(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) -> (@MainActor () -> Void)?
  func assign(
    to object: (any RestorableObject)?, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError)
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

struct SharedShape: ShapeFacet {
  func read(_ object: any RestorableObject, into capture: inout CapturedState) {}
}

struct ViewShape<T: RestorableView>: ShapeFacet {
  func read(_ object: any RestorableObject, into capture: inout CapturedState) {
    capture.identifier = downcast(object, to: T.self).restorationIdentifier
  }
}

struct ControllerShape<T: RestorableController>: ShapeFacet {
  func read(_ object: any RestorableObject, into capture: inout CapturedState) {
    let controller = downcast(object, to: T.self)
    capture.identifier = controller.restorationIdentifier
    capture.attributes.classTag = controller.restorationClass
    capture.attributes.priority = controller.preservationPriority
    capture.attributes.model = controller.restorationModelIdentifier
    capture.children = controller.restorationChildren
    capture.views = controller.restorationViews
  }
}

struct ContainerShape<T: RestorationContainer>: ShapeFacet {
  func read(_ object: any RestorableObject, into capture: inout CapturedState) {
    ControllerShape<T>().read(object, into: &capture)
    let container = downcast(object, to: T.self)
    for child in capture.children {
      guard let role = container.restorationRole(of: child), let identifier = child.restorationIdentifier else {
        continue
      }
      if capture.roles[identifier] == nil { capture.roles[identifier] = role }
    }
  }
}

struct ValueFacet<T: StatefulObject>: StateFacet {
  func capture(_ object: any RestorableObject) -> RestorationArchive.Entry {
    RestorationArchive.Entry(key: ReservedKey.state, value: downcast(object, to: T.self).restorableState)
  }

  /// Decodes the value, to be assigned once everything else of the object is decoded too.
  func prepare(
    _ object: any RestorableObject, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) -> (@MainActor () -> Void)? {
    guard let state = try decoded(coder, version) else { return nil }
    return { downcast(object, to: T.self).restorableState = state }
  }

  /// Decodes the value and assigns it; without an object it is only decoded.
  func assign(
    to object: (any RestorableObject)?, coder: RestorationDecoder, version: StateVersion
  ) throws(RestorationError) {
    guard let state = try decoded(coder, version), let object else { return }
    downcast(object, to: T.self).restorableState = state
  }

  private func decoded(
    _ coder: RestorationDecoder, _ version: StateVersion
  ) throws(RestorationError) -> T.RestorableState? {
    let stored = coder.storedVersion ?? version
    if stored == version {
      return try coder.read(T.RestorableState.self, forKey: ReservedKey.state)
    }
    return coder.hasState ? try migrated(from: stored, to: version, coder: coder) : nil
  }

  private func migrated(
    from stored: StateVersion, to version: StateVersion, coder: RestorationDecoder
  ) throws(RestorationError) -> T.RestorableState {
    do {
      if let state = try T.migrations.migrate(from: stored, coder: coder) { return state }
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
