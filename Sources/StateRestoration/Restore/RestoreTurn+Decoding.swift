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
      if !plan.isPlain { takeInRows(index, object) }
    }
  }

  /// Present rows of a place with nothing but *first* records become one with the row of which a record was given that is not.
  ///
  /// Those of the object's model, or of none: the rows of other models are somebody else's. Their records go that it could have
  /// been given, but for one that is the oldest of all: that is superseded. An object that can join is given them at the next launch.
  private func takeInRows(_ index: Int, _ object: any RestorableObject) {
    let lead = plan.lead(of: index)
    // One that has its state already is given none.
    guard let others = plan.others[lead], !plan.records(of: index).isEmpty, !request.edits.isReadable(object) else {
      return
    }
    var gift: CaptureBatch.Gift
    switch progress[index].gift {
    case .nothing: return
    case .own: gift = CaptureBatch.Gift(row: plan.nodes[index].id, record: plan.nodes[index].id)
    case .records(let records): gift = records
    }
    guard let given = gift.record.flatMap({ recordPlaces[$0] }), !plan.flags(of: given).contains(.first) else { return }
    let asker = request.registry.asker(object)
    let model = asker.identity.model ?? plan.identity(of: index).model
    let rows = ([lead] + others).filter { row in
      guard row != index, plan.nodes[row].id != gift.brought, !isAbsent(row), !hasObject(at: row),
        !progress[row].isSpent,
        progress[row].reason?.deletesState != true
      else { return false }
      let identity = plan.identity(of: row)
      return asker.mismatch(with: identity) == nil && (identity.model == nil || identity.model == model)
        && plan.records(of: row).allSatisfy { plan.flags(of: $0).contains(.first) }
    }
    guard !rows.isEmpty else { return }
    gift.rows = rows.map { plan.nodes[$0].id }
    let incoming = rows.flatMap { plan.records(of: $0) }
    let oldest = (incoming + plan.records(of: index)).min { plan.save(of: $0) < plan.save(of: $1) }
    let canJoin = object is any MergingObject
    for record in incoming where !canJoin && plan.version(of: record) <= asker.version && !isQuarantined(record) {
      if record == oldest {
        gift.superseded.append(plan.id(of: record))
      } else {
        gift.first.append(plan.id(of: record))
      }
    }
    progress[index].gift = .records(gift)
    if !gift.superseded.isEmpty {
      progress[index].remarks.removeAll(where: \.isConflict)
      progress[index].remarks.append(.superseded(gift.superseded.count))
    }
    for row in rows {
      spend(row..<row + 1)
      progress[row].forgetResult()
    }
  }

  private func decode(_ index: Int, _ object: any RestorableObject, _ resolve: @escaping RestorationDecoder.Resolver) {
    if isEdited(object) { return keep(index, object) }
    guard let candidates = progress[index].candidates else {
      // One record at most, as nearly always.
      if plan.nodes[index].flags.contains(.shed) {
        progress[index].gift = .own
        return progress[index].reject(.shed)
      }
      do throws(RestorationError) {
        try apply(RestorePlan.RecordPlace(row: index), of: index, to: object, resolve)
        progress[index].gift = .own
      } catch {
        reject(index, RestorePlan.RecordPlace(row: index), of: object, error)
      }
      return
    }
    give(candidates, of: index, to: object, resolve)
  }

  /// The table *Give*, when a row has several records: the newest that decodes; older ones are superseded, or joined.
  private func give(
    _ candidates: [RestorePlan.RecordPlace], of index: Int, to object: any RestorableObject,
    _ resolve: @escaping RestorationDecoder.Resolver
  ) {
    // One that joins is given all, those that came by themselves as well.
    let canJoin = object is any MergingObject
    let candidates = canJoin ? candidates.sorted { plan.save(of: $0) > plan.save(of: $1) } : candidates
    let entry = object as? ScopeEntry
    defer { entry?.older = [] }
    for (position, record) in candidates.enumerated() {
      if let entry {
        let older = candidates[(position + 1)...].filter { !isFirst($0, of: index) }
        entry.older = older.compactMap { scopeValue(of: $0) }
      }
      do throws(RestorationError) {
        try apply(record, of: index, to: object, resolve)
      } catch {
        if progress[index].isRestored {
          reject(index, record, of: object, error)
        } else {
          request.log.log(.warning, "\(plan.paths[index]): an older record can't be decoded either: \(error)")
        }
        continue
      }
      // Of others *first* records go once another one is given.
      let rest = candidates[(position + 1)...]
      let older = rest.filter { canJoin || !isFirst($0, of: index) }
      var gift = CaptureBatch.Gift(row: plan.nodes[index].id, record: plan.id(of: record))
      gift.brought = takeRowElsewhere(candidates, than: index)
      if !canJoin { gift.first = rest.filter { isFirst($0, of: index) }.map { plan.id(of: $0) } }
      if position > 0 { progress[index].remarks.append(.olderRecordGiven) }
      gift.joined = join(index, object, with: older).map { plan.id(of: $0) }
      if !canJoin, !older.isEmpty {
        gift.superseded = older.map { plan.id(of: $0) }
        progress[index].remarks.append(.superseded(older.count))
      }
      progress[index].gift = .records(gift)
      return
    }
  }

  private func scopeValue(of record: RestorePlan.RecordPlace) -> ScopeValue? {
    let decoder = makeDecoder(of: record)
    defer { decoder.finish() }
    return try? decoder.takeScopeValue()
  }

  /// Says that the record that an object was given turned out to be none that it can read, when its type became known.
  ///
  /// - Parameter isOlderGiven: Whether the object has the value of an older record instead.
  func noteLateRejection(_ error: RestorationError, isOlderGiven: Bool, at index: Int) {
    resultsBeforeRejection[index] = progress[index]
    progress[index].reject(.decodingFailed(error.description))
    guard isOlderGiven else { return }
    // One of those that wait is given.
    var count = -1
    for case .superseded(let before) in progress[index].remarks { count += before }
    progress[index].remarks.removeAll(where: \.isConflict)
    if count > 0 { progress[index].remarks.append(.superseded(count)) }
    progress[index].remarks.append(.olderRecordGiven)
  }

  /// Says that an object can read the record after all.
  func noteLateSuccess(at index: Int) {
    guard let before = resultsBeforeRejection.removeValue(forKey: index) else { return }
    progress[index].takeResult(of: before)
  }

  /// Whether a record is *first* among those that a row's object can be given: its own one may lie in another row.
  private func isFirst(_ record: RestorePlan.RecordPlace, of index: Int) -> Bool {
    record.row == index ? plan.isFirst(record) : plan.flags(of: record).contains(.first)
  }

  /// The row in which an object has written before, where that is another one than the row that was found for it: the two become
  /// one.
  private func takeRowElsewhere(_ candidates: [RestorePlan.RecordPlace], than index: Int) -> NodeID? {
    guard let row = candidates.first(where: { $0.row != index })?.row else { return nil }
    spend(row..<row + 1)
    progress[row].forgetResult()
    return plan.nodes[row].id
  }

  /// An object that was edited keeps what it has, and what it could have been given is superseded, or joined.
  private func keep(_ index: Int, _ object: any RestorableObject) {
    progress[index].reject(.touchedMeanwhile)
    let own = request.edits.record(of: object)
    let candidates = progress[index].candidates ?? plan.records(of: index)
    let canJoin = object is any MergingObject
    let others = candidates.filter { plan.id(of: $0) != own && (canJoin || !isFirst($0, of: index)) }
    let joined = join(index, object, with: others)
    // Where it came late, the table knows its record.
    guard own != nil || isKept(object) else { return }
    var gift = CaptureBatch.Gift(row: plan.nodes[index].id, record: own)
    gift.brought = takeRowElsewhere(candidates, than: index)
    gift.joined = joined.map { plan.id(of: $0) }
    if !canJoin, !others.isEmpty {
      gift.superseded = others.map { plan.id(of: $0) }
      progress[index].remarks.append(.superseded(others.count))
    }
    progress[index].gift = .records(gift)
  }

  private func reject(
    _ index: Int, _ record: RestorePlan.RecordPlace, of object: any RestorableObject, _ error: RestorationError
  ) {
    progress[index].reject(
      error.reason(stored: plan.version(of: record), known: classPlan(of: object).version(of: object)))
  }

  /// Has an object join what it has with other records of its row; the next save has the joined state.
  ///
  /// - Returns: The records that it joined; those that it can't decode stay unread.
  private func join(
    _ index: Int, _ object: any RestorableObject, with records: [RestorePlan.RecordPlace]
  ) -> [RestorePlan.RecordPlace] {
    guard !records.isEmpty, let object = object as? any MergingObject else { return [] }
    let records = records.sorted { plan.save(of: $0) < plan.save(of: $1) }
    let coders = records.map { makeDecoder(of: $0) }
    defer { for coder in coders { coder.finish() } }
    noteBeginning(of: index)
    let (joined, failures) = object.join(coders)
    for failure in failures {
      progress[index].remarks.append(.notJoined(failure.description))
      request.log.log(.warning, "\(plan.paths[index]): a stored state could not be joined: \(failure)")
    }
    guard !joined.isEmpty else { return [] }
    if !progress[index].isRestored { progress[index].restore(.existing) }
    progress[index].remarks.append(.joined)
    request.log.log(.info, "\(plan.paths[index]): joined the stored states")
    return joined.map { records[$0] }
  }

  /// Gives an object a record.
  private func apply(
    _ record: RestorePlan.RecordPlace, of index: Int, to object: any RestorableObject,
    _ resolve: @escaping RestorationDecoder.Resolver
  ) throws(RestorationError) {
    noteBeginning(of: index, record)
    let classPlan = classPlan(of: object)
    let version = progress[index].version ?? classPlan.version(of: object)
    let isSeen = classPlan.coding != nil || plan.version(of: record) != version
    let decoder = isSeen ? makeDecoder(of: record, resolve: resolve) : takeUnseenDecoder(of: record)
    defer { if !isSeen { lookups.unseenDecoder = decoder } }
    decoder.namesUnknownFields = isProbed(classPlan)
    if let from = try classPlan.apply(
      decoder, to: object, version, properties: classPlan.markedProperties(of: object))
    {
      progress[index].remarks.append(.migrated(from: from, to: version))
      progress[index].isChanged = true
    }
    let unread = decoder.unreadKeys
    if !unread.isEmpty { progress[index].remarks.append(.unreadKeys(unread)) }
    if !unread.isEmpty || !decoder.unresolvedKeys.isEmpty { progress[index].isChanged = true }
    for key in decoder.unresolvedKeys { progress[index].remarks.append(.unresolvedReference(key: key)) }
  }

  /// The plan of an object's class, mostly that of the object before.
  func classPlan(of object: any RestorableObject) -> ClassPlan {
    let type = type(of: object)
    if let last = lookups.lastClassPlan, ObjectIdentifier(last.type) == ObjectIdentifier(type) { return last }
    let plan = ClassPlan.plan(for: type)
    lookups.lastClassPlan = plan
    return plan
  }

  /// Whether an instance of a class is one of the first, whose values are looked at for fields that the class does not know.
  private func isProbed(_ plan: ClassPlan) -> Bool {
    let type = ObjectIdentifier(plan.type)
    if lookups.probedClass == type { return false }
    let count = lookups.probedCounts[type, default: 0]
    guard count < 8 else {
      lookups.probedClass = type
      return false
    }
    lookups.probedCounts[type] = count + 1
    return true
  }

  /// The restored object of a reference; nil when it was not restored.
  func resolve(_ reference: RestorationPath) -> (any RestorableObject)? {
    paths[reference].flatMap { object(at: $0) }
  }
}

extension RestorationError {
  /// The same failure as a report words it.
  fileprivate func reason(stored: StateVersion, known: StateVersion) -> RestorationReport.NotRestoredReason {
    switch code {
    case .newerVersion: .newerVersion(stored: stored, known: known)
    case .noMigration, .migrationFailed: .migrationFailed(description)
    default: .decodingFailed(description)
    }
  }
}
