internal import RestorationArchive

extension RestorationRun {
  /// Lets every object decode its state, parents first.
  func decode(in range: Range<Int>? = nil) {
    let indices = range ?? plan.nodes.indices
    for position in indices {
      let index = decodesInReverse ? indices.lowerBound + indices.upperBound - 1 - position : position
      guard let object = object(at: index), outcomes[index]?.isRestored == true else { continue }
      decode(index, object)
    }
  }

  private func decode(_ index: Int, _ object: any RestorableObject) {
    let node = plan.nodes[index]
    if let touched = touched[node.path]?.object, touched === object { return reject(index, .touchedMeanwhile) }
    let start = clock.now
    defer { if let before = outcomes[index]?.duration { outcomes[index]?.duration = before + (clock.now - start) } }
    if let kept = keptState(for: index, object) {
      noteBeginning(of: index)
      do throws(RestorationError) {
        try apply(kept.record, kept.attributes, to: object, index)
        reinstated[index] = kept
        return
      } catch {
        log.log(.warning, "\(node.path) still can't be given the state that is kept for it: \(error)")
      }
    }
    if let damage = node.damage { return reject(index, .damaged(damage)) }
    if node.attributes.flags.contains(.shed) { return reject(index, .shed) }
    guard node.byteCount > 0 else { return }
    noteBeginning(of: index)
    do throws(RestorationError) {
      try apply(node.record, node.attributes, to: object, index)
    } catch {
      reject(index, error.reason(stored: node.attributes.version, known: type(of: object).stateVersion))
    }
  }

  /// What is kept for a node because newer state took its place, when the program asks for it; the oldest, so that asking
  /// again goes through all of it.
  ///
  /// Not given by itself: what was saved last is what the user saw last. The report says what is there.
  private func keptState(for index: Int, _ object: any RestorableObject) -> RestorationPlan.Kept? {
    let node = plan.nodes[index]
    guard !plan.kept.isEmpty, let all = plan.kept[node.path.description] else { return nil }
    let known = ObjectBinding(object).version
    let model = (object as? any RestorableController)?.restorationModelIdentifier
    let fitting = all.filter { kept in
      if let tag = kept.attributes.classTag, !registry.accepts(object, recorded: tag) { return false }
      if let recorded = kept.attributes.model, let model, recorded != model { return false }
      return kept.attributes.version <= known
    }
    guard let oldest = fitting.first else { return nil }
    if retries(node.path) { return oldest }
    outcomes[index]?.findings.append(.keptState(versions: fitting.map(\.attributes.version)))
    return nil
  }

  private func apply(
    _ record: any StateRecord, _ attributes: RestorationArchive.Attributes, to object: any RestorableObject,
    _ index: Int
  ) throws(RestorationError) {
    let decoder = RestorationDecoder(
      record: record, path: plan.nodes[index].path, context: plan.context, storedVersion: attributes.version,
      modelIdentifier: attributes.model, resolve: { [self] in resolve($0) })
    let plan = ClassPlan.plan(for: type(of: object))
    if let from = try plan.apply(decoder, to: object, properties: plan.markedProperties(of: object)) {
      outcomes[index]?.findings.append(.migrated(from: from, to: plan.version))
    }
    let unread = decoder.unreadKeys
    if !unread.isEmpty { outcomes[index]?.findings.append(.unreadKeys(unread)) }
    for key in decoder.unresolvedKeys { outcomes[index]?.findings.append(.unresolvedReference(key: key)) }
  }

  /// Reports a node whose object stays but did not get its state.
  private func reject(_ index: Int, _ reason: NotRestoredReason) {
    outcomes[index]?.result = .notRestored(reason)
    log.log(.warning, "\(plan.nodes[index].path) was not given its state: \(reason)")
  }

  /// The restored object of a reference; nil when it was not restored.
  func resolve(_ reference: NodeReference) -> (any RestorableObject)? {
    switch reference {
    case .path(let path): paths[path].flatMap { object(at: $0) }
    case .node(let id): numbers[id].flatMap { object(at: $0) }
    }
  }
}
