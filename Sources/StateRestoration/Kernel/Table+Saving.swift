internal import FoundationShim
internal import RestorationArchive

extension Table {
  /// Brings the table up to date with a capture; values are encoded here.
  ///
  /// - Parameter adoption: What objects of the capture have in another table, and have in this one from now on.
  mutating func commit(_ batch: CaptureBatch, adopting adoption: Adoption? = nil) throws(ArchiveError) {
    let known = changed
    if let classes = batch.classes { self.classes = classes }
    for key in batch.releases { letGo(key) }
    for key in batch.outgrown { try outgrow(key) }
    if holders.isEmpty { makeRoom(for: batch.placements.count) }
    try findGivingUp(batch)
    if !batch.placements.isEmpty { try place(Arrivals(batch)) }
    for key in batch.removals { try leave(key) }
    try leave(batch.leftGifts)
    try drop(batch.removedRows)
    // Which rows objects have, and in which parts these are, is settled before any value is written.
    noteProtections(of: batch)
    let refused = try takeModels(of: batch)
    try settleLeftAboveHoles()
    try settleParts(of: batch)
    try retireOthers(of: batch)
    if let adoption { try adopt(adoption) }
    for record in batch.records where !refused.contains(record.key) { try store(record, of: batch) }
    if isLocked {
      try noteOrders(of: batch)
      try noteWays()
      // Rows have come in the order of their records.
      for order in orders.values { try arrange(order) }
    } else {
      for order in batch.orders { try arrange(order) }
    }
    try arrangeNewRows()
    // What restoring has made of the values is nobody's edit.
    if batch.isMeeting { (changed, formerBaselines) = (known, [:]) }
    try boundAbsent()
  }

  /// Whether a capture changes nothing but values and facts of objects that have their rows.
  func hasRows(of batch: CaptureBatch) -> Bool {
    guard batch.placements.isEmpty, batch.removals.isEmpty, batch.releases.isEmpty, batch.outgrown.isEmpty,
      batch.orders.isEmpty, batch.leftGifts.isEmpty, batch.removedRows.isEmpty
    else { return false }
    return batch.records.allSatisfy { record in
      guard let holding = holding(record.key) else { return true }
      return holding.row != nil && holding.attributes.model == record.model && holding.protection == record.protection
    }
  }

  /// Says that the disk has everything: what changes from now on is of the next save.
  mutating func noteSaved() {
    save &+= 1
    (changed, owedFindings) = ([], [])
  }

  /// What is wrong with live objects now: values that can't be encoded, no place, too many bytes.
  ///
  /// Each save says it until it is mended.
  var standingFindings: [PreservationOutcome.Finding] {
    var findings: [PreservationOutcome.Finding] = []
    for (key, message) in unencoded.sorted(by: { $0.key < $1.key }) {
      guard let holding = holding(key) else { continue }
      let path = holding.row.map { self.path(of: $0) } ?? self.path(of: holding.place)
      findings.append(.encodingFailed(path: path, message: message))
    }
    for (path, message) in unplaced.values.compactMap(\.self).sorted(by: {
      $0.path.components.count < $1.path.components.count
    }) {
      findings.append(.encodingFailed(path: path, message: message))
    }
    for (key, bytes) in overBudget.sorted(by: { $0.key < $1.key }) {
      guard let row = row(of: key) else { continue }
      findings.append(.overBudget(path: path(of: row), bytes: bytes, limit: nodeBudget))
    }
    return findings
  }

  // MARK: - The table Save

  /// Has the objects that name their first models take rows of these; returns those for which that failed.
  private mutating func takeModels(of batch: CaptureBatch) throws(ArchiveError) -> Set<CaptureBatch.Key> {
    var refused: Set<CaptureBatch.Key> = []
    var named: [CaptureBatch.Key] = []
    for record in batch.records {
      let key = record.key
      // Noted again if that is still so.
      if !unencoded.isEmpty { unencoded[key] = nil }
      guard record.model != nil, holding(key) != nil else { continue }
      do throws(ArchiveError) {
        if try takeModel(record, of: batch) { named.append(key) }
      } catch {
        try note(error, about: key)
        refused.insert(key)
      }
    }
    // The keys of live objects change all at once: only then rows become one. Mostly no place has a second row.
    guard !numbered.isEmpty else { return refused }
    try forgetEmptyPlaces()
    for placement in batch.placements where placement.parent.map(givingUp.contains) != true {
      if let row = row(of: placement.key) { try uniteHeld(row, placement.key) }
    }
    for key in named {
      guard let row = row(of: key) else { continue }
      do throws(ArchiveError) {
        try uniteHeld(row, key)
      } catch {
        try note(error, about: key)
        refused.insert(key)
      }
    }
    return refused
  }

  /// Rows of other models wait where a live object of a capture shows one, or where they have come beside one.
  private mutating func retireOthers(of batch: CaptureBatch) throws(ArchiveError) {
    for kind in batch.kinds {
      if let tag = kind.classTag { acceptedClasses[tag] = kind.acceptedClasses }
    }
    defer { arrived = [] }
    guard !numbered.isEmpty else { return }
    for record in batch.records {
      if let row = row(of: record.key) { try retireOthers(of: row) }
    }
    for row in arrived {
      guard let place = try place(of: currentRow(row)) else { continue }
      for held in try rows(at: place) where holders[held] != nil { try retireOthers(of: held) }
    }
  }

  /// Brings one object's record up to date.
  private mutating func store(
    _ record: CaptureBatch.Record, of batch: CaptureBatch
  ) throws(ArchiveError) {
    let key = record.key
    guard var holding = holding(key) else { return }
    let attributes = batch.attributes(of: record)
    let entries = batch.entries(of: record)
    do throws(ArchiveError) {
      holding.attributes = attributes
      let isNew = !holding.isCaptured
      holding.isCaptured = true
      holding.isAskedFor = batch.kinds[record.kind].isAskedFor
      hold(holding, key)
      if let row = holding.row { try setStanding(attributes, of: row) }
      guard try isEdited(record, of: batch, entries, isNew: isNew) else { return }
      // The place of an object that is referred to is no edit.
      let compared = batch.targets[key] == nil ? nil : try baseline(record, of: batch)
      try write(entries, attributes, key, compared)
    } catch {
      try note(error, about: key)
    }
  }

  /// Notes why an object's values or place could not be stored; errors that are no matter of these are thrown on.
  private mutating func note(_ error: ArchiveError, about key: CaptureBatch.Key) throws(ArchiveError) {
    guard error.isOfValues else { throw error }
    if error.code == .limitExceeded, let place = holding(key)?.place, holding(key)?.row == nil {
      return try refuse(place, because: error)
    }
    // Met with values that can't be encoded: the first that can be are an edit.
    if let holding = holding(key), holding.record == nil, holding.baseline == nil { try note(.unencodable, key) }
    unencoded[key] = error.cause?.descriptionWithoutState ?? error.message
  }

  /// The first model that an object names takes its row along, unless the values have changed since the last save: then the row
  /// stays as it is, and the object has another one.
  ///
  /// - Returns: Whether the row has the model now.
  private mutating func takeModel(
    _ record: CaptureBatch.Record, of batch: CaptureBatch
  ) throws(ArchiveError) -> Bool {
    let key = record.key
    guard let model = record.model, let holding = holding(key), let row = holding.row,
      var stored = try writer.node(row)?.attributes, stored.model == nil
    else { return false }
    guard try !hasChanged(holding, record, of: batch) else {
      try giveUpRow(key, batch.attributes(of: record))
      return false
    }
    stored.model = model
    try writer.setAttributes(stored, of: row)
    return true
  }

  /// Whether the values of an object that named no model so far are others than in the last save.
  private mutating func hasChanged(
    _ holding: Holding, _ record: CaptureBatch.Record, of batch: CaptureBatch
  ) throws(ArchiveError) -> Bool {
    guard holding.isCaptured, holding.attributes.model == nil else { return false }
    if let baseline = holding.baseline {
      let values = valuesNow(record, of: batch)
      return baseline != .unknown && (values != baseline || values == .unencodable)
    }
    guard let own = holding.record, try writer.node(own)?.hasRecord == true else { return false }
    // Those that can't be encoded are not those of a record.
    if valuesNow(record, of: batch) == .unencodable { return true }
    return try !writer.hasRecord(of: own, entries: batch.entries(of: record))
  }

  /// Finds the objects that name their first models with changed values: those below them come below other rows.
  mutating func findGivingUp(_ batch: CaptureBatch) throws(ArchiveError) {
    givingUp = []
    for record in batch.records where record.model != nil {
      guard let holding = holding(record.key), let row = holding.row, holding.isCaptured,
        holding.attributes.model == nil,
        let stored = try writer.node(row)?.attributes, stored.model == nil
      else { continue }
      if try hasChanged(holding, record, of: batch) { givingUp.insert(record.key) }
    }
  }

  /// Has the row of a live object become one with a row of the same key; what the object has is the newest then.
  mutating func uniteHeld(_ row: NodeID, _ key: CaptureBatch.Key) throws(ArchiveError) {
    // Mostly no place has a second row. What waits below a row that the parent is about to give up is not the object's.
    guard !numbered.isEmpty, holding(key)?.place.parent.map(givingUp.contains) != true,
      let place = try place(of: row), try unite(row, at: place), let record = holding(key)?.record
    else { return }
    // In the turn that gives it a record, that stays as old as it is.
    guard holding(key)?.isCaptured == true else { return }
    guard var attributes = try writer.node(record)?.attributes else { return }
    // Newer than what came from the other row, which may have been written since the last save as well.
    save &+= 1
    attributes.save = save
    try writer.setAttributes(attributes, of: record)
  }

  /// Has an object's row stay as it is, without an object, and gives the object another one; live objects below it come along.
  private mutating func giveUpRow(
    _ key: CaptureBatch.Key, _ attributes: RestorationArchive.Attributes
  ) throws(ArchiveError) {
    guard var holding = holding(key), let former = holding.row, let place = try place(of: former) else { return }
    letGo(key)
    holding = Holding(place: holding.place, protection: holding.protection, attributes: attributes)
    // Its values have changed since the last save.
    holding.place.isEdit = true
    holding.place.given = nil
    // What waits below a row that the parent gives up is not the object's.
    let isBelowOther = holding.place.parent.map(givingUp.contains) == true
    let row =
      isBelowOther
      ? try insert(at: place, attributes, parts[former.part])
      : try requireRow(at: place, attributes, parts[former.part])
    holding.row = row
    hold(holding, key)
    try reopen(row)
    successors[former] = row
    if let order = formerOrders[former] { try arrangeNewRows(below: former, as: order) }
    // With those that objects below it have given up in the same way.
    let children = try writer.children(of: former).filter { holders[$0] != nil || successors[$0] != nil }
    for child in children {
      guard let there = try self.place(of: child) else { continue }
      try move(child, to: Place(parent: row, identifier: there.identifier))
    }
    givingUp.remove(key)
    for child in children {
      guard let key = holders[currentRow(child)] else { continue }
      broughtAlong.append(key)
      try uniteHeld(currentRow(child), key)
    }
    try becomeAbsent(former)
  }

  // Made once: a literal of another module's option set takes as long as comparing a small value.
  private static let standing: RestorationArchive.NodeFlags = [.byHand, .view, .shared, .reserved]
  private static let standingOrCarriedOver = standing.union(.carriedOver)
  private static let rowMarks: RestorationArchive.NodeFlags = [.numbered, .closed]

  /// Records what is the row's, and not of the values: its object's role and priority, and that it has an object.
  private mutating func setStanding(
    _ attributes: RestorationArchive.Attributes, of row: NodeID
  ) throws(ArchiveError) {
    guard var stored = try writer.node(row)?.attributes else { return }
    stored.flags.subtract(Self.standingOrCarriedOver)
    stored.flags.formUnion(attributes.flags.intersection(Self.standing))
    stored.savedAt = nil
    stored.role = attributes.role
    stored.priority = attributes.priority
    try writer.setAttributes(stored, of: row)
  }

  /// Whether the table *Save* has an object's values written.
  private mutating func isEdited(
    _ record: CaptureBatch.Record, of batch: CaptureBatch, _ entries: [RestorationArchive.Entry],
    isNew: Bool
  ) throws(ArchiveError) -> Bool {
    guard let holding = holding(record.key) else { return false }
    if batch.isMeeting || isNew, let given = holding.record, holding.joined.isEmpty, holding.place.given != nil,
      !holding.place.isEdit
    {
      // Restoring alone changes no record, migrated or not.
      guard holding.place.given?.gift?.isChanged == true else { return true }
      guard try !writer.hasRecord(of: given, entries: entries) else { return false }
      try note(try baseline(record, of: batch), record.key)
      return false
    }
    guard let baseline = holding.baseline else { return true }
    // The delegate has not given the program's own values at the end of the turn that met them: any may be an edit.
    if baseline == .unknown, record.key == CaptureBatch.application, !batch.isMeeting, !isLocked { return true }
    if baseline == .unknown || (batch.isMeeting && isLocked) {
      do {
        try note(try self.baseline(record, of: batch), record.key)
      } catch {
        guard error.isOfValues else { throw error }
        try note(.unencodable, record.key)
        throw error
      }
      return false
    }
    return try self.baseline(record, of: batch) != baseline
  }

  private func valuesNow(_ record: CaptureBatch.Record, of batch: CaptureBatch) -> Baseline {
    (try? baseline(record, of: batch)) ?? .unencodable
  }

  private mutating func note(_ baseline: Baseline, _ key: CaptureBatch.Key) throws(ArchiveError) {
    update(key) { $0.baseline = baseline }
  }

  private func baseline(
    _ record: CaptureBatch.Record, of batch: CaptureBatch
  ) throws(ArchiveError) -> Baseline {
    .values(try digests.digest(batch.comparedEntries(of: record)))
  }

  /// Writes an object's values in the place of the record that it was given or wrote, or as a new one beside all others.
  ///
  /// - Parameter compared: The values by which an edit is told, where they are not those that are written.
  private mutating func write(
    _ entries: [RestorationArchive.Entry], _ attributes: RestorationArchive.Attributes, _ key: CaptureBatch.Key,
    _ compared: Baseline?
  ) throws(ArchiveError) {
    if holding(key)?.row == nil {
      // Nothing is written for objects that have nothing.
      if entries.isEmpty { return }
      _ = try requireRow(key)
    }
    guard let holding = holding(key), let row = holding.row else { return }
    var facts = attributes
    facts.save = save
    let isNew = holding.record == nil
    var flagsIfSame: RestorationArchive.NodeFlags = []
    let record: NodeID
    if let own = holding.record {
      record = own
      if isFirst(own) {
        // Unedited as long as the values are the first ones.
        if compared == nil {
          flagsIfSame = .first
        } else if compared == holding.firstValues {
          facts.flags.insert(.first)
        }
      }
    } else {
      // It came by itself, and nobody knows whether the user wants that or what is stored.
      if holding.baseline == nil, !holding.place.isEdit { facts.flags.insert(.first) }
      if entries.isEmpty {
        // Without values there is no record; the row's own node is where one would be.
        if try records(of: row).isEmpty {
          try takeIdentity(attributes, of: row, isWritten: true)
          update(key) { $0.record = row }
        }
        return
      }
      // None goes for values that can't be encoded.
      if try records(of: row).count >= Self.recordsAtMost { _ = try digests.digest(entries) }
      guard try makeRoom(in: row, for: key) else { return }
      record = try insertRecord(in: row, facts)
    }
    var isWritten = isNew
    // Asked only where the class is another.
    if !isNew, try writer.node(row)?.attributes.classTag != attributes.classTag {
      isWritten = try !writer.hasRecord(of: record, entries: entries)
    }
    let former = try writer.node(row)?.attributes
    try takeIdentity(attributes, of: row, isWritten: isWritten)
    if record == row {
      try mergeRowFacts(of: row, into: &facts)
    } else {
      facts = .init(
        version: facts.version, priority: facts.priority, flags: facts.flags.intersection(.ofRecords), save: save)
      facts.flags.insert(.record)
    }
    do throws(ArchiveError) {
      let isWritten = try writer.setRecord(of: record, entries: entries, attributes: facts, flagsIfSame: flagsIfSame)
      // What was joined goes also where the joined values are those of one of the records.
      guard isWritten || isNew || !holding.joined.isEmpty else { return }
      if !foundValues.isEmpty { foundValues[key] = nil }
    } catch {
      if isNew, record != row { try removeRecord(record) }
      // Nothing was written.
      if let former { try writer.setAttributes(former, of: row) }
      throw error
    }
    update(key) {
      $0.record = record
      $0.baseline = nil
      $0.firstValues = facts.flags.contains(.first) ? compared : nil
      $0.joined = []
    }
    for joined in holding.joined { try removeRecord(joined) }
    changed.insert(key)
    written.insert(record)
    lastWritten = save
    try openRows(upTo: row)
    noteSize(of: record, key)
    try uniteHeld(row, key)
  }

  /// A row has its object's class from the first record on that is written in it, and its model.
  ///
  /// While the object names no model, the row keeps that which it has.
  ///
  /// - Parameter isWritten: Whether a record of the object is written now.
  private mutating func takeIdentity(
    _ attributes: RestorationArchive.Attributes, of row: NodeID, isWritten: Bool
  ) throws(ArchiveError) {
    guard var stored = try writer.node(row)?.attributes else { return }
    if isWritten { stored.takeClass(of: attributes) }
    stored.model = attributes.model ?? stored.model
    try writer.setAttributes(stored, of: row)
  }

  /// Keeps what a row's own node says of the row when its record is written.
  private func mergeRowFacts(
    of row: NodeID, into facts: inout RestorationArchive.Attributes
  ) throws(ArchiveError) {
    guard let stored = try writer.node(row)?.attributes else { return }
    facts.classTag = stored.classTag
    facts.model = stored.model
    facts.flags.formUnion(stored.flags.intersection(Self.rowMarks))
  }

  private mutating func noteSize(of record: NodeID, _ key: CaptureBatch.Key) {
    let bytes = (try? writer.node(record)?.byteCount) ?? 0
    if bytes > nodeBudget {
      overBudget[key] = bytes
    } else if !overBudget.isEmpty {
      overBudget[key] = nil
    }
  }

  // MARK: - Bounds

  /// Has a row keep to the most records: *first* ones of this run go, then superseded ones, then older ones of this run.
  ///
  /// - Returns: Whether there is room for one more; if only unread records of other runs are left there is none.
  private mutating func makeRoom(in row: NodeID, for key: CaptureBatch.Key) throws(ArchiveError) -> Bool {
    while true {
      let records = try records(of: row)
      guard records.count >= Self.recordsAtMost, let holding = holding(key) else { return true }
      let dispensable =
        records.first { isFirst($0) && written.contains($0) } ?? holding.superseded.first
        ?? records.first(where: written.contains)
      guard let victim = dispensable else {
        owedFindings.append(.noRoomForRecord(path: path(of: row)))
        return false
      }
      let bytes = try writer.node(victim)?.byteCount ?? 0
      owedFindings.append(.recordRemoved(path: path(of: row), bytes: bytes))
      try removeRecord(victim)
      update(key) { $0.superseded.removeAll { $0 == victim } }
    }
  }

  /// Keeps the absent rows within their bound: those go that were live longest ago.
  private mutating func boundAbsent() throws(ArchiveError) {
    guard !absent.isEmpty else { return }
    let budget = limits.bytesPerArchive / 4
    var sizes: [(row: NodeID, lived: Double, bytes: Int)] = []
    for row in absent {
      guard let node = try writer.node(row) else { continue }
      let lived = node.attributes.savedAt?.timeIntervalSinceReferenceDate ?? .infinity
      sizes.append((row, lived, try byteCount(inside: row)))
    }
    var bytes = sizes.reduce(0) { $0 + $1.bytes }
    guard sizes.count > Self.absentAtMost || bytes > budget else { return }
    sizes.sort { $0.lived == $1.lived ? $0.row.rawValue < $1.row.rawValue : $0.lived < $1.lived }
    var count = sizes.count
    for (row, _, size) in sizes {
      guard count > Self.absentAtMost || bytes > budget else { return }
      guard try !hasHolder(inside: row), try !writer.hasHoles(below: row) else { continue }
      owedFindings.append(.absentRemoved(path: path(of: row), bytes: size))
      try remove(row)
      count -= 1
      bytes -= size
    }
  }

  private func byteCount(inside top: NodeID) throws(ArchiveError) -> Int {
    var bytes = 0
    var stack = [top]
    while let next = stack.popLast() {
      bytes += try writer.node(next)?.byteCount ?? 0
      stack += try writer.children(of: next)
    }
    return bytes
  }

  // MARK: - Order, and rows without an object

  /// Notes the orders of live children that were captured on a locked device.
  ///
  /// An order that is another than that with which the parent was met is an edit: children have rows then though they have
  /// nothing to write, so that it can be told at the unlock.
  private mutating func noteOrders(of batch: CaptureBatch) throws(ArchiveError) {
    guard !batch.orders.isEmpty else { return }
    let arrived = batch.isMeeting ? [] : Set(batch.placements.map(\.key))
    for order in batch.orders {
      orders[order.parent] = order
      if batch.isMeeting || arrived.contains(order.parent) {
        ordersMet[order.parent] = ordersMet[order.parent] ?? order
        continue
      }
      // The order among those that could be read is theirs to tell.
      if let ownKeys, !ownKeys.contains(order.parent) { continue }
      let rearranged = rearranged(order, since: ordersMet[order.parent]?.children ?? [])
      guard rearranged.count > 1 else { continue }
      for child in rearranged {
        do throws(ArchiveError) {
          _ = try requireRow(child)
        } catch {
          // Where the archive has no place for it, its record says so.
          guard error.code == .limitExceeded else { throw error }
        }
      }
    }
  }

  /// Where the state of some objects could be read: says of their rows that these are only the way to others, and makes one for each
  /// that stands before one of the others.
  private mutating func noteWays() throws(ArchiveError) {
    guard let ownKeys else { return }
    let parents = Set(ownKeys.compactMap { row(of: $0) == nil ? nil : holding($0)?.place.parent })
    for order in parents.subtracting(ownKeys).sorted().compactMap({ orders[$0] }) {
      // All of them: a later run may close some.
      let last = order.children.lastIndex { ownKeys.contains($0) && row(of: $0) != nil }
      for before in order.children.prefix(last ?? 0) { _ = try requireRow(before) }
    }
    for (row, key) in holders { try setFlag(.way, !ownKeys.contains(key), of: row) }
  }

  /// The children whose order the user has made: all of them, if they stand in another one than they were met in or have others
  /// among them; else those that came on top.
  ///
  /// Where some were only taken away, those that are left stand as they stood.
  private func rearranged(_ order: CaptureBatch.Order, since met: [CaptureBatch.Key]) -> [CaptureBatch.Key] {
    let places = Dictionary(met.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let positions = order.children.map { places[$0] ?? met.count }
    let isInOrder = zip(positions, positions.dropFirst()).allSatisfy { $0 <= $1 }
    return isInOrder ? order.children.filter { places[$0] == nil } : order.children
  }

  /// Live children in their order.
  private mutating func arrange(_ order: CaptureBatch.Order) throws(ArchiveError) {
    guard let parent = row(of: order.parent) else { return }
    let former = formerOrders.removeValue(forKey: parent)
    try arrange(order.children.compactMap { row(of: $0) }, below: parent, since: former)
  }

  /// Rows beside which others of their places have come, and whose objects stand as before.
  private mutating func arrangeNewRows() throws(ArchiveError) {
    defer { (formerOrders, successors) = ([:], [:]) }
    for (parent, former) in formerOrders where try writer.node(parent) != nil {
      try arrangeNewRows(below: parent, as: former)
    }
  }

  private mutating func arrangeNewRows(below parent: NodeID, as former: [FormerRow]) throws(ArchiveError) {
    let children = try writer.children(of: parent)
    var live = Set(children.filter { holders[$0] != nil })
    var order = former.compactMap { live.remove(successors[$0.row] ?? $0.row) }
    order += children.filter { live.contains($0) }
    try arrange(order, below: parent, since: former)
  }

  /// Forgets the positions of places that have lost all their rows: a row that comes there from below another one brings its own.
  private mutating func forgetEmptyPlaces() throws(ArchiveError) {
    for (parent, former) in formerOrders {
      let children = try writer.children(of: parent)
      let areThere = Set(children)
      guard former.contains(where: { !areThere.contains(currentRow($0.row)) }) else { continue }
      var places: Set<RestorationIdentifier> = []
      for row in children { if let name = try writer.node(row)?.rowIdentifier { places.insert(name) } }
      formerOrders[parent] = former.filter { areThere.contains(currentRow($0.row)) || places.contains($0.identifier) }
    }
  }

  /// Rows in the order in which they stood, or others of their places that have gone; those behind them whose places are new.
  private func standing(_ rows: [NodeID], since former: [FormerRow]) throws(ArchiveError) -> [NodeID] {
    let areThere = Set(rows)
    var heirs: [RestorationIdentifier: NodeID] = [:]
    if former.contains(where: { !areThere.contains(currentRow($0.row)) }) {
      for row in rows {
        guard let identifier = try writer.node(row)?.rowIdentifier, heirs[identifier] == nil || holders[row] != nil
        else { continue }
        heirs[identifier] = row
      }
    }
    var seen: Set<NodeID> = []
    let stood = former.compactMap { one in
      areThere.contains(currentRow(one.row)) ? currentRow(one.row) : heirs[one.identifier]
    }
    return (stood + rows).filter { areThere.contains($0) && seen.insert($0).inserted }
  }

  /// The order of siblings: places in the order of some of their rows.
  ///
  /// Each other place stays behind the one that it stood behind. All rows of a place stand together, as they stood.
  ///
  /// - Parameter former: How they stood before, where rows of one place have become one, or have gone, since.
  mutating func arrange(
    _ live: [NodeID], below parent: NodeID, since former: [FormerRow]? = nil
  ) throws(ArchiveError) {
    let children = try writer.children(of: parent)
    let present = try former.map { (former) throws(ArchiveError) in try standing(children, since: former) } ?? children
    // One of them may be elsewhere by now.
    let isPresent = live == present ? [] : Set(present)
    let live = live == present ? live : live.filter { isPresent.contains($0) }
    var wanted = live
    if live.count < present.count {
      // For which row of its place another one counts.
      var leaders: [NodeID: NodeID] = [:]
      var leadersOfPlaces: [Place: NodeID] = [:]
      let isLive = Set(live)
      if !numbered.isEmpty {
        for row in live + present.filter({ !isLive.contains($0) }) {
          guard let place = try place(of: row), numbered[place] != nil else { continue }
          let leader = leadersOfPlaces[place] ?? row
          leadersOfPlaces[place] = leader
          leaders[row] = leader
        }
      }
      var rows: [NodeID: [NodeID]] = [:]
      var followers: [NodeID?: [NodeID]] = [:]
      var last: NodeID?
      for node in present {
        let leader = leaders[node] ?? node
        // A place stands where the first of its rows stands: others have come since.
        let isPlaced = rows[leader] != nil
        if leaders[node] != nil { rows[leader, default: []].append(node) }
        if isLive.contains(leader) {
          if !isPlaced { last = leader }
        } else if leader == node {
          followers[last, default: []].append(node)
        }
      }
      wanted = []
      for node in [nil] + live.filter({ leaders[$0] ?? $0 == $0 }).map(Optional.some) {
        for one in (node.map { [$0] } ?? []) + (followers[node] ?? []) { wanted += rows[one] ?? [one] }
      }
    }
    if wanted != children, wanted.count == children.count { try writer.setChildren(wanted, of: parent) }
  }

  /// Number of rows without an object.
  var unheldCount: Int {
    let shared = ((try? writer.child(of: nil, identifier: ReservedNode.shared)) ?? nil) == nil ? 0 : 1
    let records = furtherRecords.values.reduce(0) { $0 + $1.count }
    return max(writer.nodeCount - holders.count - shared - records, 0)
  }

  /// Marks the rows without an object as such, with the time of the last save that had one, from which they age.
  mutating func markUnheld() throws(ArchiveError) {
    guard !hasMarkedUnheld else { return }
    hasMarkedUnheld = true
    guard unheldCount > 0 else { return }
    var stack = try writer.roots
    while let id = stack.popLast() {
      stack += try writer.children(of: id)
      guard holders[id] == nil, var attributes = try writer.node(id)?.attributes,
        attributes.flags.isDisjoint(with: [.reserved, .record, .carriedOver, .hole])
      else { continue }
      attributes.flags.insert(.carriedOver)
      attributes.savedAt = attributes.savedAt ?? writer.context.timeSaved
      try writer.setAttributes(attributes, of: id)
    }
  }
}

extension ArchiveError {
  /// Whether it is a matter of the values to encode, and not of the archive.
  var isOfValues: Bool { code == .encodingFailed || code == .limitExceeded }
}
