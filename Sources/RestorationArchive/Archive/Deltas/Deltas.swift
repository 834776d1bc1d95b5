import FoundationEssentials

/// The changes of an archive's deltas since the base: the newest of each node and list of children, by number.
struct Deltas: Sendable {
  /// The header of the newest one; nil when there are none.
  private(set) var newest: DeltaHeader?
  /// The number of deltas.
  private(set) var count = 0
  /// The bytes of all of them.
  private(set) var byteCount = 0
  /// The deltas that add to the tables, oldest first.
  private(set) var tableAdditions: [(header: DeltaHeader, data: Data)] = []
  /// The newest context; nil when the base's holds.
  private(set) var context: (range: Range<Int>, data: Data)?
  /// Whether a node was added, removed, moved or renamed.
  private(set) var changesTree = false
  /// The newest blocks by number; nil for a node that is gone.
  private var nodes: [UInt32: ReaderCore.Located?] = [:]
  /// The nodes that were given names last; they may have moved on.
  private var links: [RestorationArchive.Writer.Link: UInt32] = [:]
  /// Where the newest lists of children are.
  private var children: [UInt32: ReaderCore.State] = [:]

  /// Reads deltas, oldest first: their changes without the states.
  init(_ deltas: [Data], base: Base, limits: RestorationArchive.Limits) throws(ArchiveError) {
    count = deltas.count
    for (index, data) in deltas.enumerated() {
      let header = try data.parse { (parser) throws(ArchiveError) in
        try DeltaHeader(parsing: &parser, number: index + 1, base: base.header.fingerprint, limits: limits)
      }
      byteCount += data.count
      newest = header
      if let range = header.context { context = (range, data) }
      if header.changes > header.tables { tableAdditions.append((header, data)) }
      let changes = Int(header.changes)..<Int(header.end)
      try data.parse(changes, origin: changes.lowerBound) { (parser) throws(ArchiveError) in
        while parser.remaining > 0 { try self.take(&parser, of: data) }
      }
    }
    // A count is what lists of children are checked against, so that a few bytes cannot stand for a long list.
    let known = Int(base.header.nodeCount) + nodes.count
    if let newest, Int(newest.nodeCount) > known {
      throw ArchiveError(
        .corrupt, "delta \(newest.number) tells of \(newest.nodeCount) nodes of \(known)", offset: 32)
    }
  }

  private mutating func take(_ parser: inout ByteCursor, of data: Data) throws(ArchiveError) {
    guard let kind = DeltaChange(rawValue: try parser.readByte()) else {
      throw parser.corrupt("a delta has an unknown change")
    }
    switch kind {
    case .node, .placedNode:
      let length = try parser.readCount()
      let start = parser.place
      try parser.skip(length)
      let range = start..<start + length
      try data.parse(range, origin: start) { (parser) throws(ArchiveError) in
        let block = try NodeBlock(parsing: &parser)
        guard case .inline(let name) = block.name else { throw parser.corrupt("a delta names a branch") }
        self.nodes[block.id] = ReaderCore.Located(block: block, range: range, delta: data)
        guard kind == .placedNode else { return }
        self.changesTree = true
        let identifier = RestorationIdentifier(try parser.text(in: name))
        self.links[.init(parent: block.parentInDelta, name: identifier)] = block.id
      }
    case .removal:
      nodes[try parser.readNumber32()] = .some(nil)
      changesTree = true
    case .children:
      // The parent of the roots has the greatest number.
      let parent = try parser.readNumber32() &- 1
      let length = try parser.readCount()
      let start = parser.place
      try parser.skip(length)
      children[parent] = ReaderCore.State(range: start..<start + length, delta: data)
    }
  }

  /// The newest block of a node; nil when no delta has changed it, and nil in it when it is gone.
  func node(_ id: UInt32) -> ReaderCore.Located?? { nodes.isEmpty ? nil : nodes[id] }

  /// The node that was given a name last.
  func child(of parent: UInt32, named name: String) -> UInt32? {
    links.isEmpty ? nil : links[.init(parent: parent, name: RestorationIdentifier(name))]
  }

  /// The newest list of a node's children; nil when no delta has changed it.
  func children(of id: UInt32) throws(ArchiveError) -> [UInt32]? {
    guard let newest, let list = children[id], let data = list.delta else { return nil }
    return try data.parse(list.range, origin: list.range.lowerBound) { (parser) throws(ArchiveError) in
      try ChildList.parse(&parser, limit: Int(newest.nodeCount), nextID: newest.nextID)
    }
  }
}

extension NodeBlock {
  /// The number of the parent of a node in a delta; ``BaseHeader/rootID`` for a root.
  var parentInDelta: UInt32 { parent &- 1 }
}
