internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The objects that come with a capture, and their values.
struct Arrivals {
  let batch: CaptureBatch
  private let records: [CaptureBatch.Key: Int]

  init(_ batch: CaptureBatch) {
    self.batch = batch
    records = Dictionary(batch.records.lazy.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })
  }

  /// The class of protection that an object names; nil for its parent's, and when its values were not captured.
  func protection(_ key: CaptureBatch.Key) -> ProtectionClass? { records[key].flatMap { batch.records[$0].protection } }

  /// The model that an object names; nil for none, and when its values were not captured.
  func model(_ key: CaptureBatch.Key) -> ModelIdentifier? { records[key].flatMap { batch.records[$0].model } }

  /// What the archive records of an object; nil when its values were not captured.
  func attributes(_ key: CaptureBatch.Key) -> RestorationArchive.Attributes? {
    records[key].map { batch.attributes(of: batch.records[$0]) }
  }

  /// Whether an object is one to which a row may belong: what it shows may have changed since it was given that.
  func fits(_ row: Identity, _ key: CaptureBatch.Key) -> Bool {
    guard let index = records[key] else { return true }
    let record = batch.records[index]
    let attributes = batch.attributes(of: record)
    if attributes.identity == row { return true }
    let asker = Asker(
      identity: attributes.identity, version: attributes.version,
      acceptedClasses: batch.kinds[record.kind].acceptedClasses)
    return asker.mismatch(with: row) == nil
  }
}

extension Table {
  /// Gives the objects of a capture their places: those that have rows take them along, all others get one.
  mutating func place(_ arrivals: Arrivals) throws(ArchiveError) {
    for placement in arrivals.batch.placements {
      if let former = placement.former { rename(former, to: placement.key) }
    }
    // What objects were given comes first, so that nobody else takes it for a row without an object.
    let leaving = Set(arrivals.batch.removals)
    for placement in arrivals.batch.placements where placement.given != nil { try give(placement, arrivals, leaving) }
    // Which rows have objects decides what becomes of those below.
    for placement in arrivals.batch.placements {
      if let gift = placement.given?.gift, !gift.rows.isEmpty { try takeIn(gift, placement.key) }
    }
    for placement in arrivals.batch.placements {
      do throws(ArchiveError) {
        try place(placement, arrivals)
        if !unplaced.isEmpty { unplaced[placement.key] = nil }
      } catch {
        try refuse(placement, because: error)
      }
    }
  }

  /// Notes what an object was given in the turn that met it.
  ///
  /// - Parameter leaving: The objects that leave in this capture: a late one may have come into the row of one of them.
  private mutating func give(
    _ placement: CaptureBatch.Placement, _ arrivals: Arrivals, _ leaving: Set<CaptureBatch.Key>
  ) throws(ArchiveError) {
    let row: NodeID
    switch placement.given {
    case .own(let own)?: row = currentRow(own)
    case .record(let gift)?: row = currentRow(gift.row)
    case .unread(let met)?, .late(let met)?: row = currentRow(met)
    case .nothing?, nil: return
    }
    try writer.prepare(row)
    if let holder = holders[row], holder != placement.key, leaving.contains(holder) { try leave(holder) }
    guard holders[row] == nil || holders[row] == placement.key, let node = try writer.node(row),
      arrivals.fits(classes.current(node.attributes.identity), placement.key)
    else { return }
    let gift = placement.given?.gift
    if let gift, gift.record == nil { return try keep(placement, gift) }
    if case .late? = placement.given, let holding = holding(placement.key) {
      return try moveHolding(holding, placement, to: row)
    }
    var holding = Holding(place: placement, row: row)
    if gift != nil { try leaveForGift(placement.key, row) } else { letGo(placement.key) }
    if let brought = gift?.brought.map(currentRow), holders[brought] == nil { try bring(brought, to: row) }
    if let gift {
      holding.record = gift.record.map(current)
      holding.superseded = gift.superseded.map(current)
      holding.joined = gift.joined
    }
    if let gift, gift.rows.isEmpty { for record in gift.first { try removeRecord(current(record)) } }
    if case .unread? = placement.given, !placement.isEdit { holding.baseline = .unknown }
    // A row without a record: what its object has then is nobody's edit.
    if case .own? = placement.given, !node.hasRecord {
      holding.record = nil
      if !placement.isEdit { holding.baseline = .unknown }
    }
    if placement.isEdit, let baseline = formerBaselines[row] { holding.baseline = baseline }
    hold(holding, placement.key)
    // Before rows become one: the rows below them are compared with the models that the rows above them have by now.
    if let model = arrivals.model(placement.key) { try nameModel(model, of: row) }
    try reopen(row)
  }

  /// Gives a row a model, if it has none.
  mutating func nameModel(_ model: ModelIdentifier, of row: NodeID) throws(ArchiveError) {
    guard var stored = try writer.node(row)?.attributes, stored.model == nil else { return }
    stored.model = model
    try writer.setAttributes(stored, of: row)
  }

  /// Has rows with nothing but *first* records become one with the row of the record that an object was given.
  private mutating func takeIn(_ gift: CaptureBatch.Gift, _ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let row = row(of: key), row == currentRow(gift.row) else { return }
    for other in gift.rows where holders[other] == nil { try move(contentsOf: other, into: row) }
    for record in gift.first { try removeRecord(current(record)) }
    guard var holding = holding(key) else { return }
    holding.record = holding.record.map(current)
    holding.superseded = holding.superseded.map(current)
    hold(holding, key)
  }

  /// An object that came by itself is given a record: its own one, which is *first*, goes, and the row that it had becomes one with
  /// that of the record.
  private mutating func leaveForGift(_ key: CaptureBatch.Key, _ row: NodeID) throws(ArchiveError) {
    guard let former = letGo(key) else { return }
    if let record = former.record, isFirst(record) { try removeRecord(record) }
    try bring(former.row, to: row)
  }

  /// Has the row that an object had become one with another one; it was live last, and says whether that is closed.
  private mutating func bring(_ former: NodeID?, to row: NodeID) throws(ArchiveError) {
    guard let former, former != row, try writer.node(former) != nil else { return }
    if !closed.contains(former) { try open(row) }
    try standInstead(of: former, row)
    try move(contentsOf: former, into: row)
  }

  /// Has a row stand where the row of its object has stood among its siblings.
  private mutating func standInstead(of former: NodeID, _ row: NodeID) throws(ArchiveError) {
    guard let place = try place(of: row), let parent = place.parent, try writer.node(former)?.parent == parent else {
      return
    }
    try noteOrder(at: place, isShared: true)
    formerOrders[parent]?.removeAll { $0.row == row }
    guard let index = formerOrders[parent]?.firstIndex(where: { $0.row == former }) else { return }
    formerOrders[parent]?[index] = FormerRow(row: row, identifier: place.identifier)
  }

  /// Moves an object that came by itself, with its record, to another row, whose records can't be given.
  private mutating func moveHolding(
    _ holding: Holding, _ placement: CaptureBatch.Placement, to row: NodeID
  ) throws(ArchiveError) {
    var holding = holding
    letGo(placement.key)
    try bring(holding.row, to: row)
    holding.row = row
    holding.record = holding.record.map(current)
    holding.place.given = placement.given
    hold(holding, placement.key)
    try reopen(row)
  }

  /// An object keeps its own record; the stored ones are superseded, or joined with it.
  private mutating func keep(
    _ placement: CaptureBatch.Placement, _ gift: CaptureBatch.Gift
  ) throws(ArchiveError) {
    guard var holding = holding(placement.key), holding.row == gift.row else { return }
    holding.place.given = placement.given
    holding.superseded += gift.superseded
    holding.joined += gift.joined
    if holding.record == nil, let newest = holding.joined.popLast() {
      holding.record = newest
      // Joined values are an edit, whatever it had before.
      holding.baseline = .unencodable
    }
    hold(holding, placement.key)
  }

  /// Whether a record can be given to an object that reads a version, as far as is known without decoding it.
  func canBeGiven(_ record: NodeID, _ version: StateVersion) throws(ArchiveError) -> Bool {
    guard let facts = try writer.node(record)?.attributes else { return false }
    return facts.version <= version && !facts.flags.contains(.quarantined)
  }

  /// A row that an object has is not absent any more.
  mutating func reopen(_ row: NodeID) throws(ArchiveError) {
    guard absent.remove(row) != nil else { return }
    try setFlag(.absent, false, of: row)
  }

  /// Brings an object's row to its place, or finds one for it.
  private mutating func place(_ placement: CaptureBatch.Placement, _ arrivals: Arrivals) throws(ArchiveError) {
    var placement = placement
    if placement.section == .interface { placement.identifier = ReservedNode.stored(placement.identifier) }
    guard let holding = holding(placement.key) else { return try meet(placement, arrivals) }
    // What the object was given does not change with its place.
    placement.given = placement.given ?? holding.place.given
    update(placement.key) { $0.place = placement }
    guard let row = holding.row else { return }
    let place = Place(parent: try rowAbove(placement), identifier: placement.identifier)
    try move(row, to: place)
  }

  /// Finds a row for an object that nobody has given anything: that of exactly its key, or a new one.
  private mutating func meet(_ placement: CaptureBatch.Placement, _ arrivals: Arrivals) throws(ArchiveError) {
    let isMet = placement.given == .nothing && !placement.isEdit
    var holding = Holding(
      place: placement, protection: arrivals.protection(placement.key),
      attributes: arrivals.attributes(placement.key) ?? .init())
    if isLocked {
      if isMet { holding.baseline = .unknown }
      return hold(holding, placement.key)
    }
    let place = Place(parent: try rowAbove(placement), identifier: placement.identifier)
    // What waits below a row that the parent gives up is not the object's.
    let isBelowOther = !givingUp.isEmpty && placement.parent.map(givingUp.contains) == true
    if !isBelowOther, let row = try unheldRow(at: place, classes.current(holding.attributes.identity)) {
      holding.row = row
      if try !records(of: row).isEmpty, isMet { holding.baseline = .unknown }
      hold(holding, placement.key)
      try reopen(row)
    } else {
      holding.row = try insert(at: place, holding.attributes, holding.protection)
      hold(holding, placement.key)
    }
  }

  /// Leaves an object where it was for which the archive has no place, and names the topmost of such; every other error is thrown
  /// on.
  mutating func refuse(
    _ placement: CaptureBatch.Placement, because error: ArchiveError
  ) throws(ArchiveError) {
    guard error.code == .limitExceeded else { throw error }
    if holding(placement.key) == nil { hold(Holding(place: placement), placement.key) }
    let isTopmost = placement.parent.map { unplaced[$0] == nil } ?? true
    unplaced[placement.key] = .some(isTopmost ? (path(of: placement), error.message) : nil)
  }

  // MARK: - Above

  /// The row above a place, made now if the parent had none to write.
  private mutating func rowAbove(_ placement: CaptureBatch.Placement) throws(ArchiveError) -> NodeID? {
    guard let parent = placement.parent else {
      return placement.section == .shared ? try reserved(ReservedNode.shared) : nil
    }
    return try requireRow(parent)
  }

  /// The row of a live object, made now if it had none.
  mutating func requireRow(_ key: CaptureBatch.Key) throws(ArchiveError) -> NodeID? {
    // From the top, and without recursion, since a hierarchy may be deep.
    var chain: [CaptureBatch.Key] = []
    var next = Optional(key)
    while let key = next, let holding = holding(key), holding.row == nil {
      chain.append(key)
      next = holding.place.parent
    }
    var parent = next.flatMap { row(of: $0) }
    for key in chain.reversed() {
      guard let holding = holding(key) else { continue }
      if holding.place.parent == nil, holding.place.section == .shared { parent = try reserved(ReservedNode.shared) }
      let place = Place(parent: parent, identifier: holding.place.identifier)
      let row = try requireRow(at: place, holding.attributes, holding.protection)
      update(key) { $0.row = row }
      try reopen(row)
      parent = row
    }
    return row(of: key)
  }

  /// The row without an object of exactly a key, or a new one.
  mutating func requireRow(
    at place: Place, _ attributes: RestorationArchive.Attributes, _ protection: ProtectionClass?
  ) throws(ArchiveError) -> NodeID {
    if let row = try unheldRow(at: place, classes.current(attributes.identity)) { return row }
    return try insert(at: place, attributes, protection)
  }

  // MARK: - One key, one row

  /// Has a row without an object, of the same key as a held one, become one with that.
  ///
  /// - Returns: Whether there was one.
  mutating func unite(_ row: NodeID, at place: Place) throws(ArchiveError) -> Bool {
    guard let node = try writer.node(row) else { return false }
    let identity = classes.current(node.attributes.identity)
    var isAny = false
    for other in try rows(at: place) where other != row && holders[other] == nil {
      guard try hasIdentity(identity, other) else { continue }
      try move(contentsOf: other, into: row)
      isAny = true
    }
    return isAny
  }

  /// Gives rows names of their own that have those of siblings in other parts.
  mutating func separate(_ namesakes: [NodeID]) throws(ArchiveError) {
    for row in namesakes {
      guard let place = try place(of: row) else { continue }
      try writer.rename(row, to: try freeNumberedName(at: place, for: row))
      try setFlag(.numbered, true, of: row)
      numbered[place, default: []].append(row)
      try noteLaterOfWeaker(besides: row)
    }
  }

  /// Says of the rows of a row's place that are of a stronger class that no object had them as late as one of a weaker class: the run
  /// that had that one could not read them.
  mutating func noteLaterOfWeaker(besides row: NodeID) throws(ArchiveError) {
    guard let place = try place(of: row) else { return }
    var live: [NodeID] = []
    for row in try rows(at: place) where !absent.contains(row) {
      if try writer.node(row)?.attributes.savedAt == nil { live.append(row) }
    }
    guard let weakest = live.min(by: { parts[$0.part].isWeaker(than: parts[$1.part]) }) else { return }
    for row in live where parts[weakest.part].isWeaker(than: parts[row.part]) {
      guard var attributes = try writer.node(row)?.attributes, attributes.savedAt == nil else { continue }
      attributes.flags.insert(.carriedOver)
      // Rows that objects leave in this run get the time of the last save.
      let last = writer.context.timeSaved.timeIntervalSinceReferenceDate
      attributes.savedAt = Date(timeIntervalSinceReferenceDate: last.nextDown)
      try writer.setAttributes(attributes, of: row)
    }
  }

  /// Has the records of rows of a weaker class count as newer than those of a stronger one, which their run could not read: nor could
  /// it know the numbers of those.
  ///
  /// - Returns: The strongest class.
  private mutating func countWeakerAsNewer(_ rows: [NodeID]) throws(ArchiveError) -> ProtectionClass {
    let rows = rows.sorted { parts[$1.part].isWeaker(than: parts[$0.part]) }
    let strongest = parts[rows[0].part]
    for row in rows where parts[row.part].isWeaker(than: strongest) {
      var records: [(id: NodeID, attributes: RestorationArchive.Attributes)] = []
      for id in try self.records(of: row) {
        if let node = try writer.node(id) { records.append((id, node.attributes)) }
      }
      for record in records.sorted(by: { ($0.attributes.save, $0.id.rawValue) < ($1.attributes.save, $1.id.rawValue) })
      {
        var attributes = record.attributes
        attributes.save = save
        save &+= 1
        try writer.setAttributes(attributes, of: record.id)
      }
    }
    return strongest
  }

  /// Has rows that share a key become one: an earlier program has written them under another tag of their class.
  ///
  /// The one that was live last stays.
  ///
  /// - Returns: Whether there were such.
  mutating func uniteTwins() throws(ArchiveError) -> Bool {
    var isAny = false
    for place in numbered.keys.sorted(by: { ($0.parent?.rawValue ?? 0) < ($1.parent?.rawValue ?? 0) }) {
      var twins: [Identity: [NodeID]] = [:]
      for row in try rows(at: place) {
        guard let node = try writer.node(row) else { continue }
        twins[classes.current(node.attributes.identity), default: []].append(row)
      }
      for (identity, rows) in twins where rows.count > 1 {
        let strongest = try countWeakerAsNewer(rows)
        let asker = Asker(identity: identity, version: 0, acceptedClasses: [])
        var facts: [Find.Row] = []
        for row in rows { facts.append(try findRow(row, for: asker)) }
        guard let newest = Find.newest(facts) else { continue }
        for row in rows where row != rows[newest] {
          if !absent.contains(row) { try reopen(rows[newest]) }
          try move(contentsOf: row, into: rows[newest])
        }
        _ = try strengthen(rows[newest], strongest)
        isAny = true
      }
    }
    return isAny
  }

  /// Moves the records of a row, and the rows below it, into another one, and removes it.
  ///
  /// What can't be read now stays where it is, with the rows above it, until it can: these are absent.
  mutating func move(contentsOf source: NodeID, into target: NodeID) throws(ArchiveError) {
    var waiting = [(source, target)]
    var emptied: [(row: NodeID, target: NodeID)] = []
    while let (source, target) = waiting.popLast() {
      // The weaker part is written anew, so that no file of it has the values of this row.
      if parts[source.part].isWeaker(than: parts[target.part]) {
        try writer.remake(source.part)
        noteLeft(for: parts[target.part])
      }
      var numbers: [NodeID: UInt32] = [:]
      for record in try records(of: source) { numbers[record] = try writer.node(record)?.attributes.save ?? 0 }
      if !absent.contains(source) {
        try reopen(target)
        arrived.append(target)
      }
      if holders[target] == nil, try wasLive(source, after: target) { try takeStanding(of: source, target) }
      let staying = try records(of: target)
      for (record, _) in numbers.sorted(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }) {
        try move(record: record, into: target)
      }
      if !numbers.isEmpty, !staying.isEmpty { try separateSaves(of: target, newer: Set(staying)) }
      for child in try writer.children(of: source) {
        guard let place = try place(of: child), let node = try writer.node(child),
          !node.attributes.flags.contains(.hole)
        else { continue }
        let there = Place(parent: target, identifier: place.identifier)
        let identity = classes.current(node.attributes.identity)
        var twin: NodeID?
        for row in try rows(at: there) where twin == nil {
          if try hasIdentity(identity, row) { twin = row }
        }
        if let twin, holders[child] == nil {
          waiting.append((child, twin))
        } else {
          try move(child, to: there)
          arrived.append(currentRow(child))
          if let twin, holders[twin] == nil { waiting.append((twin, currentRow(child))) }
        }
      }
      moved.move(row: source, to: target)
      emptied.append((source, target))
    }
    for (row, target) in emptied.reversed() {
      try remove(row)
      guard try writer.node(row) != nil else { continue }
      try setFlag(.absent, true, of: row)
      absent.insert(row)
      leftAboveHoles[row] = target
    }
  }

  /// Gives rows that had to stay above what can't be read the keys of those with which they have become one, so that they become one
  /// once all can be read.
  mutating func settleLeftAboveHoles() throws(ArchiveError) {
    for (row, target) in leftAboveHoles.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let target = currentRow(target)
      guard absent.contains(row), holders[row] == nil, let found = try writer.node(target),
        let place = try place(of: target)
      else { continue }
      try move(row, to: place)
      // A weaker part is told nothing of a stronger one.
      guard !parts[row.part].isWeaker(than: parts[target.part]), var left = try writer.node(row)?.attributes else {
        continue
      }
      left.takeClass(of: found.attributes)
      left.model = found.attributes.model
      try writer.setAttributes(left, of: row)
    }
  }

  /// Copies role, closing and time from a row that an object had later.
  private mutating func takeStanding(of row: NodeID, _ target: NodeID) throws(ArchiveError) {
    try setFlag(.closed, closed.contains(row), of: target)
    if closed.contains(row) { closed.insert(target) } else { closed.remove(target) }
    guard let later = try writer.node(row)?.attributes, var attributes = try writer.node(target)?.attributes else {
      return
    }
    (attributes.role, attributes.savedAt) = (later.role, later.savedAt)
    if later.savedAt == nil { attributes.flags.remove(.carriedOver) }
    try writer.setAttributes(attributes, of: target)
    hasMarkedUnheld = false
  }

  /// Whether an object had a row later than another one.
  private func wasLive(_ row: NodeID, after other: NodeID) throws(ArchiveError) -> Bool {
    guard let one = try writer.node(row)?.attributes, let two = try writer.node(other)?.attributes else { return false }
    guard let last = two.savedAt else { return false }
    return one.savedAt.map { $0 > last } ?? true
  }

  /// Gives the records of a row numbers of their own, where two rows have become one with records of one save: those that were in
  /// the row before are newer.
  private mutating func separateSaves(of row: NodeID, newer: Set<NodeID>) throws(ArchiveError) {
    var records: [(id: NodeID, attributes: RestorationArchive.Attributes, isNewer: Bool)] = []
    for id in try self.records(of: row) {
      if let node = try writer.node(id) { records.append((id, node.attributes, newer.contains(id))) }
    }
    records.sort {
      $0.attributes.save == $1.attributes.save ? !$0.isNewer && $1.isNewer : $0.attributes.save < $1.attributes.save
    }
    var last: UInt32 = 0
    for record in records {
      if record.attributes.save <= last {
        var attributes = record.attributes
        attributes.save = last &+ 1
        try writer.setAttributes(attributes, of: record.id)
      }
      last = max(record.attributes.save, last &+ 1)
    }
    if last >= save { save = last &+ 1 }
  }

  private mutating func move(record: NodeID, into row: NodeID) throws(ArchiveError) {
    guard let node = try writer.node(record) else { return }
    let target = try insertRecord(in: row, node.attributes)
    try writer.moveState(of: record, to: target)
    try setRecordFacts(of: target, from: node.attributes)
    if written.contains(record) { written.insert(target) }
    moved.move(record: record, to: target)
    try removeRecord(record)
  }

  /// Gives a record the version, the number and the marks of another one.
  mutating func setRecordFacts(
    of record: NodeID, from facts: RestorationArchive.Attributes
  ) throws(ArchiveError) {
    guard var attributes = try writer.node(record)?.attributes else { return }
    (attributes.version, attributes.save) = (facts.version, facts.save)
    let marks: RestorationArchive.NodeFlags = [.first, .quarantined, .shed]
    attributes.flags.subtract(marks)
    attributes.flags.formUnion(facts.flags.intersection(marks))
    try writer.setAttributes(attributes, of: record)
  }

  // MARK: - Leaving

  /// The table *Leave*: what the object was given, wrote or superseded goes; the row stays for what is unread.
  mutating func leave(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let holding = letGo(key), let row = holding.row else { return }
    var going = [holding.record].compactMap(\.self) + holding.superseded + holding.joined
    if holding.place.given == nil { going += try givableRecords(of: row, for: holding) }
    for record in going { try removeRecord(record) }
    try becomeAbsent(row)
  }

  /// The records that an object could have been given that came by itself: nothing that the user closes comes back.
  private func givableRecords(of row: NodeID, for holding: Holding) throws(ArchiveError) -> [NodeID] {
    guard holding.isAskedFor, holding.isCaptured else { return [] }
    var found: [NodeID] = []
    for record in try records(of: row) where try canBeGiven(record, holding.attributes.version) { found.append(record) }
    return found
  }

  /// Rows of other models wait, where a live object shows one: its class's, or that of a superclass.
  mutating func retireOthers(of row: NodeID) throws(ArchiveError) {
    guard let place = try place(of: row), numbered[place] != nil,
      let own = try writer.node(row)?.attributes.identity, let model = own.model
    else { return }
    let named = holders[row].flatMap { holding($0)?.attributes.classTag }
    let accepted = named.flatMap { acceptedClasses[$0] } ?? []
    for other in try rows(at: place) where other != row && holders[other] == nil && !absent.contains(other) {
      guard let found = try writer.node(other).map({ classes.current($0.attributes.identity) }),
        found.isView == own.isView, let another = found.model, another != model, let tag = found.classTag,
        tag == classes.current(own.classTag) || accepted.contains(tag)
      else { continue }
      try becomeAbsent(other)
    }
  }

  /// Removes what objects were given that have left in the turn that gave it.
  mutating func leave(_ gifts: [CaptureBatch.Gift]) throws(ArchiveError) {
    for gift in gifts where holders[currentRow(gift.row)] == nil {
      let records = [gift.record].compactMap(\.self) + gift.superseded + gift.joined + gift.first
      for record in records { try removeRecord(current(record)) }
      try becomeAbsent(currentRow(gift.row))
    }
  }

  /// The object shows another model now, or is of another class: its row waits as it is.
  mutating func outgrow(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let row = letGo(key)?.row else { return }
    // What the object has in its place from now on stands there.
    if let place = try place(of: row) { try noteOrder(at: place, isShared: true) }
    try becomeAbsent(row)
  }

  /// Has a row wait for an object that it fits; one without records in or below it goes.
  mutating func becomeAbsent(_ row: NodeID) throws(ArchiveError) {
    guard var attributes = try writer.node(row)?.attributes else { return }
    guard try hasContent(row) else { return try remove(row) }
    attributes.flags.insert(.absent)
    attributes.savedAt = attributes.savedAt ?? writer.context.timeSaved
    try writer.setAttributes(attributes, of: row)
    absent.insert(row)
    if let node = try writer.node(row)?.parent, absent.contains(node) { return }
    // The live row of the same key, if there is one, has what nobody has read from now on.
    guard let place = try place(of: row) else { return }
    let identity = classes.current(attributes.identity)
    for other in try rows(at: place) where other != row {
      // What waits below a row that the parent gives up is not the object's.
      guard let holder = holders[other], holding(holder)?.place.parent.map(givingUp.contains) != true else { continue }
      if try hasIdentity(identity, other) { return try move(contentsOf: row, into: other) }
    }
  }

  // MARK: - On request

  /// Removes the rows of a path in and below which nothing is live; false when there is none.
  mutating func forget(_ path: RestorationPath) throws(ArchiveError) -> Bool {
    guard let place = try place(at: path) else { return false }
    var isAny = false
    for row in try rows(at: place) where try !hasHolder(inside: row) {
      try remove(row)
      isAny = true
    }
    return isAny
  }

  /// Removes all rows of a path.
  mutating func removeAll(at path: RestorationPath) throws(ArchiveError) {
    guard let place = try place(at: path) else { return }
    for row in try rows(at: place) { try remove(row) }
  }

  /// Removes older records that a live object could have been given: the program was shown them, and has settled the conflict.
  mutating func settle(_ key: CaptureBatch.Key, _ records: [NodeID]) throws(ArchiveError) {
    guard let holding = holding(key) else { return }
    let settled = Set(records.map(current))
    for record in holding.superseded where settled.contains(record) { try removeRecord(record) }
    update(key) { $0.superseded.removeAll(where: settled.contains) }
  }

  /// Removes rows whose own rules say that they are of no use any more.
  mutating func drop(_ rows: [NodeID]) throws(ArchiveError) {
    for row in rows where holders[row] == nil { try remove(row) }
  }

  /// Whether a live object has a row, or one below it.
  func hasHolder(inside top: NodeID) throws(ArchiveError) -> Bool {
    guard !holders.isEmpty else { return false }
    var stack = [top]
    while let next = stack.popLast() {
      if holders[next] != nil { return true }
      stack += try writer.children(of: next)
    }
    return false
  }

  /// The place that a path leads to; nil when the rows above it are not there.
  private func place(at path: RestorationPath) throws(ArchiveError) -> Place? {
    guard let top = path.components.first, let last = path.last else {
      return Place(parent: nil, identifier: ReservedNode.application)
    }
    let isShared = top == ReservedNode.shared && path.components.count > 1
    let first = isShared ? top : ReservedNode.stored(top)
    guard path.components.count > 1 else { return Place(parent: nil, identifier: first) }
    var parent: NodeID?
    for identifier in [first] + path.components.dropFirst().dropLast() {
      let rows = try rows(at: Place(parent: parent, identifier: identifier))
      let held = rows.first { holders[$0] != nil }
      guard let next = held ?? rows.first(where: { !absent.contains($0) }) ?? rows.first else { return nil }
      parent = next
    }
    return Place(parent: parent, identifier: last)
  }

  // MARK: - Crashes

  /// Quarantines the record, or the row, at which restoring died: nothing is made there until something newer is written there.
  mutating func quarantine(_ node: NodeID) throws(ArchiveError) {
    guard let found = try writer.node(node) else { return }
    if found.hasRecord { try setFlag(.quarantined, true, of: node) }
    guard let row = found.attributes.flags.contains(.record) ? found.parent : node else { return }
    try setFlag(.closed, true, of: row)
    closed.insert(row)
  }

  /// Takes the quarantine of records away that were given and did well.
  mutating func acquit(_ records: [NodeID]) throws(ArchiveError) {
    for record in records {
      guard let node = try writer.node(record) else { continue }
      try setFlag(.quarantined, false, of: record)
      if let row = node.attributes.flags.contains(.record) ? node.parent : record { try open(row) }
    }
  }

  /// Says that something newer was written in a row: objects are made there, and on the way to it, again.
  mutating func openRows(upTo row: NodeID) throws(ArchiveError) {
    guard !closed.isEmpty else { return }
    var next = Optional(row)
    while let id = next, let node = try writer.node(id) {
      try open(id)
      next = node.parent
    }
  }

  /// Says that objects are made in a row again.
  mutating func open(_ row: NodeID) throws(ArchiveError) {
    guard closed.remove(row) != nil else { return }
    try setFlag(.closed, false, of: row)
  }
}
