import Observation
package import RestorationArchive

/// One object under the engine's eyes: captures it, gives it state, and notices that it changed.
///
/// Made once per object and coordinator, so that reflection and casts are not paid per capture.
@MainActor package final class ObjectBinding {
  /// The object; nil once it died.
  package weak let object: (any RestorableObject)?

  /// Raised when the object may have changed since it was last captured.
  package let flag: ChangeFlag

  /// The version of the object's class.
  package var version: StateVersion { plan.version }

  /// Whether every change of the object's stored properties raises the flag by itself.
  package var observesEverything: Bool { plan.observesEverything }

  /// How many observations were begun: one, and one more after each change that an observation saw.
  package private(set) var observationCount = 0

  private let plan: ClassPlan
  private let properties: [RestoredProperty]

  /// Binds an object; the flag is raised until the first capture.
  ///
  /// - Parameter onChange: Called when the flag goes up, from whatever thread made the change, before the change is
  ///   visible: capture later.
  package init(_ object: any RestorableObject, onChange: @escaping @Sendable () -> Void = {}) {
    self.object = object
    plan = ClassPlan.plan(for: type(of: object))
    properties = plan.markedProperties(of: object)
    flag = ChangeFlag(onChange: onChange)
    for property in properties { property.add(flag) }
  }

  isolated deinit {
    flag.retire()
  }

  /// Copies what the object has to preserve; nil if the object has died.
  ///
  /// With `observing` everything that is read is watched until it changes, and the flag comes down.
  package func capture(
    path: RestorationPath? = nil, context: RestorationContext, observing: Bool = false
  ) -> CapturedState? {
    guard let object else { return nil }
    guard observing else { return read(object, path: path, context: context) }
    flag.lower()
    guard flag.arm() else { return read(object, path: path, context: context) }
    observationCount += 1
    let flag = flag
    return withObservationTracking {
      read(object, path: path, context: context)
    } onChange: {
      flag.fire()
    }
  }

  /// Gives the object its state, as ``ClassPlan/apply(_:to:properties:)`` does.
  @discardableResult
  package func apply(_ coder: RestorationDecoder) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    guard let object else { return nil }
    return try plan.apply(coder, to: object, properties: properties)
  }

  private func read(
    _ object: any RestorableObject, path: RestorationPath?, context: RestorationContext
  ) -> CapturedState {
    var capture = CapturedState(attributes: RestorationArchive.Attributes(version: plan.version))
    fill(&capture, from: object, path: path, context: context)
    return capture
  }

  private func fill(
    _ capture: inout CapturedState, from object: any RestorableObject, path: RestorationPath?,
    context: RestorationContext
  ) {
    if let state = plan.state {
      capture.values.append(state.capture(object))
    }
    plan.shape.read(object, into: &capture)
    for property in properties {
      capture.values.append(property.capture())
    }
    guard let coding = plan.coding else { return }
    let coder = RestorationEncoder(path: path, context: context, owner: plan.type, properties: properties)
    coding.encode(object, with: coder)
    let (entries, references) = coder.finish()
    capture.values.append(entries)
    capture.references = references
  }
}

extension ClassPlan {
  /// Gives an object its state: all values are decoded before the first is assigned, then its coder method runs.
  ///
  /// Needs no binding, as nothing is watched: a restoration has very many objects, and each of them once.
  ///
  /// - Returns: The version the state was migrated from, if it was.
  func apply(
    _ coder: RestorationDecoder, to object: any RestorableObject, properties: [RestoredProperty]
  ) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    try refuseNewer(coder)
    if properties.isEmpty {
      try state?.assign(to: object, coder: coder, version: version)
    } else {
      var assignments: [@MainActor () -> Void] = []
      if let assignment = try state?.prepare(object, coder: coder, version: version) { assignments.append(assignment) }
      for property in properties {
        if let assignment = try property.prepare(with: coder) { assignments.append(assignment) }
      }
      for assignment in assignments { assignment() }
    }
    try coding?.decode(object, with: coder)
    guard let stored = coder.storedVersion, stored < version else { return nil }
    return stored
  }

  /// Throws if the state is of a newer version than the class knows.
  func refuseNewer(_ coder: RestorationDecoder) throws(RestorationError) {
    guard let stored = coder.storedVersion, stored > version else { return }
    throw RestorationError(
      .newerVersion, "The state has version \(stored), but \(type) knows versions up to \(version); it is kept.",
      path: coder.path)
  }
}
