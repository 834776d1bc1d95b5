import FoundationEssentials

/// A base archive being read: its header is parsed, everything else is fetched when it is asked for.
final class Base: Sendable {
  /// A node's place: where its block begins after the length, and the block's bytes.
  struct Place: Hashable, Sendable {
    /// The block's bytes, counted from the first of the archive.
    var range: Range<Int>
  }

  /// One entry of the table of branches.
  struct Branch: Hashable, Sendable {
    /// The node's number; ``BaseHeader/rootID`` for the parent of the roots.
    var id: UInt32
    /// The index of the parent's branch: always smaller, but for the first, whose own it is.
    var parent: UInt32
    /// Where the name and the children are.
    var body: Range<Int>
    /// The number of children.
    var childCount: UInt32
  }

  /// The header.
  let header: BaseHeader
  /// The bounds that reading keeps.
  let limits: RestorationArchive.Limits
  /// The bytes.
  let cache: BlockCache

  /// Reads and checks the header.
  init(_ source: RestorationArchive.Source, limits: RestorationArchive.Limits) throws(ArchiveError) {
    cache = BlockCache(source, byteCount: limits.readerCacheBytes)
    self.limits = limits
    let byteCount = source.byteCount
    guard byteCount > 0 else { throw ArchiveError(.notAnArchive, "there are no bytes at all", offset: 0) }
    header = try cache.parse(0..<min(byteCount, BaseHeader.byteCount)) { (parser) throws(ArchiveError) in
      try BaseHeader(parsing: &parser, byteCount: byteCount, limits: limits)
    }
  }

  // MARK: Branches

  /// The branch of an index.
  func branch(_ index: UInt32) throws(ArchiveError) -> Branch {
    let offset = Int(header.branches) + Int(index) * BaseHeader.branchByteCount
    guard index < header.branchCount else {
      throw ArchiveError(.corrupt, "a node names a branch that is not there", offset: offset)
    }
    let bodies = header.branchBodies
    let branch = try cache.parse(offset..<offset + BaseHeader.branchByteCount) { (parser) throws(ArchiveError) in
      let id = try parser.readFixed(UInt32.self)
      let parent = try parser.readFixed(UInt32.self)
      let start = try parser.readFixed(UInt32.self)
      let childCount = try parser.readFixed(UInt32.self)
      guard index == 0 ? parent == 0 && id == BaseHeader.rootID : parent < index && id < self.header.nextID,
        Int(start) >= bodies, start <= self.header.records, childCount <= self.header.nodeCount
      else { throw parser.corrupt("an entry of the table of branches contradicts the rest") }
      return Branch(
        id: id, parent: parent, body: Int(start)..<Int(self.header.records), childCount: childCount)
    }
    return branch
  }

  /// Lends a parser of a branch's name and children, which need not use all of it.
  func parseBody<Result>(
    of branch: Branch, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    try parse(from: branch.body.lowerBound, to: branch.body.upperBound, body)
  }

  /// Lends a parser of what begins at a position, which need not use all that there is up to a limit.
  private func parse<Result>(
    from position: Int, to limit: Int, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    // Mostly it lies in one block; a longer one is parsed again with more.
    var window = cache.window(at: position, limit: limit)
    while window.upperBound < limit {
      do {
        return try cache.parse(window, body)
      } catch  where error.code == .truncated {
        let more = max(window.count, RestorationArchive.Source.blockSize)
        window = position..<min(window.upperBound + more, limit)
      }
    }
    return try cache.parse(window, body)
  }

  /// The name of a branch.
  func name(of branch: Branch) throws(ArchiveError) -> String {
    try parseBody(of: branch) { (parser) throws(ArchiveError) in try parser.readString() }
  }

  /// The numbers of a branch's children, in order.
  func children(of branch: Branch) throws(ArchiveError) -> [UInt32] {
    let header = header
    return try parseBody(of: branch) { (parser) throws(ArchiveError) in
      _ = try parser.readRun()
      let children = try ChildList.parse(&parser, limit: Int(header.nodeCount), nextID: header.nextID)
      guard children.count == Int(branch.childCount) else {
        throw parser.corrupt("a branch has \(children.count) children instead of \(branch.childCount)")
      }
      return children
    }
  }

  // MARK: Nodes

  /// Where the block is whose length begins at a position.
  func place(at offset: Int) throws(ArchiveError) -> Place {
    let limit = Int(header.numberIndex)
    guard offset >= Int(header.records), offset < limit else {
      throw ArchiveError(.corrupt, "an index points outside the records", offset: offset)
    }
    return try parse(from: offset, to: limit) { (parser) throws(ArchiveError) in
      let length = try NodeBlock.length(&parser)
      guard length <= limit - parser.place else { throw parser.corrupt("a node reaches beyond the records") }
      return Place(range: parser.place..<parser.place + length)
    }
  }

  /// The block at a place.
  func block(at place: Place) throws(ArchiveError) -> NodeBlock {
    let block = try cache.parse(place.range) { (parser) throws(ArchiveError) in try NodeBlock(parsing: &parser) }
    guard block.id < header.nextID else {
      throw ArchiveError(.corrupt, "a node has a number that cannot be", offset: place.range.lowerBound)
    }
    return block
  }
}
