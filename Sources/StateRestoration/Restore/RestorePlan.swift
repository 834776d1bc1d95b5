internal import FoundationShim
internal import RestorationArchive

/// A table of rows, loaded off the main actor and laid flat: parents before children, siblings in order.
struct RestorePlan: Sendable {
  /// What restoring asks of every row: copied without counting a reference.
  struct Node: Sendable {
    /// The row's number.
    var id: NodeID
    /// Index of the parent; nil for a root.
    var parent: Int?
    /// Index of the first row after the subtree.
    var end: Int
    var childCount = 0
    /// The bytes of the record in the row's own node.
    var byteCount: Int
    /// The version of that.
    var version: StateVersion
    var flags: RestorationArchive.NodeFlags
    /// Index of the class in ``RestorePlan/tags``; nil when the row has none.
    var tag: Int?
    /// Whether there is something in ``RestorePlan/details``.
    var hasDetails: Bool
    /// Whether it leads the rows of its place: paths lead to it, and its object is made.
    var leads = true

    /// Whether it holds app-level state.
    var isApplication: Bool { flags.contains(.reserved) }

    /// Whether there is a row that can't be read now, as its class of protection has no key: nothing else is known of it.
    var isHole: Bool { flags.contains(.hole) }

    /// Whether its object left, or shows another model now.
    var isAbsent: Bool { flags.contains(.absent) }

    var kind: NodeReport.Kind {
      if flags.contains(.view) { return .view }
      return flags.contains(.shared) ? .shared : .controller
    }
  }

  /// What only some rows have.
  struct Details: Sendable {
    var savedAt: Date?
    var model: ModelIdentifier?
    var role: RestorationArchive.Role?
    /// Why the record in the row's own node could not be read.
    var damage: String?
  }

  /// A second or later record of a row.
  struct FurtherRecord: Sendable {
    var id: NodeID
    var version: StateVersion
    var flags: RestorationArchive.NodeFlags
    var save: UInt32
    var byteCount: Int
    /// Its place among the states of all further records.
    var position: Int
    /// Why it could not be read.
    var damage: String?
  }

  /// One record of a row: that in its own node, or a further one.
  struct RecordPlace: Hashable, Sendable {
    var row: Int
    /// The position among the further records; nil for the row's own node.
    var further: Int?
  }

  private(set) var nodes: [Node] = []
  private(set) var paths: [RestorationPath] = []
  private var details: [Int: Details] = [:]
  private var tags: [RestorationArchive.ClassTag] = []
  /// The states of the records in the rows' own nodes, by the rows' indices, and behind them those of further records.
  private var records = PlannedRecords([], paths: [])
  /// The further records of rows that have some, by the rows' indices, in the order of their saves.
  private var further: [Int: [FurtherRecord]] = [:]
  /// The saves that wrote the records in the rows' own nodes.
  private var saves: [UInt32] = []
  var context: RestorationArchive.Context
  /// The row that leads the place of the app-level state, at the empty path; nil when there is none.
  private(set) var application: Int?
  /// The rows of places that have several, behind the one that leads, by its index.
  private(set) var others: [Int: [Int]] = [:]
  /// The rows that lead the places of others, by these.
  private var leaders: [Int: Int] = [:]
  /// Whether rows share a key, as two programs have written them under two tags of one class.
  private(set) var hasTwins = false
  /// Rows that have the name of a sibling in another part, which could not be read when they got it.
  private(set) var namesakes: [NodeID] = []
  /// One row each of the places of which rows in two parts were live in the latest save, as that could not read both.
  private(set) var rivals: [NodeID] = []
  /// Whether a table has to put right what rows say of each other.
  var isToBeSettled: Bool { hasTwins || !namesakes.isEmpty || !rivals.isEmpty }
  /// What a table has to know that goes on from this.
  private(set) var index = RowIndex()

  /// Whether every row leads its place.
  var isPlain: Bool { others.isEmpty }

  /// Lets go of the states of rows that nobody needs any more, and of the archive that they were part of.
  func releaseRecords(unless isNeeded: (Int) -> Bool) {
    records.reduce { $0 >= nodes.count || isNeeded($0) || further[$0] != nil }
  }

  /// The bytes of the states that it holds.
  var heldByteCount: Int { records.byteCount }

  /// The rows that lead their places, outside of those that don't.
  var leads: [Int] {
    guard !isPlain else { return Array(nodes.indices) }
    var leads: [Int] = []
    var next = 0
    while next < nodes.count {
      if nodes[next].leads { leads.append(next) }
      next = nodes[next].leads ? next + 1 : nodes[next].end
    }
    return leads
  }

  /// Loads every row of an archive.
  ///
  /// - Parameter classes: Today's tags, which take the place of former ones.
  init(reader: RestorationArchive.PartedReader, classes: ClassTable = ClassTable()) throws(ArchiveError) {
    context = try reader.context
    var layout = Layout(reader)
    nodes.reserveCapacity(reader.nodeCount)
    paths.reserveCapacity(reader.nodeCount)
    layout.decoders.reserveCapacity(reader.nodeCount)
    tags = layout.walk.tags.map { classes.current($0) ?? $0 }
    let tops = try reader.roots
    layout.listed = tops.count
    for root in tops {
      guard let node = try reader.node(root) else { continue }
      if node.identifier == ReservedNode.shared, node.attributes.flags.contains(.reserved) {
        let children = try reader.children(of: root)
        layout.listed += children.count
        for child in children { try add(child, under: root, &layout) }
      } else {
        try add(root, under: nil, &layout)
      }
    }
    findNamesakes(layout.crossings)
    arrangePlaces(layout.numbered)
    application = nodes.indices.first { nodes[$0].isApplication && nodes[$0].leads }
    records = PlannedRecords(
      layout.decoders + layout.furtherDecoders, paths: paths + layout.furtherRows.map { [paths] in paths[$0] })
  }

  /// Finds siblings of one name: one of them, and the row above it, are in two parts.
  private mutating func findNamesakes(_ crossings: [Int]) {
    let named = crossings.filter { !nodes[$0].flags.contains(.numbered) && !nodes[$0].isHole }
    guard !named.isEmpty else { return }
    var seen: [Int: Set<RestorationPath>] = [:]
    let isCrossing = Set(crossings)
    for parent in Set(named.compactMap { nodes[$0].parent }) {
      var next = parent + 1
      while next < nodes[parent].end {
        if !isCrossing.contains(next), !nodes[next].flags.contains(.numbered) {
          seen[parent, default: []].insert(paths[next])
        }
        next = nodes[next].end
      }
    }
    for row in named {
      guard let parent = nodes[row].parent else { continue }
      if !seen[parent, default: []].insert(paths[row]).inserted { namesakes.append(nodes[row].id) }
    }
  }

  /// Finds the places that have several rows, and which of these leads.
  private mutating func arrangePlaces(_ numbered: [(index: Int, parent: NodeID?)]) {
    guard !numbered.isEmpty else { return }
    struct Spot: Hashable {
      var parent: Int?
      var path: RestorationPath
    }
    let wanted = Set(numbered.map { Spot(parent: nodes[$0.index].parent, path: paths[$0.index]) })
    var places: [Spot: [Int]] = [:]
    for row in nodes.indices {
      let spot = Spot(parent: nodes[row].parent, path: paths[row])
      if wanted.contains(spot) { places[spot, default: []].append(row) }
    }
    for rows in places.values where rows.count > 1 {
      let candidates = rows.map { findRow(at: $0, canBeGiven: true) }
      let best = Find.made(candidates) ?? Find.newest(candidates) ?? 0
      for (position, row) in rows.enumerated() where position != best { nodes[row].leads = false }
      if Set(rows.map { identity(of: $0) }).count < rows.count { hasTwins = true }
      let live = rows.filter { !nodes[$0].isAbsent && !nodes[$0].isHole && details(of: $0).savedAt == nil }
      if Set(live.map { nodes[$0].id.part }).count > 1 { rivals.append(nodes[live[0]].id) }
      for row in rows where row != rows[best] { leaders[row] = rows[best] }
      others[rows[best]] = rows.enumerated().filter { $0.offset != best }.map(\.element)
    }
  }

  /// What laying an archive flat needs, and the plan doesn't.
  private struct Layout {
    let walk: RestorationArchive.PartedWalk
    let nodeCount: Int
    var decoders: [RecordDecoder?] = []
    /// Those of further records, and the rows that have these.
    var furtherDecoders: [RecordDecoder?] = []
    var furtherRows: [Int] = []
    /// The nodes that lists of children have named so far: more than there are is damage, or somebody's doing, and would
    /// be walked for ever.
    var listed = 0
    /// The nodes to look up, the next one last.
    var waiting: [(id: NodeID, parent: Int?)] = []
    /// The row that was looked up last and those above it.
    var open: [Int] = []
    /// The rows that are in another part than the rows above them.
    var crossings: [Int] = []
    /// The rows whose names have numbers, and the nodes above them.
    var numbered: [(index: Int, parent: NodeID?)] = []

    init(_ reader: RestorationArchive.PartedReader) {
      walk = RestorationArchive.PartedWalk(reader)
      nodeCount = reader.nodeCount
    }
  }

  /// Lays a subtree flat.
  private mutating func add(_ root: NodeID, under top: NodeID?, _ layout: inout Layout) throws(ArchiveError) {
    layout.waiting.append((root, nil))
    while let (id, parent) = layout.waiting.popLast() {
      guard let visit = try layout.walk.visit(id) else { continue }
      layout.listed += visit.children.count
      guard layout.listed <= layout.nodeCount else {
        throw ArchiveError(
          .corrupt, "the lists of children name more nodes than there are", path: parent.map { paths[$0] })
      }
      index.lastSave = max(index.lastSave, visit.attributes.save)
      if visit.attributes.flags.contains(.record) {
        if let parent { addRecord(visit, id, to: parent, &layout) }
        continue
      }
      let row = nodes.count
      while let last = layout.open.last, last != parent {
        nodes[last].end = row
        layout.open.removeLast()
      }
      append(visit, id, parent, under: top, &layout)
      layout.open.append(row)
      for child in visit.children.reversed() { layout.waiting.append((child, row)) }
    }
    for row in layout.open { nodes[row].end = nodes.count }
    layout.open = []
  }

  private mutating func append(
    _ visit: RestorationArchive.Visit, _ id: NodeID, _ parent: Int?, under top: NodeID?, _ layout: inout Layout
  ) {
    let attributes = visit.attributes
    let row = nodes.count
    var rest = Details(savedAt: attributes.savedAt, model: attributes.model, role: attributes.role)
    let decoder = decoder(of: visit, layout, &rest.damage)
    layout.decoders.append(decoder)
    saves.append(attributes.save)
    let hasDetails = rest.savedAt != nil || rest.model != nil || rest.role != nil || rest.damage != nil
    if hasDetails { details[row] = rest }
    let flags = attributes.flags
    let isNumbered = flags.contains(.numbered)
    if let parent, nodes[parent].id.part != id.part { layout.crossings.append(row) }
    let shown = flags.contains(.absent) ? RowName.shown(visit.identifier) : nil
    let identifier =
      flags.contains(.hole)
      ? ReservedNode.hole(id) : isNumbered ? RowName.identifier(in: visit.identifier) : shown ?? visit.identifier
    if isNumbered {
      let above = parent.map { nodes[$0].id } ?? top
      layout.numbered.append((row, above))
      index.numbered[Table.Place(parent: above, identifier: identifier), default: []].append(id)
    }
    if flags.contains(.absent) { index.absent.insert(id) }
    if flags.contains(.closed) { index.closed.insert(id) }
    if let parent {
      nodes[parent].childCount += 1
      paths.append(paths[parent].appending(identifier))
    } else if flags.contains(.shared) {
      paths.append([ReservedNode.shared, identifier])
    } else if flags.contains(.reserved) {
      paths.append([])
    } else {
      paths.append([ReservedNode.original(identifier)])
    }
    nodes.append(
      Node(
        id: id, parent: parent, end: row + 1, byteCount: visit.byteCount, version: attributes.version, flags: flags,
        tag: visit.tag, hasDetails: hasDetails))
  }

  private mutating func addRecord(_ visit: RestorationArchive.Visit, _ id: NodeID, to row: Int, _ layout: inout Layout)
  {
    var damage: String?
    let decoder = decoder(of: visit, layout, &damage)
    further[row, default: []].append(
      FurtherRecord(
        id: id, version: visit.attributes.version, flags: visit.attributes.flags, save: visit.attributes.save,
        byteCount: visit.byteCount, position: layout.furtherDecoders.count, damage: damage))
    layout.furtherDecoders.append(decoder)
    layout.furtherRows.append(row)
    index.furtherRecords[nodes[row].id, default: []].append(id)
  }

  private func decoder(
    of visit: RestorationArchive.Visit, _ layout: Layout, _ damage: inout String?
  ) -> RecordDecoder? {
    do throws(ArchiveError) {
      return try layout.walk.decoder(of: visit)
    } catch {
      damage = error.message
      return nil
    }
  }
}

extension RestorePlan {
  /// The class of a row, under today's tag; nil when it has none.
  func tag(of index: Int) -> RestorationArchive.ClassTag? { nodes[index].tag.map { tags[$0] } }

  /// The tag of a row whose object names one.
  func namedTag(of index: Int) -> RestorationArchive.ClassTag? {
    nodes[index].flags.contains(.namedByType) ? nil : tag(of: index)
  }

  /// What a row has that most have not.
  func details(of index: Int) -> Details { nodes[index].hasDetails ? details[index] ?? Details() : Details() }

  /// Whose state a row holds.
  func identity(of index: Int) -> Identity {
    Identity(
      classTag: tag(of: index), model: details(of: index).model, isView: nodes[index].flags.contains(.view))
  }

  /// The facts that *Find* needs.
  func findRow(at index: Int, canBeGiven: Bool) -> Find.Row {
    Find.Row(
      identity: identity(of: index), canBeGiven: canBeGiven, isAbsent: nodes[index].isAbsent,
      lastLive: details(of: index).savedAt?.timeIntervalSinceReferenceDate,
      newestSave: records(of: index).map { save(of: $0) }.max() ?? 0, number: nodes[index].id.rawValue)
  }

  /// Whether a row is the only one of its place.
  func leadsAlone(_ index: Int) -> Bool { isPlain || others[index] == nil }

  /// The rows of a place, by the index of the one that leads it, which comes first.
  func rows(ledBy index: Int) -> [Int] {
    isPlain ? [index] : [index] + (others[index] ?? [])
  }

  /// The row that leads the place of another one.
  func lead(of index: Int) -> Int { nodes[index].leads ? index : leaders[index] ?? index }

  /// The indices of a row's children, in order, each leading the rows of its place: each subtree begins where the one before it
  /// ends.
  func children(of index: Int) -> [Int] {
    var children: [Int] = []
    children.reserveCapacity(nodes[index].childCount)
    var next = index + 1
    while next < nodes[index].end {
      if nodes[next].leads { children.append(next) }
      next = nodes[next].end
    }
    return children
  }

  // MARK: - Records

  /// The records of a row.
  func records(of index: Int) -> [RecordPlace] {
    let own = hasOwnRecord(index) ? [RecordPlace(row: index)] : []
    guard let more = further[index] else { return own }
    return own + more.indices.map { RecordPlace(row: index, further: $0) }
  }

  /// Whether a row has a record in its own node, also one for which there was no room.
  private func hasOwnRecord(_ index: Int) -> Bool {
    nodes[index].byteCount > 0 || nodes[index].flags.contains(.shed)
  }

  /// Whether a row has one record at most, that in its own node.
  func hasOneRecord(_ index: Int) -> Bool { further.isEmpty || further[index] == nil }

  private func further(_ place: RecordPlace) -> FurtherRecord? { place.further.flatMap { further[place.row]?[$0] } }

  /// The number of a record's node.
  func id(of record: RecordPlace) -> NodeID {
    record.further == nil ? nodes[record.row].id : further(record)?.id ?? nodes[record.row].id
  }

  /// The version of a record.
  func version(of record: RecordPlace) -> StateVersion {
    record.further == nil ? nodes[record.row].version : further(record)?.version ?? nodes[record.row].version
  }

  /// The flags of a record.
  func flags(of record: RecordPlace) -> RestorationArchive.NodeFlags {
    further(record)?.flags ?? nodes[record.row].flags
  }

  /// Whether a record is *first* when its row's object is given one: the oldest record of a row is not, as it hides nothing.
  func isFirst(_ record: RecordPlace) -> Bool {
    guard flags(of: record).contains(.first) else { return false }
    return records(of: record.row).contains { save(of: $0) < save(of: record) }
  }

  /// The number of the save that wrote a record.
  func save(of record: RecordPlace) -> UInt32 { further(record)?.save ?? saves[record.row] }

  /// Why a record could not be read.
  func damage(of record: RecordPlace) -> String? {
    record.further == nil ? details(of: record.row).damage : further(record)?.damage
  }

  /// All records, by their numbers.
  var recordPlaces: [NodeID: RecordPlace] {
    var places = Dictionary(
      nodes.indices.map { (nodes[$0].id, RecordPlace(row: $0)) }, uniquingKeysWith: { first, _ in first })
    for (row, records) in further {
      for position in records.indices { places[records[position].id] = RecordPlace(row: row, further: position) }
    }
    return places
  }

  /// The values of a record; empty when it has none, or when damage hides them.
  func values(of record: RecordPlace) -> any StateRecord {
    guard record.further != nil, let further = further(record) else {
      return PlannedRecords.Record(records, at: record.row)
    }
    return PlannedRecords.Record(records, at: nodes.count + further.position)
  }

  /// A stored record, for its object's decoder.
  func stored(_ record: RecordPlace) -> RestorationDecoder.Stored {
    .init(
      values(of: record), at: paths[record.row], version: version(of: record),
      model: nodes[record.row].hasDetails ? details(of: record.row).model : nil)
  }
}
