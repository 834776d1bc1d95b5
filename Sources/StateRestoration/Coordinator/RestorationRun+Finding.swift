internal import RestorationArchive

extension RestorationRun {
  /// Finds the object at the top, or says why it is none.
  func meetRoot(_ index: Int, _ root: any RestorableController) {
    self.root = root
    if let reason = obstacle(at: index) { return refuse(index, reason) }
    if root.restorationIdentifier == plan.paths[index].last {
      _ = admit(root, at: index, origin: .existing)
    } else {
      fail(index, .noObject)
    }
  }

  /// Finds or makes one object, or says why there is none.
  func meet(_ index: Int) {
    guard !superseded.contains(index) else { return }
    if let reason = obstacle(at: index) { return refuse(index, reason) }
    switch plan.nodes[index].kind {
    case .shared:
      guard let object = plan.paths[index].last.flatMap({ registry.sharedObject($0) }) else {
        return fail(index, .noObject)
      }
      _ = admit(object, at: index, origin: .existing)
    case .view:
      guard let view = view(at: index) else { return }
      _ = admit(view, at: index, origin: .existing)
    case .controller: meetController(index)
    }
  }

  /// A node has no object, for a reason.
  func fail(_ index: Int, _ reason: NotRestoredReason) {
    objects.drop(index)
    outcomes.fail(index, reason)
    log.log(.warning, "\(plan.paths[index]) was not restored: \(reason)")
  }

  /// A node's state is given to nobody; if it goes, the controller in its place may be given what is kept for it.
  private func refuse(_ index: Int, _ reason: NotRestoredReason) {
    let node = plan.nodes[index]
    if reason.retires, plan.kept[index] != nil, node.kind == .controller, !node.flags.contains(.byHand),
      let found = node.parent == nil ? root : existingChild(at: index),
      found.restorationIdentifier == plan.paths[index].last
    {
      bringBackInsteadOfRetired(to: found, at: index)
    }
    fail(index, reason)
  }

  /// What stands against a node before anybody is asked for its object.
  func obstacle(at index: Int) -> NotRestoredReason? {
    let node = plan.nodes[index]
    if let parent = node.parent, !outcomes.isRestored(parent), node.kind != .view {
      return .parentNotRestored
    }
    if isLeftOut(index) { return .leftOutAfterCrash }
    guard let tag = plan.tag(of: index), let registered = registry.registeredClass(tag) else { return nil }
    guard registered.freshFor != nil || registered.onlyIf != nil else { return nil }
    let details = plan.details(of: index)
    if let limit = registered.freshFor,
      let reason = Freshness.expiry(of: details.savedAt ?? plan.context.timeSaved, limit: limit, now: now)
    {
      return reason
    }
    if let model = details.model, registered.onlyIf?(model) == false { return .modelGone(model) }
    return nil
  }

  /// Whether restoring died at a node before, and nobody asks for another try.
  func isLeftOut(_ index: Int) -> Bool {
    leftOut.contains(index) || (plan.nodes[index].flags.contains(.leftOut) && !retries(plan.paths[index]))
  }

  // MARK: - Controllers

  private func meetController(_ index: Int) {
    let tag = plan.tag(of: index)
    // Only code of the program takes time that is worth telling: what was there already is found without it.
    var start: ContinuousClock.Instant?
    var object: (any RestorableController)?
    var origin = NodeReport.Origin.restorationClass
    if let tag, let make = registry.registeredClass(tag)?.make {
      start = clock.now
      noteBeginning(of: index)
      object = withDecoder(for: index) { make(plan.paths[index], $0) }
      guard object != nil else { return fail(index, .refusedByClass(tag)) }
    }
    if object == nil, !plan.nodes[index].flags.contains(.byHand) {
      origin = .delegate
      if asksDelegate, delegate != nil { start = clock.now }
      object = askDelegate(index)
      if object == nil {
        origin = .existing
        object = existingChild(at: index)
      }
      if object == nil {
        origin = .blueprint
        if let make = plan.paths[index].last.flatMap({ registry.blueprint($0) }) {
          start = start ?? clock.now
          noteBeginning(of: index)
          object = withDecoder(for: index) { make(plan.paths[index], $0) }
        }
      }
    }
    guard let object else {
      return fail(index, tag.map { registry.registeredClass($0) == nil ? .unknownClass($0) : .noObject } ?? .noObject)
    }
    if origin == .existing || existingChild(at: index) === object { existing[index] = true }
    guard admit(object, at: index, origin: origin) else { return }
    if let start { outcomes.add(clock.now - start, at: index) }
  }

  /// The second rung of the ladder (R2.4), left out once the delegate turns out to make no controllers at all.
  private func askDelegate(_ index: Int) -> (any RestorableController)? {
    guard asksDelegate, let delegate else { return nil }
    noteBeginning(of: index)
    return withDecoder(for: index) { coder in
      defer { asksDelegate = coder.delegateWithoutMaker != ObjectIdentifier(delegate) }
      return delegate.makeController(at: plan.paths[index], coder: coder)
    }
  }

  private func existingChild(at index: Int) -> (any RestorableController)? {
    guard let parent = plan.nodes[index].parent, let container = objects.controller(at: parent),
      let identifier = plan.paths[index].last
    else { return nil }
    if let table = childTables[parent] { return table.child(identifier) }
    noteBeginning(of: parent)
    guard plan.nodes[parent].childCount > 8 else {
      return container.restorationChildren.first { $0.restorationIdentifier == identifier }
    }
    let table = ChildTable(childrenOf: container)
    childTables[parent] = table
    return table.child(identifier)
  }

  // MARK: - Views

  private func view(at index: Int) -> (any RestorableView)? {
    guard let parent = plan.nodes[index].parent, let owner = objects.controller(at: parent) else {
      if let parent = plan.nodes[index].parent, !outcomes.isRestored(parent) { fail(index, .parentNotRestored) }
      return nil
    }
    let table = viewTables[parent] ?? ChildTable(owner.restorationViews) { $0.restorationIdentifier }
    viewTables[parent] = table
    let view = plan.paths[index].last.flatMap { table.child($0) }
    if view == nil { fail(index, .noObject) }
    return view
  }

  /// Views that a container made only when its children came.
  func findViews(of index: Int) {
    viewTables[index] = nil
    for child in plan.children(of: index) where plan.nodes[child].kind == .view && object(at: child) == nil {
      outcomes.clear(child)
      meet(child)
    }
  }

  // MARK: - Accepting

  /// Checks class and model of an object for a node, and accepts it.
  private func admit(_ object: any RestorableObject, at index: Int, origin: NodeReport.Origin) -> Bool {
    if let controller = object as? any RestorableController { return admit(controller, at: index, origin: origin) }
    if let reason = classMismatch(of: object, at: index) {
      fail(index, reason)
      return false
    }
    objects.hold(object, at: index)
    outcomes.restore(index, origin)
    noteTag(at: index)
    return true
  }

  /// Checks class and model of a controller for a node, and accepts it.
  ///
  /// - Returns: False also when the controller was given what was kept for it, instead.
  func admit(_ controller: any RestorableController, at index: Int, origin: NodeReport.Origin) -> Bool {
    if let reason = mismatch(of: controller, at: index) {
      if !bringBack(to: controller, at: index, origin) {
        fail(index, reason)
        let waiting = waitingVersions(for: controller, at: index)
        if !waiting.isEmpty { outcomes.add(.keptState(versions: waiting), at: index) }
      }
      return false
    }
    if let other = takePlace(controller, index, origin) {
      fail(index, .objectTaken(by: plan.paths[other]))
      return false
    }
    objects.hold(controller, at: index)
    outcomes.restore(index, origin)
    noteTag(at: index)
    // What was there already was found by its identifier.
    if origin != .existing || plan.nodes[index].kind != .controller,
      let identifier = controller.restorationIdentifier, identifier != plan.paths[index].last
    {
      outcomes.add(.identifierDiffers(found: identifier.rawValue), at: index)
    }
    return true
  }

  /// Makes a place an object's, unless it has one that was met with it; returns that.
  ///
  /// Objects that exist have one each, as they were found below one parent each: nothing is noted until one was made.
  private func takePlace(
    _ controller: any RestorableController, _ index: Int, _ origin: NodeReport.Origin
  ) -> Int? {
    if takenPlaces.isEmpty {
      guard origin != .existing, origin != .registration else { return nil }
      takenPlaces.reserveCapacity(meeting.count)
      for other in meeting where other != index {
        if let object = objects.controller(at: other) { takenPlaces[ObjectIdentifier(object)] = other }
      }
    }
    let taken = takenPlaces[ObjectIdentifier(controller)]
    if let taken, taken != index { return taken }
    takenPlaces[ObjectIdentifier(controller)] = index
    return nil
  }

  /// Why a node's state is not the object's; nil when class and model fit.
  func mismatch(of object: any RestorableObject, at index: Int) -> NotRestoredReason? {
    if let controller = object as? any RestorableController { return mismatch(of: controller, at: index) }
    return classMismatch(of: object, at: index)
  }

  /// Why a node's state is not the controller's; nil when class and model fit.
  func mismatch(of controller: any RestorableController, at index: Int) -> NotRestoredReason? {
    if let reason = classMismatch(of: controller, at: index) { return reason }
    if let recorded = plan.details(of: index).model, let found = controller.restorationModelIdentifier,
      recorded != found
    {
      return .modelMismatch(recorded: recorded, found: found)
    }
    return nil
  }

  private func classMismatch(of object: any RestorableObject, at index: Int) -> NotRestoredReason? {
    guard let tag = plan.tag(of: index), !registry.accepts(object, recorded: tag) else { return nil }
    return .classMismatch(recorded: tag, found: "\(type(of: object))")
  }

  func noteTag(at index: Int) {
    guard let tag = plan.tag(of: index), registry.registeredClass(tag) == nil else { return }
    outcomes.add(.unregisteredClass(tag), at: index)
  }
}
