internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The rows of a window, as the next save writes them.
///
/// A row has the state of one object: its place, its class and its model, and its records, mostly one. What was loaded, what the
/// next save writes and what was saved while locked are tables. A pure value: it knows no disk, no clock and no objects, only the
/// keys by which captures name them. `Docs/Engine.md` has its rules.
struct Table: Sendable {
  /// The parent row and the identifier of objects.
  struct Place: Hashable, Sendable {
    var parent: NodeID?
    var identifier: RestorationIdentifier
  }

  /// What a live object has to do with the rows: set in the turn in which it is met.
  struct Holding: Sendable {
    /// Where the object is.
    var place: CaptureBatch.Placement
    /// Its row; nil while there is nothing to write of it.
    var row: NodeID?
    /// The record that the object was given or wrote.
    var record: NodeID?
    /// Older records that it could have been given.
    var superseded: [NodeID] = []
    /// Records that were joined with the given one, and go when that is written.
    var joined: [NodeID] = []
    /// The values that are nobody's edit; nil when everything is written that differs from the record.
    var baseline: Baseline?
    /// The values of its record, while that is *first* and refers to others, whose places are no values.
    var firstValues: Baseline?
    /// The class of protection that the object names; nil for its parent's.
    var protection: ProtectionClass?
    /// What the archive records of the object, once its values were captured.
    var attributes = RestorationArchive.Attributes()
    /// Whether they were, since it was met.
    var isCaptured = false
    /// Whether the launch asks for state of its class.
    var isAskedFor = true
  }

  /// Values that an object has without anybody's doing.
  enum Baseline: Hashable, Sendable {
    /// Those that the next capture finds: the object is met in the turn that restores.
    case unknown
    /// None could be encoded: the first that can be are an edit.
    case unencodable
    /// These.
    case values(Digest)
  }

  /// A row as it stood among its siblings.
  struct FormerRow: Sendable {
    var row: NodeID
    var identifier: RestorationIdentifier
  }

  /// The most records of one row.
  static let recordsAtMost = 8
  /// The most rows that are absent.
  static let absentAtMost = 64

  let limits: RestorationArchive.Limits
  let nodeBudget: Int
  /// The rows and their records, as nodes.
  var writer: RestorationArchive.PartedWriter
  /// In which of its parts the rows of each class of protection are.
  var parts: PartClasses
  /// The strongest class to whose part rows have come from weaker ones since the last whole generation: what holds them there goes.
  var leftWeakerPartsFor: ProtectionClass?
  /// Whether there may be stored rows that can't be read now.
  let isLocked: Bool
  /// The objects whose state is written here, where that of others could be read; nil when all is.
  var ownKeys: Set<CaptureBatch.Key>?
  /// The registered classes.
  var classes = ClassTable()
  /// What live objects have, by key.
  private(set) var holdings: [Holding?] = []
  /// The live objects that have rows.
  private(set) var holders: [NodeID: CaptureBatch.Key] = [:]
  /// The rows whose names have numbers.
  var numbered: [Place: [NodeID]]
  /// The rows below others as they stood before one of them came beside another of its place: they are to be arranged.
  var formerOrders: [NodeID: [FormerRow]] = [:]
  /// Rows that had to stay above what can't be read, and those with which they have become one: they keep the keys of these.
  var leftAboveHoles: [NodeID: NodeID] = [:]
  /// Where rows and records are that have become others' or have other numbers.
  var moved = MovedNodes()
  /// The classes whose state may be given to live objects, by the tags of these.
  var acceptedClasses: [RestorationArchive.ClassTag: Set<RestorationArchive.ClassTag>] = [:]
  /// Rows that have come below others in this capture, or are not absent any more, as rows have become one.
  var arrived: [NodeID] = []
  /// The objects that give their rows up in this capture, as they name their first models with changed values.
  var givingUp: Set<CaptureBatch.Key> = []
  /// The objects below those that have given their rows up, which have come below the new ones.
  var broughtAlong: [CaptureBatch.Key] = []
  /// The rows that objects have instead of others in the same places, by those.
  var successors: [NodeID: NodeID] = [:]
  /// The second and later records of rows, in the order of their saves.
  var furtherRecords: [NodeID: [NodeID]]
  /// The rows that are absent.
  var absent: Set<NodeID>
  /// The rows at which restoring died.
  var closed: Set<NodeID>
  /// The orders of live children, by their parents, while rows come only with what is written in them.
  var orders: [CaptureBatch.Key: CaptureBatch.Order] = [:]
  /// Those with which their parents were met.
  var ordersMet: [CaptureBatch.Key: CaptureBatch.Order] = [:]
  /// The records that this run has written.
  var written: Set<NodeID> = []
  /// The baselines of objects that keep their values at an unlock, by their rows, until the next look meets the objects.
  var formerBaselines: [NodeID: Baseline] = [:]
  /// How many hidden rows have got their names back.
  var revealed = 0
  /// The number of the save that comes next.
  var save: UInt32
  /// The number with which a record was written last.
  var lastWritten: UInt32 = 0
  /// Live objects for which the archive has no place, and of the topmost why: the tree would be too deep, or too large.
  var unplaced: [CaptureBatch.Key: (path: RestorationPath, message: String)?] = [:]
  /// Live objects whose records have changed since the last save.
  var changed: Set<CaptureBatch.Key> = []
  /// Live objects whose values could not be encoded when they were captured last, and why.
  var unencoded: [CaptureBatch.Key: String] = [:]
  /// The sizes of live objects' states that are over the budget for one node.
  var overBudget: [CaptureBatch.Key: Int] = [:]
  /// What happened to rows since the last save, for its receipt.
  var owedFindings: [PreservationOutcome.Finding] = []
  var digests: DigestMaker
  /// The values of objects as they were asked last and found to differ; nil for those that can't be encoded.
  var foundValues: [CaptureBatch.Key: Digest?] = [:]
  /// Whether rows without an object are marked as such.
  var hasMarkedUnheld: Bool

  /// Begins an empty table.
  ///
  /// - Parameter isLocked: Whether there may be stored rows that can't be read now.
  init(
    context: RestorationArchive.Context, protection: ProtectionClass, limits: RestorationArchive.Limits,
    nodeBudget: Int,
    isLocked: Bool = false
  ) {
    parts = PartClasses(protection)
    self.limits = limits
    self.nodeBudget = nodeBudget
    self.isLocked = isLocked
    digests = DigestMaker(depthLimit: limits.valueDepth)
    writer = RestorationArchive.PartedWriter(context: context, limits: limits)
    (numbered, furtherRecords, absent, closed, save, hasMarkedUnheld) = ([:], [:], [], [], 1, true)
  }

  /// Goes on from an archive; none of its rows has an object yet.
  ///
  /// - Parameters:
  ///   - parts: The classes of its parts.
  ///   - index: What has to be known of its rows.
  init(
    continuing reader: RestorationArchive.PartedReader, parts: PartClasses, _ index: RowIndex,
    limits: RestorationArchive.Limits, nodeBudget: Int
  ) throws(ArchiveError) {
    self.parts = parts
    self.limits = limits
    self.nodeBudget = nodeBudget
    isLocked = false
    digests = DigestMaker(depthLimit: limits.valueDepth)
    writer = try RestorationArchive.PartedWriter(continuing: reader, limits: limits)
    numbered = index.numbered
    furtherRecords = index.furtherRecords
    absent = index.absent
    closed = index.closed
    save = index.lastSave &+ 1
    hasMarkedUnheld = false
  }

  // MARK: - Live objects

  /// What a live object has; nil while it is not known.
  func holding(_ key: CaptureBatch.Key) -> Holding? { key < holdings.count ? holdings[key] : nil }

  /// The row of a live object, if the table has it.
  func row(of key: CaptureBatch.Key) -> NodeID? { holding(key)?.row }

  /// Notes what a live object has.
  mutating func hold(_ holding: Holding, _ key: CaptureBatch.Key) {
    while holdings.count <= key { holdings.append(nil) }
    if let former = holdings[key]?.row, former != holding.row { holders[former] = nil }
    holdings[key] = holding
    if let row = holding.row { holders[row] = key }
  }

  /// Makes room for objects that are about to be met, as there may be very many.
  mutating func makeRoom(for count: Int) {
    holdings.reserveCapacity(holdings.count + count)
    holders.reserveCapacity(count)
    writer.makeRoom(for: count)
  }

  /// Changes what a live object has.
  mutating func update(_ key: CaptureBatch.Key, _ body: (inout Holding) -> Void) {
    guard var holding = holding(key) else { return }
    body(&holding)
    hold(holding, key)
  }

  /// Forgets a live object; its row is nobody's.
  @discardableResult
  mutating func letGo(_ key: CaptureBatch.Key) -> Holding? {
    guard let holding = holding(key) else { return nil }
    holdings[key] = nil
    if let row = holding.row { holders[row] = nil }
    unencoded[key] = nil
    unplaced[key] = nil
    if !overBudget.isEmpty { overBudget[key] = nil }
    hasMarkedUnheld = false
    return holding
  }

  /// Gives what a live object has to the key that it has from now on.
  mutating func rename(_ former: CaptureBatch.Key, to key: CaptureBatch.Key) {
    guard holding(key) == nil, let holding = holding(former) else { return }
    holdings[former] = nil
    if let row = holding.row { holders[row] = nil }
    hold(holding, key)
    overBudget[key] = overBudget.removeValue(forKey: former)
    if !unencoded.isEmpty { unencoded[key] = unencoded.removeValue(forKey: former) }
  }

  /// Forgets every live object, so that the next capture of everything meets them anew.
  mutating func letGoOfAll() {
    (holdings, holders) = ([], [:])
    (unplaced, changed, unencoded, overBudget, orders, ordersMet) = ([:], [], [:], [:], [:], [:])
    foundValues = [:]
  }

  // MARK: - Rows

  /// The rows of a place.
  func rows(at place: Place) throws(ArchiveError) -> [NodeID] {
    var rows: [NodeID] = []
    if let plain = try writer.child(of: place.parent, identifier: place.identifier),
      let node = try writer.node(plain), node.attributes.flags.isDisjoint(with: [.numbered, .record])
    {
      rows.append(plain)
    }
    if !numbered.isEmpty { rows += numbered[place] ?? [] }
    return rows
  }

  /// The row without an object that has exactly a key; nil when there is none.
  func unheldRow(at place: Place, _ identity: Identity) throws(ArchiveError) -> NodeID? {
    var found: NodeID?
    for row in try rows(at: place) where holders[row] == nil {
      guard try hasIdentity(identity, row) else { continue }
      // One that has become one with another may be left, above what can't be read.
      let hasRecords = try !records(of: row).isEmpty
      if found == nil || hasRecords { found = row }
    }
    return found
  }

  /// Whether a row is of a class, under today's tag, and of a model.
  func hasIdentity(_ identity: Identity, _ row: NodeID) throws(ArchiveError) -> Bool {
    try writer.node(row).map { classes.current($0.attributes.identity) } == identity
  }

  /// Where a row is.
  func place(of row: NodeID) throws(ArchiveError) -> Place? {
    try writer.node(row).map { Place(parent: $0.parent, identifier: $0.rowIdentifier) }
  }

  /// Adds a row without records; another one of its place may have its identifier.
  ///
  /// - Parameter protection: The class of its part; nil for that of the row above it.
  mutating func insert(
    at place: Place, _ attributes: RestorationArchive.Attributes, _ protection: ProtectionClass?
  ) throws(ArchiveError) -> NodeID {
    var attributes = attributes
    attributes.flags.subtract([.record, .first, .quarantined, .shed, .carriedOver, .absent, .numbered, .closed])
    try requireRoom(below: place.parent)
    (attributes.savedAt, attributes.save) = (nil, 0)
    let name = try freeName(at: place, for: nil)
    if name != place.identifier { attributes.flags.insert(.numbered) }
    try noteOrder(at: place, isShared: name != place.identifier)
    let row = try writer.insert(
      name, parent: place.parent, attributes: attributes, part: protection.map { parts.part(of: $0) })
    if name != place.identifier { numbered[place, default: []].append(row) }
    return row
  }

  /// Notes how the rows stand beside which another one of a place comes.
  mutating func noteOrder(at place: Place, isShared: Bool) throws(ArchiveError) {
    guard let parent = place.parent, formerOrders[parent] == nil, isShared || numbered[place] != nil else { return }
    var rows: [FormerRow] = []
    for row in try writer.children(of: parent) {
      if let node = try writer.node(row) { rows.append(FormerRow(row: row, identifier: node.rowIdentifier)) }
    }
    formerOrders[parent] = rows
  }

  /// Puts a row in another place.
  mutating func move(_ row: NodeID, to place: Place) throws(ArchiveError) {
    guard let node = try writer.node(row), let former = try self.place(of: row), former != place else { return }
    var row = row
    let isNumbered = node.attributes.flags.contains(.numbered)
    if node.parent != place.parent {
      try requireRoom(below: place.parent)
      // Its name may be taken there: pass through a name that nobody has.
      let passing = RowName.numbered(RowName.record(row), row)
      try writer.rename(row, to: passing)
      do {
        let numbers = try writer.move(row, to: place.parent)
        renumber(numbers)
        row = numbers[row] ?? row
      } catch {
        try writer.rename(row, to: node.identifier)
        throw error
      }
    }
    if isNumbered { forgetNumber(of: row, at: former) }
    let name = try freeName(at: place, for: row)
    try noteOrder(at: place, isShared: name != place.identifier)
    try writer.rename(row, to: name)
    try setFlag(.numbered, name != place.identifier, of: row)
    if name != place.identifier { numbered[place, default: []].append(row) }
  }

  /// Throws `limitExceeded` where a row would have no level below it for a second record.
  private func requireRoom(below parent: NodeID?) throws(ArchiveError) {
    var (next, depth) = (parent, 1)
    while let row = next, depth < limits.depth {
      next = try writer.node(row)?.parent
      depth += 1
    }
    guard depth < limits.depth else {
      throw ArchiveError(.limitExceeded, "the tree would be deeper than \(limits.depth - 1) levels")
    }
  }

  mutating func forgetNumber(of row: NodeID, at place: Place) {
    numbered[place]?.removeAll { $0 == row }
    if numbered[place]?.isEmpty == true { numbered[place] = nil }
  }

  /// A name that no sibling has.
  private func freeName(at place: Place, for row: NodeID?) throws(ArchiveError) -> RestorationIdentifier {
    guard let taken = try writer.child(of: place.parent, identifier: place.identifier), taken != row else {
      return place.identifier
    }
    return try freeNumberedName(at: place, for: row)
  }

  /// A name with a number that no sibling has.
  func freeNumberedName(at place: Place, for row: NodeID?) throws(ArchiveError) -> RestorationIdentifier {
    var number = row ?? NodeID(rawValue: writer.nextNumber)
    var name = RowName.numbered(place.identifier, number)
    while let taken = try writer.child(of: place.parent, identifier: name), taken != row {
      number = NodeID(rawValue: number.rawValue &+ 1)
      name = RowName.numbered(place.identifier, number)
    }
    return name
  }

  /// Sets or clears flags of a node.
  mutating func setFlag(_ flag: RestorationArchive.NodeFlags, _ isSet: Bool, of node: NodeID) throws(ArchiveError) {
    guard var attributes = try writer.node(node)?.attributes, attributes.flags.isSuperset(of: flag) != isSet else {
      return
    }
    if isSet { attributes.flags.insert(flag) } else { attributes.flags.remove(flag) }
    try writer.setAttributes(attributes, of: node)
  }

  /// Removes a row with everything below it; live objects there have no rows any more.
  mutating func remove(_ row: NodeID) throws(ArchiveError) {
    // What can't be read can't be removed, nor can the rows on the way to it.
    guard try writer.node(row) != nil, try !writer.hasHoles(below: row) else { return }
    var stack = [row]
    while let next = stack.popLast() {
      stack += try writer.children(of: next)
      if let key = holders[next] { letGo(key) }
      if !numbered.isEmpty, let place = try place(of: next) { forgetNumber(of: next, at: place) }
      furtherRecords[next] = nil
      absent.remove(next)
      closed.remove(next)
      written.remove(next)
    }
    try writer.remove(row)
  }

  // MARK: - Records

  /// The records of a row, in no order.
  func records(of row: NodeID) throws(ArchiveError) -> [NodeID] {
    var records = furtherRecords[row] ?? []
    if let node = try writer.node(row), node.hasRecord { records.insert(row, at: 0) }
    return records
  }

  /// Where a record of the loaded table is now.
  func current(_ record: NodeID) -> NodeID { moved.record(record) }

  /// The row that a row of the loaded table is now.
  func currentRow(_ row: NodeID) -> NodeID { moved.row(row) }

  /// Has records that are written from now on count as newer than those that were written by now, in the same save perhaps.
  mutating func closeSave() {
    if lastWritten == save { save &+= 1 }
  }

  /// Whether a record is *first*: its object came by itself and was not edited.
  func isFirst(_ record: NodeID) -> Bool {
    ((try? writer.node(record)) ?? nil)?.attributes.flags.contains(.first) ?? false
  }

  /// Whether an object has written something that is not *first*.
  func isEdited(_ key: CaptureBatch.Key) -> Bool { holding(key)?.record.map { !isFirst($0) } ?? false }

  /// Whether a row has records, or a row below it.
  func hasContent(_ row: NodeID) throws(ArchiveError) -> Bool {
    var stack = [row]
    while let next = stack.popLast() {
      if holders[next] != nil || furtherRecords[next] != nil { return true }
      if let node = try writer.node(next), node.hasRecord || node.attributes.flags.contains(.hole) { return true }
      stack += try writer.children(of: next)
    }
    return false
  }

  /// Whether any row has records.
  var hasRecords: Bool {
    get throws(ArchiveError) {
      var stack = try writer.roots
      while let next = stack.popLast() {
        if let node = try writer.node(next), node.hasRecord { return true }
        stack += try writer.children(of: next)
      }
      return false
    }
  }

  /// A place for a record that is new in a row: the row's own node, if that has none.
  mutating func insertRecord(
    in row: NodeID, _ attributes: RestorationArchive.Attributes
  ) throws(ArchiveError) -> NodeID {
    guard let node = try writer.node(row), node.hasRecord else { return row }
    return try insertFurtherRecord(in: row, attributes)
  }

  /// A place for a record behind those that a row has.
  mutating func insertFurtherRecord(
    in row: NodeID, _ attributes: RestorationArchive.Attributes
  ) throws(ArchiveError) -> NodeID {
    var own = RestorationArchive.Attributes(
      version: attributes.version, priority: attributes.priority, flags: [.record])
    own.save = attributes.save
    var number = writer.nextNumber
    while try writer.child(of: row, identifier: RowName.record(NodeID(rawValue: number))) != nil { number &+= 1 }
    let record = try writer.insert(RowName.record(NodeID(rawValue: number)), parent: row, attributes: own)
    furtherRecords[row, default: []].append(record)
    return record
  }

  /// Removes a record; its row stays.
  mutating func removeRecord(_ record: NodeID) throws(ArchiveError) {
    written.remove(record)
    guard let node = try writer.node(record) else { return }
    guard node.attributes.flags.contains(.record), let row = node.parent else {
      try writer.removeState(of: record)
      return try setFlag([.shed], false, of: record)
    }
    try writer.remove(record)
    furtherRecords[row]?.removeAll { $0 == record }
    if furtherRecords[row]?.isEmpty == true { furtherRecords[row] = nil }
  }

  // MARK: - Paths

  /// Where a row is, from the root, as the interface calls it.
  func path(of row: NodeID) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next: NodeID? = row
    while let id = next, let node = try? writer.node(id) {
      next = node.parent
      if node.attributes.flags.contains(.record) { continue }
      let identifier = node.rowIdentifier
      if identifier == ReservedNode.application { return [] }
      components.append(node.parent == nil ? ReservedNode.original(identifier) : identifier)
    }
    return RestorationPath(components.reversed())
  }

  /// Where an object is, from the root, as the interface calls it.
  func path(of placement: CaptureBatch.Placement) -> RestorationPath {
    var components = placement.section == .application ? [] : [placement.identifier]
    var next = placement.parent
    while let key = next, let holding = holding(key) {
      if let row = holding.row { return RestorationPath(path(of: row).components + components.reversed()) }
      components.append(holding.place.identifier)
      next = holding.place.parent
    }
    return RestorationPath(components.reversed())
  }

  /// A node of the framework's own, made when there is none.
  mutating func reserved(_ identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID {
    if let node = try writer.child(of: nil, identifier: identifier) { return node }
    return try writer.insert(identifier, parent: nil, attributes: .init(priority: .required, flags: .reserved))
  }
}

/// Where rows and records are that came from rows that became one with others, or that have come into other parts, by their
/// former numbers.
struct MovedNodes: Sendable {
  private var rows: [NodeID: NodeID] = [:]
  // A row and the record in its own node have one number, and may go different ways.
  private var records: [NodeID: NodeID] = [:]

  /// Where a row is now.
  func row(_ row: NodeID) -> NodeID { Self.last(row, rows) }

  /// Where a record is now.
  func record(_ record: NodeID) -> NodeID { Self.last(record, records) }

  private static func last(_ node: NodeID, _ moves: [NodeID: NodeID]) -> NodeID {
    var (node, steps) = (node, 0)
    while let next = moves[node], next != node, steps <= moves.count { (node, steps) = (next, steps + 1) }
    return node
  }

  /// The records that are elsewhere now, and where.
  var movedRecords: [NodeID: NodeID] { Dictionary(uniqueKeysWithValues: records.keys.map { ($0, record($0)) }) }

  /// Notes that a row has become one with another one.
  mutating func move(row: NodeID, to other: NodeID) { rows[row] = other }

  /// Notes that a record is in another node.
  mutating func move(record: NodeID, to other: NodeID) { records[record] = other }
}

extension RestorationArchive.Node {
  /// Whether the node has a record, also one for which there was no room.
  var hasRecord: Bool { byteCount > 0 || attributes.flags.contains(.shed) }
}

/// What a table has to know of the rows of an archive that it continues.
struct RowIndex: Sendable {
  /// The rows whose names have numbers.
  var numbered: [Table.Place: [NodeID]] = [:]
  /// The second and later records of rows.
  var furtherRecords: [NodeID: [NodeID]] = [:]
  /// The rows that are absent.
  var absent: Set<NodeID> = []
  /// The rows at which restoring died.
  var closed: Set<NodeID> = []
  /// The highest number of a save.
  var lastSave: UInt32 = 0
}
