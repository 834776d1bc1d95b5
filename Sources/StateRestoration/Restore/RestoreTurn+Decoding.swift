internal import RestorationArchive

extension RestoreTurn {
  /// Lets every object decode its state, parents first.
  func decode(in range: Range<Int>? = nil) {
    let indices = range ?? plan.nodes.indices
    let resolver: RestorationDecoder.Resolver = { [self] in resolve($0) }
    for position in indices {
      let index = request.decodesInReverse ? indices.lowerBound + indices.upperBound - 1 - position : position
      guard progress[index].isRestored, let object = object(at: index), !plan.nodes[index].isApplication else {
        continue
      }
      decode(index, object, resolver)
    }
  }

  private func decode(_ index: Int, _ object: any RestorableObject, _ resolve: @escaping RestorationDecoder.Resolver) {
    if isEdited(object) {
      progress[index].reject(.touchedMeanwhile)
      return join(index, object)
    }
    let node = plan.nodes[index]
    if node.flags.contains(.shed) { return progress[index].reject(.shed) }
    noteBeginning(of: index)
    do throws(RestorationError) {
      try apply(index, to: object, at: index, resolve)
      join(index, object)
    } catch {
      progress[index].reject(error.reason(stored: node.version, known: type(of: object).stateVersion))
      decodeOlder(than: index, object, resolve)
    }
  }

  /// Gives an object that could not decode its state the record of a variant of another identity that it can; the unreadable
  /// one stays in front until the object is edited.
  private func decodeOlder(
    than index: Int, _ object: any RestorableObject, _ resolve: @escaping RestorationDecoder.Resolver
  ) {
    let claimant = request.registry.claimant(object)
    for variant in plan.variants(behind: index) {
      guard !isSameIdentity(index, variant), isGiven(variant, to: claimant) else { continue }
      do throws(RestorationError) {
        try apply(variant, to: object, at: index, resolve)
        return progress[index].remarks.append(.wasDormant)
      } catch {
        request.log.log(.warning, "\(plan.paths[index]): an older variant can't be decoded either: \(error)")
      }
    }
  }

  /// Has an object join its state with what that has replaced, an edit made while locked; the next save has the joined state.
  private func join(_ index: Int, _ object: any RestorableObject) {
    guard let replaced = plan.replaced[index], let object = object as? any MergingController else { return }
    let claimant = request.registry.claimant(object)
    let coders = replaced.filter { isGiven($0, to: claimant) }.map { makeDecoder(of: $0) }
    defer { for coder in coders { coder.finish() } }
    noteBeginning(of: index)
    let (isJoined, failures) = object.join(coders)
    if isJoined { noteJoined(index) }
    for failure in failures {
      progress[index].remarks.append(.notJoined(failure.description))
      request.log.log(
        .warning, "\(plan.paths[index]): a stored state could not be joined with the typed one: \(failure)")
    }
  }

  /// Whether nothing stands against giving an object a variant's record.
  private func isGiven(_ variant: Int, to claimant: Claimant) -> Bool {
    let node = plan.nodes[variant]
    return obstacle(at: variant) == nil && !node.flags.contains(.shed)
      && Selection.verdict(
        on: .init(
          identity: plan.identity(of: variant), version: node.version,
          isDamaged: plan.details(of: variant).damage != nil),
        for: claimant) == .fits
  }

  /// Gives an object the record of a variant of its place.
  private func apply(
    _ variant: Int, to object: any RestorableObject, at index: Int, _ resolve: @escaping RestorationDecoder.Resolver
  ) throws(RestorationError) {
    let version = plan.nodes[variant].version
    let classPlan = classPlan(of: object)
    // Another object may be decoding, whose code gives this one its state.
    let outer = missesTarget
    missesTarget = false
    defer {
      if missesTarget { progress[index].awaitsTarget = true }
      missesTarget = outer
    }
    let isSeen = classPlan.coding != nil || version != classPlan.version
    let decoder =
      isSeen
      ? makeDecoder(of: variant, resolve: resolve)
      : takeUnseenDecoder(of: variant)
    defer { if !isSeen { lookups.unseenDecoder = decoder } }
    decoder.namesUnknownFields = isProbed(classPlan)
    if let from = try classPlan.apply(decoder, to: object, properties: classPlan.markedProperties(of: object)) {
      progress[index].remarks.append(.migrated(from: from, to: classPlan.version))
    }
    let unread = decoder.unreadKeys
    if !unread.isEmpty { progress[index].remarks.append(.unreadKeys(unread)) }
    for key in decoder.unresolvedKeys { progress[index].remarks.append(.unresolvedReference(key: key)) }
  }

  /// The plan of an object's class, mostly that of the object before.
  private func classPlan(of object: any RestorableObject) -> ClassPlan {
    let type = type(of: object)
    if let last = lookups.lastClassPlan, ObjectIdentifier(last.type) == ObjectIdentifier(type) { return last }
    let plan = ClassPlan.plan(for: type)
    lookups.lastClassPlan = plan
    return plan
  }

  /// Whether an instance of a class is one of the first, whose values are looked at for fields that the class does not know.
  private func isProbed(_ plan: ClassPlan) -> Bool {
    let count = lookups.probedCounts[ObjectIdentifier(plan.type), default: 0]
    guard count < 8 else { return false }
    lookups.probedCounts[ObjectIdentifier(plan.type)] = count + 1
    return true
  }

  /// The restored object of a reference; nil when it was not restored.
  func resolve(_ reference: RestorationPath) -> (any RestorableObject)? {
    guard let index = paths[reference] else { return nil }
    let object = object(at: index)
    if object == nil { missesTarget = true }
    return object
  }
}

extension RestorationError {
  /// The same failure as a report words it.
  fileprivate func reason(stored: StateVersion, known: StateVersion) -> NotRestoredReason {
    switch code {
    case .newerVersion: .newerVersion(stored: stored, known: known)
    case .noMigration, .migrationFailed: .migrationFailed(description)
    default: .decodingFailed(description)
    }
  }
}
