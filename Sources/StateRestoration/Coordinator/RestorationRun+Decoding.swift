internal import RestorationArchive

extension RestorationRun {
  /// Lets every object decode its state, parents first.
  func decode(in range: Range<Int>? = nil) {
    let indices = range ?? plan.nodes.indices
    let resolver: RestorationDecoder.Resolver = { [self] in resolve($0) }
    // The end of one node is the beginning of the next.
    var begun = clock.now
    for position in indices {
      let index = decodesInReverse ? indices.lowerBound + indices.upperBound - 1 - position : position
      guard outcomes.isRestored(index), let object = object(at: index) else { continue }
      decode(index, object, resolver)
      let ended = clock.now
      outcomes.add(ended - begun, at: index)
      begun = ended
    }
  }

  private func decode(_ index: Int, _ object: any RestorableObject, _ resolve: @escaping RestorationDecoder.Resolver) {
    if !touched.isEmpty, let touched = touched[plan.paths[index]]?.object, touched === object {
      return reject(index, .touchedMeanwhile)
    }
    if let kept = keptState(for: index, object) {
      reinstated[index] = kept
      noteBeginning(of: index)
      do throws(RestorationError) {
        let attributes = kept.attributes
        return try apply(kept.record, attributes.version, attributes.model, to: object, index, resolve)
      } catch {
        reinstated[index] = nil
        log.log(.warning, "\(plan.paths[index]) still can't be given the state that is kept for it: \(error)")
      }
    }
    let node = plan.nodes[index]
    let details = plan.details(of: index)
    if let damage = details.damage { return reject(index, .damaged(damage)) }
    if node.flags.contains(.shed) { return reject(index, .shed) }
    guard node.byteCount > 0 else { return }
    noteBeginning(of: index)
    do throws(RestorationError) {
      try apply(plan.record(of: index), node.version, details.model, to: object, index, resolve)
    } catch {
      reject(index, error.reason(stored: node.version, known: type(of: object).stateVersion))
    }
  }

  /// What is kept for a node because newer state took its place, when the program asks for it; the oldest, so that asking
  /// again goes through all of it.
  ///
  /// Not given by itself: what was saved last is what the user saw last. The report says what is there.
  private func keptState(for index: Int, _ object: any RestorableObject) -> RestorationPlan.Kept? {
    guard !plan.kept.isEmpty, let all = plan.kept[index] else { return nil }
    let known = ObjectBinding(object).version
    let model = (object as? any RestorableController)?.restorationModelIdentifier
    let fitting = all.filter { kept in
      guard kept.hasState else { return false }
      if let tag = kept.attributes.classTag, !registry.accepts(object, recorded: tag) { return false }
      if let recorded = kept.attributes.model, let model, recorded != model { return false }
      return kept.attributes.version <= known
    }
    guard !fitting.isEmpty else { return nil }
    if givesKept, let oldest = fitting.first, retries(plan.paths[index]) { return oldest }
    outcomes.add(.keptState(versions: fitting.map(\.attributes.version)), at: index)
    return nil
  }

  private func apply(
    _ record: any StateRecord, _ version: StateVersion, _ model: ModelIdentifier?, to object: any RestorableObject,
    _ index: Int, _ resolve: @escaping RestorationDecoder.Resolver
  ) throws(RestorationError) {
    let classPlan = classPlan(of: object)
    missesTarget = false
    defer { if missesTarget { awaitingTargets.insert(index) } }
    let isSeen = classPlan.coding != nil || version != classPlan.version
    let decoder =
      isSeen
      ? RestorationDecoder(
        record: record, path: plan.paths[index], context: plan.context, storedVersion: version, modelIdentifier: model,
        resolve: resolve)
      : takeUnseenDecoder(of: record, at: index, version: version, model: model)
    defer { if !isSeen { unseenDecoder = decoder } }
    if let from = try classPlan.apply(decoder, to: object, properties: classPlan.markedProperties(of: object)) {
      outcomes.add(.migrated(from: from, to: classPlan.version), at: index)
    }
    let unread = decoder.unreadKeys
    if !unread.isEmpty { outcomes.add(.unreadKeys(unread), at: index) }
    for key in decoder.unresolvedKeys { outcomes.add(.unresolvedReference(key: key), at: index) }
  }

  /// The plan of an object's class, mostly that of the object before.
  private func classPlan(of object: any RestorableObject) -> ClassPlan {
    let type = type(of: object)
    if let last = lastClassPlan, ObjectIdentifier(last.type) == ObjectIdentifier(type) { return last }
    let plan = ClassPlan.plan(for: type)
    lastClassPlan = plan
    return plan
  }

  /// Reports a node whose object stays but did not get its state.
  private func reject(_ index: Int, _ reason: NotRestoredReason) {
    outcomes.reject(index, reason)
    log.log(.warning, "\(plan.paths[index]) was not given its state: \(reason)")
  }

  /// The restored object of a reference; nil when it was not restored.
  func resolve(_ reference: NodeReference) -> (any RestorableObject)? {
    let index =
      switch reference {
      case .path(let path): paths[path]
      case .node(let id): numbers[id]
      }
    guard let index else { return nil }
    let object = object(at: index)
    if object == nil { missesTarget = true }
    return object
  }
}
