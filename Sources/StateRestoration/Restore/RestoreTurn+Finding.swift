internal import RestorationArchive

extension RestoreTurn {
  /// Finds the object at the top, or says why it is none.
  func meetRoot(_ index: Int, _ root: any RestorableController) {
    guard root.restorationIdentifier == plan.paths[index].last else { return fail(index, .noObject) }
    progress[index].existed = true
    select(root, ledBy: index, origin: .existing)
  }

  /// Finds or makes the object of a place, and gives it one of the place's variants.
  func meet(_ index: Int) {
    if let parent = plan.nodes[index].parent, progress[parent].object == nil {
      if plan.nodes[index].kind != .view || !progress[parent].isRestored {
        fail(index, progress[parent].reason == .notAskedFor ? .notAskedFor : .parentNotRestored)
      }
      return
    }
    switch plan.nodes[index].kind {
    case .shared:
      guard let object = plan.paths[index].last.flatMap({ request.registry.sharedObject($0) }) else {
        return fail(index, .noObject)
      }
      select(object, ledBy: index, origin: .existing)
    case .view:
      guard let view = view(at: index) else {
        fail(index, .noObject)
        return meetOtherKind(existingChild(at: index), index)
      }
      select(view, ledBy: index, origin: .existing)
    case .controller:
      meetController(index)
      if progress[index].object == nil, awakened[index] == nil { meetOtherKind(view(at: index), index) }
    }
  }

  /// Gives an object of another kind than the leading variant of its place a dormant one, if one fits.
  private func meetOtherKind(_ object: @autoclosure () -> (any RestorableObject)?, _ lead: Int) {
    guard plan.dormants[lead] != nil, let object = object() else { return }
    progress[lead].existed = true
    select(object, ledBy: lead, origin: .existing)
  }

  // MARK: - The table Select

  /// Gives an object the first variant of its place that fits, newest first, and meets those below it.
  func select(_ object: any RestorableObject, ledBy lead: Int, origin: NodeReport.Origin) {
    let claimant = request.registry.claimant(object)
    var variants = plan.variants(ledBy: lead)
    if origin == .registration { asked.formUnion(variants) }
    // A left-out variant that is tried again goes before those in front of it.
    if variants.count > 1, request.retries(plan.paths[lead]) {
      variants = variants.filter { isMarkedLeftOut($0) } + variants.filter { !isMarkedLeftOut($0) }
    }
    var reasons: [Int: NotRestoredReason] = [:]
    let choice = Selection.choose(among: variants, tags: tags) { variant in
      // Another object was given it, or has newer values.
      if progress[variant].isSpent { return (plan.identity(of: variant), .refused(.otherModel)) }
      let isKnown = progress[variant].outcome != .undecided && progress[variant].reason?.isOfExtent != true
      let known = isKnown ? progress[variant].reason : obstacle(at: variant)
      let (verdict, reason) = verdict(on: variant, for: claimant, object, obstacle: known)
      if let reason {
        reasons[variant] = reason
        // That a dormant variant is not for the object is no news.
        if case .refused = verdict, variant == lead { fail(variant, reason) }
      }
      return (plan.identity(of: variant), verdict)
    }
    switch choice {
    case .owner(let position): admit(object, at: variants[position], ledBy: lead, origin)
    case .blank(over: let position?):
      // The object's own, though it can't read it: its children are below it.
      let own = variants[position]
      admit(object, at: own, ledBy: lead, origin)
      if progress[own].isRestored, let reason = reasons[own] { progress[own].reject(reason) }
    case .blank(over: nil): break
    }
  }

  /// Whether two variants are of one class and one model.
  func isSameIdentity(_ first: Int, _ second: Int) -> Bool {
    tags.isSameIdentity(plan.identity(of: first), plan.identity(of: second))
  }

  private func verdict(
    on index: Int, for claimant: Claimant, _ object: any RestorableObject, obstacle: NotRestoredReason?
  ) -> (Selection.Verdict, NotRestoredReason?) {
    if let obstacle { return (.refused(obstacle.deletesState ? .deleted : .leftOut), obstacle) }
    let details = plan.details(of: index)
    let withheld = reasonToWithhold(index, from: object)
    let verdict = Selection.verdict(
      on: .init(
        identity: plan.identity(of: index), version: plan.nodes[index].version, isDamaged: details.damage != nil,
        isWithheld: withheld != nil),
      for: claimant)
    switch verdict {
    case .fits: return (verdict, nil)
    case .unreadable(.newerVersion):
      return (verdict, .newerVersion(stored: plan.nodes[index].version, known: claimant.version))
    case .unreadable(.damaged): return (verdict, .damaged(details.damage ?? ""))
    case .unreadable(.withheld): return (verdict, withheld)
    case .refused(.otherModel):
      return (verdict, .modelMismatch(recorded: details.model, found: claimant.identity.model))
    case .refused:
      let tag = plan.tag(of: index) ?? ""
      return (verdict, .classMismatch(recorded: tag, found: "\(type(of: object))"))
    }
  }

  /// Makes a variant an object's, unless the object has a place already, and meets those below it.
  private func admit(
    _ object: any RestorableObject, at index: Int, ledBy lead: Int, _ origin: NodeReport.Origin
  ) {
    if let controller = object as? any RestorableController {
      if let other = takePlace(controller, index, origin) { return fail(index, .objectTaken(by: plan.paths[other])) }
      progress[index].holding = .controller(controller)
    } else {
      progress[index].holding = .other(object)
    }
    progress[index].restore(origin)
    progress[index].existed = progress[lead].existed
    if index != lead {
      awaken(index, insteadOf: lead)
    }
    noteFacts(of: object, at: index, origin)
    // The walk goes on below a leading variant by itself, and never goes below a dormant one.
    if plan.nodes[index].isDormant || origin == .registration { meetAll(in: index + 1..<plan.nodes[index].end, meet) }
  }

  /// Notes that an object was given a dormant variant of its place, which paths lead to from now on.
  private func awaken(_ index: Int, insteadOf lead: Int) {
    awakened[lead] = index
    progress[index].remarks.append(.wasDormant)
    for other in lead..<plan.nodes[lead].end { paths[plan.paths[other]] = nil }
    for other in index..<plan.nodes[index].end { paths[plan.paths[other]] = other }
  }

  private func noteFacts(of object: any RestorableObject, at index: Int, _ origin: NodeReport.Origin) {
    if let tag = plan.tag(of: index), request.registry.registeredClass(tag) == nil {
      progress[index].remarks.append(.unregisteredClass(tag))
    }
    // An object that was there already was found by its identifier.
    guard origin != .existing, let controller = object as? any RestorableController,
      let identifier = controller.restorationIdentifier, identifier != plan.paths[index].last
    else { return }
    progress[index].remarks.append(.identifierDiffers(found: identifier.rawValue))
  }

  /// The reason against a variant, for any object.
  func obstacle(at index: Int) -> NotRestoredReason? {
    if isLeftOut(index) { return .leftOutAfterCrash }
    guard let tag = plan.tag(of: index), let registered = request.registry.registeredClass(tag) else { return nil }
    guard registered.freshFor != nil || registered.onlyIf != nil else { return nil }
    let details = plan.details(of: index)
    if let limit = registered.freshFor,
      let reason = Freshness.expiry(of: details.savedAt ?? plan.context.timeSaved, limit: limit, now: request.now)
    {
      return reason
    }
    if let model = details.model, registered.onlyIf?(model) == false { return .modelGone(model) }
    return nil
  }

  /// Whether restoring died at a node, and nobody asks for another try.
  func isLeftOut(_ index: Int) -> Bool {
    guard isMarkedLeftOut(index) else { return false }
    return plan.nodes[index].id == request.crashNode || !request.retries(plan.paths[index])
  }

  private func isMarkedLeftOut(_ index: Int) -> Bool {
    plan.nodes[index].flags.contains(.leftOut) || plan.nodes[index].id == request.crashNode
  }

  // MARK: - Controllers

  /// Goes down the ladder, by the newest variant against which nothing stands.
  private func meetController(_ lead: Int) {
    // Nobody is made for a dormant variant.
    guard !plan.nodes[lead].isDormant else {
      guard let object = existingChild(at: lead) else { return fail(lead, .dormant) }
      progress[lead].existed = true
      return select(object, ledBy: lead, origin: .existing)
    }
    if let reason = obstacle(at: lead) ?? reasonToWithhold(lead) {
      fail(lead, reason)
      guard let object = existingChild(at: lead) else { return }
      progress[lead].existed = true
      return select(object, ledBy: lead, origin: .existing)
    }
    guard let (object, origin) = makeController(lead) else { return }
    if origin == .existing || existingChild(at: lead) === object { progress[lead].existed = true }
    if !progress[lead].existed, let reason = reasonToWithhold(lead, from: object) { return fail(lead, reason) }
    select(object, ledBy: lead, origin: origin)
  }

  private func makeController(_ index: Int) -> (any RestorableController, NodeReport.Origin)? {
    // Nobody is made for an object that came or was edited while locked, nor for one above it: that is in use.
    if !request.edits.inUse.isEmpty, let object = existingChild(at: index),
      request.edits.inUse.contains(ObjectIdentifier(object))
    {
      return (object, .existing)
    }
    if plan.nodes[index].flags.contains(.byHand), let identifier = plan.paths[index].last,
      let parent = plan.nodes[index].parent.flatMap({ progress[$0].object }),
      let object = request.edits.kept(identifier, by: parent)
    {
      return (object, .existing)
    }
    let tag = plan.tag(of: index)
    if let tag, let make = request.registry.registeredClass(tag)?.make {
      noteBeginning(of: index)
      guard let made = withDecoder(for: index, { make(plan.paths[index], $0) }) else {
        fail(index, .refusedByClass(tag))
        return nil
      }
      return (made, .restorationClass)
    }
    if !plan.nodes[index].flags.contains(.byHand) {
      if let made = askDelegate(index) { return (made, .delegate) }
      if let object = existingChild(at: index) { return (object, .existing) }
      if let make = plan.paths[index].last.flatMap({ request.registry.blueprint($0) }) {
        noteBeginning(of: index)
        if let made = withDecoder(for: index, { make(plan.paths[index], $0) }) { return (made, .blueprint) }
      }
    }
    // What a scope has comes when it is asked for.
    if tag == nil, let parent = plan.nodes[index].parent, progress[parent].object is RestorationScope {
      fail(index, .notAskedFor)
      return nil
    }
    fail(index, tag.map { request.registry.registeredClass($0) == nil ? .unknownClass($0) : .noObject } ?? .noObject)
    return nil
  }

  /// The second rung of the ladder, left out once the delegate turns out to make no controllers at all.
  private func askDelegate(_ index: Int) -> (any RestorableController)? {
    guard lookups.asksDelegate, let delegate = request.delegate else { return nil }
    noteBeginning(of: index)
    return withDecoder(for: index) { coder in
      defer { lookups.asksDelegate = coder.delegateWithoutMaker != ObjectIdentifier(delegate) }
      return delegate.makeController(at: plan.paths[index], coder: coder)
    }
  }

  private func existingChild(at index: Int) -> (any RestorableController)? {
    guard let parent = plan.nodes[index].parent, let container = progress[parent].controller,
      let identifier = plan.paths[index].last
    else { return nil }
    if let table = lookups.childTables[parent] { return table.child(identifier) }
    noteBeginning(of: parent)
    guard plan.nodes[parent].childCount > 8 else {
      return container.restorationChildren.first { $0.restorationIdentifier == identifier }
    }
    let table = ChildTable(childrenOf: container)
    lookups.childTables[parent] = table
    return table.child(identifier)
  }

  // MARK: - Views

  private func view(at index: Int) -> (any RestorableView)? {
    guard let parent = plan.nodes[index].parent, let owner = progress[parent].controller else { return nil }
    let table = lookups.viewTables[parent] ?? ChildTable(owner.restorationViews) { $0.restorationIdentifier }
    lookups.viewTables[parent] = table
    return plan.paths[index].last.flatMap { table.child($0) }
  }

  /// Views that a container made only when its children came.
  func findViews(of index: Int) {
    lookups.viewTables[index] = nil
    for child in plan.children(of: index) where plan.nodes[child].kind == .view && object(at: child) == nil {
      progress[child].forgetResult()
      meet(child)
    }
  }

  // MARK: - Places

  /// Makes a place an object's, unless it has one that was met with it; returns that.
  ///
  /// Objects that exist have one each, as they were found below one parent each: nothing is noted until one was made.
  private func takePlace(
    _ controller: any RestorableController, _ index: Int, _ origin: NodeReport.Origin
  ) -> Int? {
    if lookups.takenPlaces.isEmpty, origin == .existing || origin == .registration { return nil }
    if let taken = self.index(of: controller), taken != index { return taken }
    lookups.takenPlaces[ObjectIdentifier(controller)] = index
    return nil
  }

  /// Frees the place of a controller that has left the hierarchy: it may be given another one.
  func freePlace(of object: any RestorableObject) {
    guard let controller = object as? any RestorableController, let index = index(of: controller) else { return }
    progress[index].holding = .nothing
    lookups.takenPlaces[ObjectIdentifier(controller)] = nil
  }

  /// The index of the node that a controller was given; nil when it was given none.
  func index(of controller: any RestorableController) -> Int? {
    if lookups.takenPlaces.isEmpty {
      for index in plan.nodes.indices {
        if let object = progress[index].controller { lookups.takenPlaces[ObjectIdentifier(object)] = index }
      }
    }
    // One that has died may have left its address to another.
    return lookups.takenPlaces[ObjectIdentifier(controller)].flatMap {
      progress[$0].controller === controller ? $0 : nil
    }
  }
}
