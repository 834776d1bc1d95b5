internal import RestorationArchive

extension RestoreTurn {
  /// Finds the object at the top, or says why it is none.
  func meetRoot(_ index: Int, _ root: any RestorableController) {
    if plan.nodes[index].isHole { return failUnread(index) }
    guard root.restoration.identifier == plan.paths[index].last else { return fail(index, .noObject) }
    progress[index].existed = true
    select(root, ledBy: index, origin: .existing, as: root)
  }

  /// Says why a row is unread: its class has no key, or its part is damaged.
  private func failUnread(_ index: Int) {
    fail(index, request.damagedParts[plan.nodes[index].id.part].map { .damaged($0) } ?? .locked)
  }

  /// Finds or makes the object of a place, and finds one of the place's rows for it.
  func meet(_ index: Int) {
    if plan.nodes[index].isHole { return failUnread(index) }
    if let parent = plan.nodes[index].parent, !hasObject(at: parent) {
      if plan.nodes[index].kind != .view || !progress[parent].isRestored {
        fail(index, .parentNotRestored)
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
      if !hasObject(at: index), chosen[index] == nil { meetOtherKind(view(at: index), index) }
    }
  }

  /// Finds a row for an object of another kind than that of the leading row of its place.
  private func meetOtherKind(_ object: @autoclosure () -> (any RestorableObject)?, _ lead: Int) {
    guard plan.others[lead] != nil, let object = object() else { return }
    progress[lead].existed = true
    select(object, ledBy: lead, origin: .existing)
  }

  // MARK: - The tables Find and Give

  /// Finds a row for an object among those of its place, and meets those below it.
  ///
  /// - Parameter controller: The object, when it is known to be a controller: the runtime need not be asked again.
  func select(
    _ object: any RestorableObject, ledBy lead: Int, origin: NodeReport.Origin,
    as controller: (any RestorableController)? = nil
  ) {
    if origin == .registration { asked.formUnion(plan.rows(ledBy: lead)) }
    noteBeginning(of: lead, object: object)
    if plan.leadsAlone(lead), plan.hasOneRecord(lead), !progress[lead].isSpent, request.edits.record(of: object) == nil
    {
      let (identity, version) = request.registry.identity(of: object)
      if identity == plan.identity(of: lead) { return takeOnlyRow(lead, object, controller, version, origin) }
    }
    let rows = plan.rows(ledBy: lead)
    if let own = ownRow(of: object, among: rows) {
      progress[own].candidates = gift(of: own, for: request.registry.asker(object), object).candidates
      return admit(object, controller, at: own, ledBy: lead, origin)
    }
    let asker = request.registry.asker(object)
    let isKept = isKept(object)
    for row in fitting(rows, asker, object) where !progress[row].isSpent && !heldRows.contains(row) {
      // Its own record is in the row of exactly its key, or in that which is about to get its model.
      if isKept, plan.identity(of: row) != asker.identity, hasRowNow?(object, plan.nodes[row].id) != true { continue }
      switch refusal(of: row, to: object) {
      case .gone?: continue
      case .closed?: return
      case nil: break
      }
      let (found, reason) = gift(of: row, for: asker, object)
      let own = recordElsewhere(of: object, than: row)
      let candidates = found + [own].compactMap(\.self)
      if own != nil || !plan.hasOneRecord(row) { progress[row].candidates = candidates }
      admit(object, controller, at: row, ledBy: lead, origin)
      if let reason, candidates.isEmpty, progress[row].isRestored { progress[row].reject(reason) }
      return
    }
    if progress[lead].outcome == .undecided { fail(lead, mismatch(of: object, with: lead)) }
  }

  /// Why nobody has a row; nil when somebody has.
  func reason(_ row: Int) -> RestorationReport.NotRestoredReason? { progress[row].isSpent ? nil : progress[row].reason }

  /// Why no row of a place fits an object.
  func mismatch(of object: any RestorableObject, with lead: Int) -> RestorationReport.NotRestoredReason {
    if isKept(object) { return .touchedMeanwhile }
    let asker = request.registry.asker(object)
    if asker.mismatch(with: plan.identity(of: lead)) == .otherModel {
      return .modelMismatch(recorded: plan.details(of: lead).model, found: asker.identity.model)
    }
    return .classMismatch(recorded: plan.tag(of: lead) ?? "", found: "\(type(of: object))")
  }

  /// Gives an object the only row of its place, which has its key and one record at most: nearly all are like that.
  private func takeOnlyRow(
    _ row: Int, _ object: any RestorableObject, _ controller: (any RestorableController)?, _ version: StateVersion,
    _ origin: NodeReport.Origin
  ) {
    guard refusal(of: row, to: object) == nil else { return }
    admit(object, controller, at: row, ledBy: row, origin)
    progress[row].version = version
    guard progress[row].isRestored, let reason = obstacle(row, version, object) else { return }
    progress[row].candidates = []
    progress[row].reject(reason)
  }

  /// Why a row is given to nobody.
  private enum Refusal {
    /// It is expired, or its model is gone: other rows of the place count.
    case gone
    /// Restoring died there, and nobody asks for another try.
    case closed
  }

  /// Whether a row is given to nobody, which is noted.
  private func refusal(of row: Int, to object: any RestorableObject) -> Refusal? {
    // An object's own records are not gone, and writing them has opened their row.
    if isKept(object), !isClosed(row) || hasRow(object, row) { return nil }
    if !hasWritten(object, in: row) {
      if progress[row].reason?.deletesState == true { return .gone }
      if let reason = end(of: row) {
        fail(row, reason)
        return .gone
      }
    }
    guard isClosed(row) else { return nil }
    shutOut.append((WeakObject(object: object), row))
    fail(row, .leftOutAfterCrash)
    return .closed
  }

  /// Whether a late object that keeps its values has a row already.
  private func hasRow(_ object: any RestorableObject, _ row: Int) -> Bool {
    hasRowNow?(object, plan.nodes[row].id) ?? true
  }

  /// Why the only record of a row can't be given; nil when it can, or when there is none.
  private func obstacle(_ row: Int, _ version: StateVersion, _ object: any RestorableObject) -> RestorationReport
    .NotRestoredReason?
  {
    guard plan.nodes[row].byteCount > 0 else { return nil }
    let record = RestorePlan.RecordPlace(row: row)
    return obstacle(
      of: record, among: [record], version, object, isRetried: request.retries(plan.paths[row]),
      withheld: reasonToWithhold(row, from: object))?.reason
  }

  /// Why a record of a row can't be given; nil when it can.
  private func obstacle(
    of record: RestorePlan.RecordPlace, among records: @autoclosure () -> [RestorePlan.RecordPlace],
    _ version: StateVersion, _ object: any RestorableObject, isRetried: @autoclosure () -> Bool,
    withheld: @autoclosure () -> RestorationReport.NotRestoredReason?
  ) -> (obstacle: Give.Obstacle, reason: RestorationReport.NotRestoredReason)? {
    if isQuarantined(record), !(mayRetry(record, among: records(), object) && isRetried()) {
      return (.quarantined, .leftOutAfterCrash)
    }
    let stored = plan.version(of: record)
    if stored > version { return (.newerVersion, .newerVersion(stored: stored, known: version)) }
    if let damage = plan.damage(of: record) { return (.damaged, .damaged(damage)) }
    if let withheld = withheld() { return (.notAskedFor, withheld) }
    return plan.flags(of: record).contains(.shed) ? (.shed, .shed) : nil
  }

  /// The row that has what an object wrote in this run, and that nobody else finds.
  ///
  /// Nil where that is *first* and the object has not been edited: another row may have what it is given instead.
  private func ownRow(of object: any RestorableObject, among rows: [Int]) -> Int? {
    guard let number = request.edits.record(of: object) else { return nil }
    for row in rows {
      guard let record = plan.records(of: row).first(where: { plan.id(of: $0) == number }) else { continue }
      let isKept = !plan.flags(of: record).contains(.first) || isEdited(object) || object is any MergingObject
      return isKept ? row : nil
    }
    return nil
  }

  /// The record that an object has written while the device was locked, where its row was another one than that which is found for it.
  private func recordElsewhere(of object: any RestorableObject, than row: Int) -> RestorePlan.RecordPlace? {
    guard keepsLate == nil, let number = request.edits.record(of: object), let record = recordPlaces[number],
      record.row != row
    else { return nil }
    return record
  }

  /// Whether an object has written a record of a row in this run, while the device was locked.
  private func hasWritten(_ object: any RestorableObject, in row: Int) -> Bool {
    guard let number = request.edits.record(of: object) else { return false }
    return plan.records(of: row).contains { plan.id(of: $0) == number }
  }

  private func fitting(_ rows: [Int], _ asker: Asker, _ object: any RestorableObject) -> [Int] {
    guard rows.count > 1 else {
      return Find.fits(plan.identity(of: rows[0]), isAbsent: isAbsent(rows[0]), asker) ? rows : []
    }
    let facts = rows.map { row in
      let candidates = isClosed(row) ? [] : gift(of: row, for: asker, object).candidates
      return findRow(at: row, canBeGiven: candidates.contains { !plan.flags(of: $0).contains(.first) })
    }
    return Find.order(facts, for: asker).map { rows[$0] }
  }

  /// The records of a row that an object can be given, the newest first, and why there is none.
  private func gift(
    of row: Int, for asker: Asker, _ object: any RestorableObject
  ) -> (candidates: [RestorePlan.RecordPlace], reason: RestorationReport.NotRestoredReason?) {
    let records = plan.records(of: row)
    guard !records.isEmpty else { return ([], nil) }
    let isRetried = isMarkedQuarantined(row) && request.retries(plan.paths[row])
    let withheld = reasonToWithhold(row, from: object)
    var reason: (save: UInt32, reason: RestorationReport.NotRestoredReason)?
    var facts: [Give.Record] = []
    for record in records {
      let save = plan.save(of: record)
      var found = obstacle(
        of: record, among: records, asker.version, object, isRetried: isRetried, withheld: withheld)
      // A record for which there was no room is its object's all the same.
      if records.count == 1, found?.obstacle == .shed { found = nil }
      facts.append(Give.Record(save: save, obstacle: found?.obstacle, isFirst: plan.isFirst(record)))
      if let found, reason.map({ $0.save <= save }) ?? true { reason = (save, found.reason) }
    }
    return (Give.choose(facts).candidates.map { records[$0] }, reason?.reason)
  }

  /// Whether restoring died at a record.
  func isQuarantined(_ record: RestorePlan.RecordPlace) -> Bool {
    plan.flags(of: record).contains(.quarantined) || plan.id(of: record) == request.crashNode
  }

  /// A quarantined record is given again only where nothing newer lies beside it but *first* records, or to an object that can
  /// join.
  private func mayRetry(
    _ record: RestorePlan.RecordPlace, among records: [RestorePlan.RecordPlace], _ object: any RestorableObject
  ) -> Bool {
    guard plan.id(of: record) != request.crashNode else { return false }
    let save = plan.save(of: record)
    return object is any MergingObject || !records.contains { plan.save(of: $0) > save && !plan.isFirst($0) }
  }

  /// Whether nothing is made in a row or below it, as restoring died there and nobody asks for another try.
  func isClosed(_ row: Int) -> Bool {
    if plan.nodes[row].flags.contains(.closed) || hasCrashNode(row) {
      return hasCrashNode(row) || !request.retries(plan.paths[row])
    }
    return false
  }

  private func hasCrashNode(_ row: Int) -> Bool {
    guard let node = request.crashNode else { return false }
    if plan.nodes[row].id == node { return true }
    return !plan.hasOneRecord(row) && plan.records(of: row).contains { plan.id(of: $0) == node }
  }

  /// Whether restoring died at a row or at one of its records.
  func isMarkedQuarantined(_ row: Int) -> Bool {
    let flags = plan.nodes[row].flags
    if flags.contains(.quarantined) || flags.contains(.closed) || hasCrashNode(row) { return true }
    return !plan.hasOneRecord(row) && plan.records(of: row).contains { plan.flags(of: $0).contains(.quarantined) }
  }

  /// Why a row goes: its class is retired, it is expired, or its model is gone; nil when it doesn't.
  private func end(of row: Int) -> RestorationReport.NotRestoredReason? {
    if isRetired(row) { return .classRetired(plan.tag(of: row) ?? "") }
    guard let tag = plan.tag(of: row), let registered = request.registry.registeredClass(tag) else { return nil }
    guard registered.freshFor != nil || registered.onlyIf != nil else { return nil }
    let details = plan.details(of: row)
    if let limit = registered.freshFor,
      let reason = Freshness.expiry(of: details.savedAt, in: plan.context, limit: limit, now: request.now)
    {
      return reason
    }
    guard let model = details.model, let modelExists = registered.onlyIf else { return nil }
    noteBeginning(of: row)
    return modelExists(model) ? nil : .modelGone(model)
  }

  /// Makes a row an object's, unless the object has a place already, and meets those below it.
  private func admit(
    _ object: any RestorableObject, _ controller: (any RestorableController)?, at index: Int, ledBy lead: Int,
    _ origin: NodeReport.Origin
  ) {
    if let controller = controller ?? object as? any RestorableController {
      if let other = takePlace(controller, index, origin) { return fail(index, .objectTaken(by: plan.paths[other])) }
      hold(.controller(controller), at: index)
    } else {
      hold(.other(object), at: index)
    }
    progress[index].restore(origin)
    progress[index].existed = progress[lead].existed
    if index != lead { choose(index, insteadOf: lead) }
    noteFacts(at: index)
    // The walk goes on below a leading row by itself, and never goes below another one.
    if !plan.nodes[index].leads || origin == .registration { meetAll(in: index + 1..<plan.nodes[index].end, meet) }
  }

  /// Notes that an object has another row of its place than the leading one; paths lead to that from now on.
  private func choose(_ index: Int, insteadOf lead: Int) {
    chosen[lead] = index
    if isAbsent(index) { progress[index].remarks.append(.wasAbsent) }
    for other in lead..<plan.nodes[lead].end { paths[plan.paths[other]] = nil }
    for other in index..<plan.nodes[index].end { paths[plan.paths[other]] = other }
  }

  private func noteFacts(at index: Int) {
    if let tag = plan.namedTag(of: index), request.registry.registeredClass(tag) == nil {
      progress[index].remarks.append(.unregisteredClass(tag))
    }
  }

  // MARK: - Controllers

  /// Goes down the ladder for the row that leads its place.
  private func meetController(_ lead: Int) {
    let reason: RestorationReport.NotRestoredReason? =
      if isAbsent(lead) {
        // Nobody is made for it.
        .absent
      } else if let reason = end(of: lead) {
        reason
      } else if isClosed(lead) {
        .leftOutAfterCrash
      } else {
        reasonToWithhold(lead)
      }
    if let reason {
      fail(lead, reason)
      guard let object = existingChild(at: lead) else { return meetNext(lead) }
      if !reason.deletesState { progress[lead].forgetResult() }
      progress[lead].existed = true
      select(object, ledBy: lead, origin: .existing)
      if !hasObject(at: lead), chosen[lead] == nil { fail(lead, reason) }
      return
    }
    prepareGift(of: lead)
    guard let (object, origin) = makeController(lead) else { return }
    if origin == .existing || existingChild(at: lead) === object { progress[lead].existed = true }
    if !progress[lead].existed, let reason = reasonToWithhold(lead, from: object) { return fail(lead, reason) }
    if object.restoration.identifier != plan.paths[lead].last {
      return fail(lead, .otherIdentifier(object.restoration.identifier?.rawValue ?? ""))
    }
    select(object, ledBy: lead, origin: origin, as: object)
  }

  /// Of a place whose leading row is of no use any more, the next present row is made.
  private func meetNext(_ lead: Int) {
    guard progress[lead].reason?.deletesState == true, let others = plan.others[lead] else { return }
    let present = others.filter { !isAbsent($0) && progress[$0].outcome == .undecided }
    guard let best = Find.made(present.map { findRow(at: $0, canBeGiven: true) }) else { return }
    let next = present[best]
    if let reason = end(of: next) ?? (isClosed(next) ? .leftOutAfterCrash : reasonToWithhold(next)) {
      fail(next, reason)
      if reason.deletesState { meetNext(lead) }
      return
    }
    prepareGift(of: next)
    guard let (object, origin) = makeController(next) else { return }
    if object.restoration.identifier != plan.paths[next].last {
      return fail(next, .otherIdentifier(object.restoration.identifier?.rawValue ?? ""))
    }
    select(object, ledBy: lead, origin: origin)
  }

  /// Finds out which record a class's code will see, where a row has several.
  private func prepareGift(of row: Int) {
    guard !plan.hasOneRecord(row) else { return }
    let saves = plan.records(of: row).filter { !isQuarantined($0) && plan.damage(of: $0) == nil }
    progress[row].candidates = Give.choose(
      saves.map { Give.Record(save: plan.save(of: $0), isFirst: plan.isFirst($0)) }
    ).candidates.map { saves[$0] }
  }

  private func makeController(_ index: Int) -> (any RestorableController, NodeReport.Origin)? {
    // Nobody is made for an object that came or was edited while locked, nor for one above it: that is in use.
    if !request.edits.inUse.isEmpty, let object = existingChild(at: index),
      request.edits.inUse.contains(ObjectIdentifier(object))
    {
      return (object, .existing)
    }
    if plan.nodes[index].flags.contains(.byHand), let identifier = plan.paths[index].last,
      let parent = plan.nodes[index].parent.flatMap({ object(at: $0) }),
      let object = request.edits.kept(identifier, by: parent)
    {
      return (object, .existing)
    }
    let tag = plan.namedTag(of: index)
    if let tag = plan.tag(of: index), let make = request.registry.registeredClass(tag)?.make {
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
    if tag == nil, let parent = plan.nodes[index].parent, let scope = object(at: parent) as? RestorationScope,
      let made = plan.paths[index].last.flatMap({ scope.makeMember($0, of: plan.tag(of: index)) })
    {
      return (made, .existing)
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
    guard let parent = plan.nodes[index].parent, let identifier = plan.paths[index].last else { return nil }
    let hasOwners = request.edits.hasRecords
    let table: ChildTable<any RestorableController>
    if let known = lookups.childTable(of: parent) {
      table = known
    } else {
      guard let container = controller(at: parent) else { return nil }
      noteBeginning(of: parent)
      guard plan.nodes[parent].childCount > 8 else {
        let children = container.listedChildren
        guard hasOwners else { return children.first { $0.restoration.identifier == identifier } }
        return owner(of: index, among: children.filter { $0.restoration.identifier == identifier })
      }
      table = ChildTable(childrenOf: container)
      lookups.add(table, of: parent, among: plan.nodes.count)
    }
    return hasOwners ? owner(of: index, among: table.children(identifier)) : table.child(identifier)
  }

  /// Of siblings that are called the same the one that has the row; the first one where none has.
  private func owner(
    of index: Int, among namesakes: [any RestorableController]
  ) -> (any RestorableController)? {
    guard namesakes.count > 1 else { return namesakes.first }
    let rows = plan.rows(ledBy: plan.lead(of: index))
    return namesakes.first { object in rows.contains { hasWritten(object, in: $0) } } ?? namesakes.first
  }

  // MARK: - Views

  private func view(at index: Int) -> (any RestorableView)? {
    guard let parent = plan.nodes[index].parent, let owner = controller(at: parent) else { return nil }
    if lookups.viewTables[parent] == nil { noteBeginning(of: parent) }
    let table = lookups.viewTables[parent] ?? ChildTable(owner.listedViews) { $0.restoration.identifier }
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
    hold(.none, at: index)
    lookups.takenPlaces[ObjectIdentifier(controller)] = nil
  }

  /// The index of the node that a controller was given; nil when it was given none.
  func index(of controller: any RestorableController) -> Int? {
    if lookups.takenPlaces.isEmpty {
      for index in plan.nodes.indices {
        if let object = self.controller(at: index) { lookups.takenPlaces[ObjectIdentifier(object)] = index }
      }
    }
    // One that has died may have left its address to another.
    return lookups.takenPlaces[ObjectIdentifier(controller)].flatMap {
      self.controller(at: $0) === controller ? $0 : nil
    }
  }
}
