import Observation

/// One object under the engine's eyes: captures it, gives it state, and notices that it changed.
///
/// Made once for each object that a tree has, so that reflection and casts are not paid per capture.
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

  /// The facts about the object's class.
  let plan: ClassPlan
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
    context: RestorationContext, observing: Bool = false
  ) -> CapturedState? {
    guard let object else { return nil }
    let column = plan.state?.makeColumn()
    var captured = watch(observing && flag.rearm()) { read(object, in: column, context: context) }
    if let column, let row = captured.row {
      captured.entries.insert(column.entry(at: row), at: 0)
      captured.row = nil
    }
    return captured
  }

  /// Runs a reading of the object; what it reads is watched until it changes if the flag was armed for that.
  func watch<Read>(_ isArmed: Bool, _ read: () -> Read) -> Read {
    guard isArmed else { return read() }
    observationCount += 1
    let flag = flag
    return withObservationTracking(read) {
      flag.fire()
    }
  }

  /// Copies what an object has to preserve, its one value into a column of its class.
  ///
  /// - Parameters:
  ///   - object: The binding's object.
  ///   - column: Made by the plan of its class; nil if that has no one value.
  ///   - node: The object among those that are preserved, which knows where it is.
  ///   - context: What coder methods may ask for.
  func read(
    _ object: any RestorableObject, in column: (any StateColumn)?, at node: LiveNode? = nil,
    context: @autoclosure () -> RestorationContext
  ) -> CapturedState {
    let row: Int? = if let column { plan.state?.capture(object, in: column) } else { nil }
    var captured = CapturedState(shape: plan.shape.read(object), version: plan.version, row: row)
    if !properties.isEmpty { captured.entries = properties.map { $0.capture() } }
    guard let coding = plan.coding else { return captured }
    let coder = RestorationEncoder(
      path: nil, node: node, context: context(), owner: plan.type, properties: properties)
    coding.encode(object, with: coder)
    let (entries, references) = coder.finish()
    if captured.entries.isEmpty { captured.entries = entries } else { captured.entries += entries }
    captured.references = references
    return captured
  }

  /// Gives the object its state, as ``ClassPlan/apply(_:to:properties:)`` does.
  @discardableResult
  package func apply(_ coder: RestorationDecoder) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    guard let object else { return nil }
    return try plan.apply(coder, to: object, properties: properties)
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
    guard let coding else {
      try assign(coder, to: object, properties)
      return coder.storedVersion.flatMap { $0 < version ? $0 : nil }
    }
    // Restored whole or not at all: assignments are taken back when the coder method throws.
    let former = properties.map { $0.snapshot() } + [state?.snapshot(of: object)].compactMap(\.self)
    try assign(coder, to: object, properties)
    do throws(RestorationError) {
      try coding.decode(object, with: coder)
    } catch {
      for takeBack in former { takeBack() }
      throw error
    }
    guard let stored = coder.storedVersion, stored < version else { return nil }
    return stored
  }

  /// Decodes all values before the first is assigned.
  private func assign(
    _ coder: RestorationDecoder, to object: any RestorableObject, _ properties: [RestoredProperty]
  ) throws(RestorationError) {
    guard !properties.isEmpty else { return try state?.assign(to: object, coder: coder, version: version) ?? () }
    var assignments: [@MainActor () -> Void] = []
    if let assignment = try state?.prepare(object, coder: coder, version: version) { assignments.append(assignment) }
    for property in properties {
      if let assignment = try property.prepare(with: coder) { assignments.append(assignment) }
    }
    for assignment in assignments { assignment() }
  }

  /// Throws if the state is of a newer version than the class knows.
  private func refuseNewer(_ coder: RestorationDecoder) throws(RestorationError) {
    guard let stored = coder.storedVersion, stored > version else { return }
    throw RestorationError(
      .newerVersion, "The state has version \(stored), but \(type) knows versions up to \(version); it is kept.",
      path: coder.path)
  }
}

extension RestorableObject {
  /// Says that the state has changed in a way that can't be observed; the next automatic save has it.
  ///
  /// Not needed for ``Restored`` properties and `@Observable` classes.
  public func invalidateRestorableState() { LiveTree.invalidate(self) }
}
