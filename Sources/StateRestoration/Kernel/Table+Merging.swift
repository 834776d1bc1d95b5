internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

extension Table {
  /// Adds the records of another table that was saved, or edited, while the device was locked: they are newer than all here.
  ///
  /// Records go over bit for bit, so that state whose class is unknown in this run is merged as well. Rows with records, and
  /// absent ones, go by their key; present rows without one by *Find*, so that a container that names its model later leads to
  /// the right place.
  ///
  /// - Parameters:
  ///   - otherParts: The classes of its parts.
  ///   - isBeside: Whether the run of the other table could read other rows, and has saved those here: a later run may have closed
  ///     them.
  ///   - ways: Where rows are here that are only the way to others there, as far as that is known.
  /// - Returns: The rows and the records here, by those there.
  mutating func merge(
    _ other: RestorationArchive.PartedReader, _ otherParts: PartClasses, _ context: inout RestorationArchive.Context,
    isBeside: Bool = false, ways: [NodeID: NodeID] = [:]
  ) throws(ArchiveError) -> (rows: [NodeID: NodeID], records: [NodeID: NodeID]) {
    // The last save that was merged before is the latest in which a row that only this table has was live.
    writer.context.timeSaved = max(writer.context.timeSaved, context.timeSaved)
    var isPart = false
    for root in try other.roots where try other.node(root)?.attributes.flags.contains(.way) == true { isPart = true }
    let leading = isBeside || isPart ? try Self.rowsAboveRecords(of: other) : []
    var hidden = try hiddenRows
    var targets: [NodeID: NodeID] = [:]
    var taken: Set<NodeID> = []
    var orders: [(row: NodeID, children: [NodeID], isWay: Bool)] = []
    // The rows there that are only the way to others.
    var waysThere: Set<NodeID> = []
    var copies: [RestorationArchive.Writer.Copy] = []
    var records: [(node: RestorationArchive.Node, row: NodeID)] = []
    // Records that are copied at the end, so that their nodes only look empty.
    var coming: [NodeID: Int] = [:]
    // Rows that have another role since, by the rows above them.
    var moved: [NodeID: [NodeID]] = [:]
    var stack = Array(try other.roots.reversed())
    var visited = 0
    while let source = stack.popLast() {
      visited += 1
      guard visited <= other.nodeCount, let node = try other.node(source) else { continue }
      // Nothing is known of what is in a part that the other table lacks; none does that a run has saved.
      if RowName.isHidden(node.identifier) || node.attributes.flags.contains(.hole) { continue }
      let children = try other.children(of: source)
      if node.attributes.flags.contains(.record) {
        if let row = node.parent.flatMap({ targets[$0] }), node.byteCount > 0 { records.append((node, row)) }
        continue
      }
      var parent: NodeID?
      if let above = node.parent {
        guard let target = targets[above] else { continue }
        parent = target
      }
      var hasRecords = node.hasRecord
      for child in children where !hasRecords {
        hasRecords = try other.node(child)?.attributes.flags.contains(.record) ?? false
      }
      let place = Place(parent: parent, identifier: node.rowIdentifier)
      // What can't be read of it may be in rows without its name.
      var unnamed: [NodeID] = []
      for child in children where !hidden.isEmpty {
        guard let name = try other.node(child)?.identifier, let row = hidden.removeValue(forKey: name) else { continue }
        // One above it may have come into another part.
        unnamed.append(currentRow(row))
      }
      let goesByKey = hasRecords || node.attributes.flags.contains(.absent) || !unnamed.isEmpty
      // A row that has nothing, leads nowhere and tells of no order is not added.
      let isWay = node.attributes.flags.contains(.way)
      var isAdded = hasRecords || !children.isEmpty
      if !isAdded, !isWay, let above = node.parent { isAdded = try other.children(of: above).count > 1 }
      if isBeside, !leading.contains(source) { isAdded = false }
      let protection = otherParts[source.part]
      var found = ways[source]
      if let way = found, try writer.node(way) == nil { found = nil }
      let count = writer.nodeCount
      if found == nil {
        found = try target(
          of: node, at: place, goesByKey: goesByKey, isAdded: isAdded && unnamed.isEmpty, taken, protection)
      }
      for row in unnamed { found = try reveal(row, in: found, as: node, at: place) }
      guard var row = found else { continue }
      if isWay {
        (targets[source], waysThere) = (row, waysThere.union([source]))
        taken.insert(row)
        stack += children.reversed()
        // What led there has been closed since.
        if writer.nodeCount > count, var attributes = try writer.node(row)?.attributes {
          attributes.role = nil
          try writer.setAttributes(attributes, of: row)
          try setFlag(.absent, true, of: row)
          absent.insert(row)
        }
        if !children.isEmpty { orders.append((row, children, true)) }
        continue
      }
      // The run could read this one, and had it on the screen after that.
      let isLive = try writer.node(row)?.attributes.savedAt == nil && !absent.contains(row)
      let wasReadable = isPart && isLive && parts[row.part].isWeaker(than: protection)
      // One that its object had left before that run saved.
      if writer.nodeCount > count, let left = node.attributes.savedAt, var attributes = try writer.node(row)?.attributes
      {
        attributes.savedAt = left
        try writer.setAttributes(attributes, of: row)
      }
      row = try strengthen(row, protection)
      targets[source] = row
      taken.insert(row)
      if hasRecords { try takeClass(of: node, row) }
      stack += children.reversed()
      if node.attributes.flags.contains(.absent) {
        if !wasReadable {
          try setFlag(.absent, true, of: row)
          absent.insert(row)
        }
      } else if node.attributes.savedAt != nil {
        try reopen(row)
      } else if !isPart || leading.contains(source) {
        try noteNewer(row, at: place)
      }
      if !children.isEmpty { orders.append((row, children, false)) }
      // One that is only there for the order.
      if isPart, !leading.contains(source) { continue }
      // The role is that of the object that was live last, which may have had none.
      if var attributes = try writer.node(row)?.attributes, attributes.role != node.attributes.role {
        attributes.role = node.attributes.role
        try writer.setAttributes(attributes, of: row)
        if let parent, attributes.role != nil { moved[parent, default: []].append(row) }
      }
      if node.byteCount > 0 { records.append((node, row)) }
    }
    // In the order of their saves, whichever of a row's nodes they are in.
    for (_, record) in records.enumerated().sorted(by: {
      ($0.element.node.attributes.save, $0.offset) < ($1.element.node.attributes.save, $1.offset)
    }) {
      try add(record.node, to: record.row, &coming, &copies)
    }
    // Their order is that of the later run.
    for (row, children, isWay) in orders {
      if isWay {
        try arrange(children, of: other, besides: waysThere, targets, below: row)
        continue
      }
      var seen: Set<NodeID> = []
      try arrange(children.compactMap { targets[$0] }.filter { seen.insert($0).inserted }, below: row)
    }
    formerOrders = [:]
    for (parent, rows) in moved { try giveWay(to: rows, below: parent, merged: taken) }
    try writer.copyRecords(copies, from: other)
    if classes.ageLimit != nil { try noteAges(of: context.timeSaved, except: taken) }
    let newer = try other.context
    context.timeSaved = max(context.timeSaved, newer.timeSaved)
    context.schemaVersion = max(context.schemaVersion, newer.schemaVersion)
    save &+= 1
    return (targets, Dictionary(copies.map { ($0.source, $0.target) }) { first, _ in first })
  }

  /// Brings a row into the part of a class, where that of its own is weaker.
  mutating func strengthen(_ row: NodeID, _ protection: ProtectionClass) throws(ArchiveError) -> NodeID {
    guard parts[row.part].isWeaker(than: protection), try writer.node(row)?.parent != nil else { return row }
    let numbers = try writer.assign([row: parts.part(of: protection)])
    noteLeft(for: protection)
    renumber(numbers)
    return numbers[row] ?? row
  }

  /// Puts those that are no ways behind the siblings that they stood behind; all others stand as they stand.
  private mutating func arrange(
    _ there: [NodeID], of other: RestorationArchive.PartedReader, besides ways: Set<NodeID>,
    _ targets: [NodeID: NodeID], below parent: NodeID
  ) throws(ArchiveError) {
    var order = try writer.children(of: parent)
    let former = order
    let areThere = Set(order)
    // One row of each place.
    var places: [RestorationIdentifier: NodeID] = [:]
    for row in order { if let name = try writer.node(row)?.rowIdentifier { places[name] = row } }
    var last: NodeID?
    for source in there {
      guard let row = targets[source], areThere.contains(row) else {
        // A later run has closed that object, and another one may have its place.
        last = try other.node(source).flatMap { places[$0.rowIdentifier] } ?? last
        continue
      }
      if !ways.contains(source) {
        // All rows of a place stand together.
        let identifier = try writer.node(row)?.rowIdentifier
        var group: [NodeID] = []
        for one in order where try writer.node(one)?.rowIdentifier == identifier { group.append(one) }
        if last.map(group.contains) != true {
          order.removeAll(where: group.contains)
          var index = 0
          if let last, let place = try writer.node(last)?.rowIdentifier {
            for (position, one) in order.enumerated() where try writer.node(one)?.rowIdentifier == place {
              index = position + 1
            }
          }
          order.insert(contentsOf: group, at: index)
        }
      }
      last = row
    }
    if order != former { try writer.setChildren(order, of: parent) }
  }

  /// The rows that have records, and all above these.
  private static func rowsAboveRecords(of reader: RestorationArchive.PartedReader) throws(ArchiveError) -> Set<NodeID> {
    var found: Set<NodeID> = []
    var stack = try reader.roots
    var visited = 0
    while let next = stack.popLast() {
      visited += 1
      guard visited <= reader.nodeCount, let node = try reader.node(next) else { continue }
      stack += try reader.children(of: next)
      guard node.hasRecord || node.attributes.flags.contains(.record) else { continue }
      var above = Optional(next)
      while let row = above, found.insert(row).inserted { above = try reader.node(row)?.parent }
    }
    return found
  }

  /// The row here that a row there leads to, made if there is none and it is to be added.
  private mutating func target(
    of node: RestorationArchive.Node, at place: Place, goesByKey: Bool, isAdded: Bool, _ taken: Set<NodeID>,
    _ protection: ProtectionClass?
  ) throws(ArchiveError) -> NodeID? {
    let asker = classes.asker(for: node.attributes)
    let rows = try rows(at: place)
    if node.attributes.flags.contains(.reserved), let row = rows.first { return row }
    if goesByKey {
      for row in rows where try hasIdentity(asker.identity, row) { return row }
    } else {
      var candidates: [Find.Row] = []
      let free = rows.filter { !taken.contains($0) }
      for row in free { candidates.append(try findRow(row, for: asker)) }
      if let best = Find.order(candidates, for: asker).first { return free[best] }
    }
    return isAdded ? try insert(at: place, node.attributes, protection) : nil
  }

  /// A row has the class of the object that wrote its records.
  private mutating func takeClass(of node: RestorationArchive.Node, _ row: NodeID) throws(ArchiveError) {
    guard var stored = try writer.node(row)?.attributes, stored.classTag != node.attributes.classTag else { return }
    stored.takeClass(of: node.attributes)
    try writer.setAttributes(stored, of: row)
  }

  /// The facts that *Find* needs, for an object that reads a version.
  func findRow(_ row: NodeID, for asker: Asker) throws(ArchiveError) -> Find.Row {
    guard let node = try writer.node(row) else { return Find.Row(identity: asker.identity, canBeGiven: false) }
    var found = Find.Row(
      identity: classes.current(node.attributes.identity), canBeGiven: false, isAbsent: absent.contains(row),
      lastLive: node.attributes.savedAt?.timeIntervalSinceReferenceDate, number: row.rawValue)
    for record in try records(of: row) {
      guard let facts = try writer.node(record)?.attributes else { continue }
      found.newestSave = max(found.newestSave, facts.save)
      // Nothing is made of a closed row.
      if facts.flags.contains(.first) || closed.contains(row) { continue }
      if try canBeGiven(record, asker.version) { found.canBeGiven = true }
    }
    return found
  }

  /// Adds a record that is copied at the end.
  private mutating func add(
    _ node: RestorationArchive.Node, to row: NodeID, _ coming: inout [NodeID: Int],
    _ copies: inout [RestorationArchive.Writer.Copy]
  ) throws(ArchiveError) {
    var facts = node.attributes
    facts.save = save
    let isFirstOfRow = coming[row] == nil
    coming[row, default: 0] += 1
    save &+= 1
    let record: NodeID
    if isFirstOfRow {
      record = try insertRecord(in: row, facts)
    } else {
      record = try insertFurtherRecord(in: row, facts)
    }
    if record == row {
      try setRecordFacts(of: row, from: facts)
    }
    guard let attributes = try writer.node(record)?.attributes else { return }
    var copied = attributes
    copied.version = facts.version
    copied.save = facts.save
    copied.flags.formUnion(facts.flags.intersection(.first))
    copies.append(.init(source: node.id, target: record, attributes: copied))
    try openRows(upTo: row)
  }

  /// Says of rows that were live in the last save, and not in the locked run, since when they age.
  private mutating func noteAges(of time: Date, except taken: Set<NodeID>) throws(ArchiveError) {
    var stack = try writer.roots
    while let row = stack.popLast() {
      stack += try writer.children(of: row)
      guard !taken.contains(row), var attributes = try writer.node(row)?.attributes, attributes.savedAt == nil,
        attributes.flags.isDisjoint(with: [.reserved, .record, .hole])
      else { continue }
      attributes.savedAt = time
      try writer.setAttributes(attributes, of: row)
    }
  }

  /// Says of rows whose roles others have since that no object had them as late as those.
  private mutating func giveWay(to rows: [NodeID], below parent: NodeID, merged: Set<NodeID>) throws(ArchiveError) {
    var roles: Set<RestorationArchive.Role> = []
    for row in rows { if let role = try writer.node(row)?.attributes.role { roles.insert(role) } }
    for row in try writer.children(of: parent) where !merged.contains(row) {
      guard var attributes = try writer.node(row)?.attributes, let role = attributes.role, roles.contains(role) else {
        continue
      }
      attributes.flags.insert(.carriedOver)
      attributes.savedAt = attributes.savedAt ?? writer.context.timeSaved
      try writer.setAttributes(attributes, of: row)
    }
  }

  /// Says of a row that no object had it in the latest save, and since when it ages, with those below it.
  private mutating func noteOlder(inside top: NodeID) throws(ArchiveError) {
    var stack = [top]
    while let row = stack.popLast() {
      guard var attributes = try writer.node(row)?.attributes,
        attributes.flags.isDisjoint(with: [.reserved, .record, .hole])
      else { continue }
      stack += try writer.children(of: row)
      guard attributes.savedAt == nil else { continue }
      if row == top { attributes.flags.insert(.carriedOver) }
      attributes.savedAt = writer.context.timeSaved
      try writer.setAttributes(attributes, of: row)
    }
  }

  /// Says that an object had a row later than any other of its place.
  private mutating func noteNewer(_ row: NodeID, at place: Place) throws(ArchiveError) {
    for other in try rows(at: place) where other != row && !absent.contains(other) {
      try noteOlder(inside: other)
    }
    guard var attributes = try writer.node(row)?.attributes, attributes.savedAt != nil || absent.contains(row) else {
      return
    }
    attributes.flags.subtract([.carriedOver, .absent])
    absent.remove(row)
    attributes.savedAt = nil
    try writer.setAttributes(attributes, of: row)
  }
}
