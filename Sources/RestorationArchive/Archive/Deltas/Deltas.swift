import FoundationShim

/// The changes of an archive's deltas since the base: the newest of each node and list of children, by number.
struct Deltas: Sendable {
  /// The headers and bytes of the deltas that add to the tables or tell of another context, oldest first.
  private(set) var additions: [(header: ArchiveHeader, data: Data)] = []
  /// The header of the newest one; nil when there are none.
  private(set) var newest: ArchiveHeader?
  /// The number of deltas.
  private(set) var count = 0
  /// The bytes of all of them.
  private(set) var byteCount = 0
  /// The newest blocks by number; nil for a node that is gone.
  private var nodes: [UInt32: NodeBlock?] = [:]
  /// The nodes that were given names last; they may have moved on.
  private var links: [RestorationArchive.Writer.Link: UInt32] = [:]
  /// Where the newest lists of children are.
  private var children: [UInt32: StatePlace] = [:]

  /// Reads deltas, oldest first: their changes without the states.
  init(_ deltas: [Data], base: ArchiveHeader, limits: RestorationArchive.Limits) throws(ArchiveError) {
    count = deltas.count
    for (index, data) in deltas.enumerated() {
      let header = try data.parse { (parser) throws(ArchiveError) in
        try ArchiveHeader(parsing: &parser, of: data.count, delta: (index + 1, base.fingerprint), limits: limits)
      }
      guard NodeNumber.part(of: header.nextID) == NodeNumber.part(of: base.nextID) else {
        throw ArchiveError(.corrupt, "delta \(index + 1) is of another part than its base", offset: 36)
      }
      byteCount += data.count
      newest = header
      if header.end > header.context { additions.append((header, data)) }
      try data.parse(header.blocks, origin: header.blocks.lowerBound) { (parser) throws(ArchiveError) in
        while parser.remaining > 0 { try self.take(&parser, of: data, NodeNumber.part(of: base.nextID)) }
      }
    }
    // A count is what lists of children are checked against, so that a few bytes cannot stand for a long list.
    let known = Int(base.nodeCount) + nodes.count
    if let newest, Int(newest.nodeCount) > known {
      throw ArchiveError(
        .corrupt, "delta \(newest.number) tells of \(newest.nodeCount) nodes of \(known)", offset: 32)
    }
  }

  private mutating func take(_ parser: inout ByteCursor, of data: Data, _ part: UInt32) throws(ArchiveError) {
    guard let kind = DeltaChange(rawValue: try parser.readByte()) else {
      throw parser.corrupt("a delta has an unknown change")
    }
    switch kind {
    case .node, .placedNode:
      let range = try parser.readRun()
      let block = try data.parse(range, origin: range.lowerBound) { (parser) throws(ArchiveError) in
        try NodeBlock(parsing: &parser, delta: data)
      }
      guard block.children == nil else { throw parser.corrupt("a delta has children in a node's block") }
      guard block.fits(part) else { throw parser.corrupt("a delta has a node of another part") }
      nodes[block.id] = block
      if kind == .placedNode {
        links[.init(parent: block.parent, name: RestorationIdentifier(block.name))] = block.id
      }
    case .removal:
      let number = try parser.readNumber32()
      nodes[number] = .some(nil)
      // The list it had would be checked against the nodes that are left.
      children[number] = nil
    case .children:
      // The parent of the roots has the greatest number.
      let parent = try parser.readNumber32() &- 1
      children[parent] = StatePlace(range: try parser.readRun(), delta: data)
    }
  }

  /// The newest block of a node; nil when no delta has changed it, and nil in it when it is gone.
  func node(_ id: UInt32) -> NodeBlock?? { nodes.isEmpty ? nil : nodes[id] }

  /// The boundaries and holes that deltas have changed, in no order, with the parents that they name; nil for those
  /// that are gone.
  var crossings: [(number: UInt32, parent: UInt32?)] {
    nodes.lazy.filter { NodeNumber.isCrossing($0.key) }.map { ($0.key, $0.value?.parent) }
  }

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
