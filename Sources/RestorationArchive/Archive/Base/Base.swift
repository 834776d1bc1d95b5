import FoundationShim

/// A base archive being read: its header is parsed, everything else is fetched when it is asked for.
final class Base: Sendable {
  /// The header.
  let header: ArchiveHeader
  /// The bytes.
  let cache: BlockCache

  /// Reads and checks the header.
  init(_ source: RestorationArchive.Source, limits: RestorationArchive.Limits) throws(ArchiveError) {
    cache = BlockCache(source, byteCount: limits.readerCacheBytes)
    let byteCount = source.byteCount
    guard byteCount > 0 else { throw ArchiveError(.notAnArchive, "there are no bytes at all", offset: 0) }
    header = try cache.parse(0..<min(byteCount, ArchiveHeader.byteCount)) { (parser) throws(ArchiveError) in
      try ArchiveHeader(parsing: &parser, of: byteCount, limits: limits)
    }
  }

  /// The node of a number; nil when the base has none.
  func node(of id: UInt32) throws(ArchiveError) -> NodeBlock? {
    let index = SortedIndex(cache: cache, start: Int(header.blocksEnd), count: Int(header.nodeCount))
    // Numbers are mostly dense: the first guess is the number itself.
    let guess = min(Int(NodeNumber.count(below: id)), index.count - 1)
    var found = try index.entry(guess)
    if found?.key != id { found = try index.entry(index.position(of: id, guess: guess)) }
    guard let found, found.key == id else { return nil }
    let block = try block(at: Int(found.place))
    guard block.id == id else {
      throw ArchiveError(.corrupt, "the index leads to another node", offset: Int(found.place))
    }
    return block
  }

  /// The child of a node, or a root, that has a name; nil when the base has none.
  func child(of parent: UInt32, named name: String) throws(ArchiveError) -> NodeBlock? {
    let index = SortedIndex(cache: cache, start: header.linkIndex, count: Int(header.nodeCount))
    let key = LinkHash.key(of: name, under: parent)
    var position = try index.position(of: key, guess: Int((UInt64(key) * UInt64(index.count)) >> 32))
    while let entry = try index.entry(position), entry.key == key {
      let block = try block(at: Int(entry.place))
      if block.isChild(of: parent, named: name) { return block }
      position += 1
    }
    return nil
  }

  /// The numbers of boundaries and holes, in order, with the parents that they name.
  func crossings() throws(ArchiveError) -> [Crossing] {
    let index = SortedIndex(cache: cache, start: Int(header.blocksEnd), count: Int(header.nodeCount))
    var crossings: [Crossing] = []
    for part in 0..<4 as Range<UInt32> {
      let first = NodeNumber.firstCrossing(of: part)
      var position = try index.position(of: first, guess: index.count - 1)
      while let entry = try index.entry(position), NodeNumber.isCrossing(entry.key),
        NodeNumber.part(of: entry.key) == part
      {
        let block = try block(at: Int(entry.place))
        guard block.id == entry.key else {
          throw ArchiveError(.corrupt, "the index leads to another node", offset: Int(entry.place))
        }
        crossings.append(Crossing(number: entry.key, parent: block.parent))
        position += 1
      }
    }
    return crossings
  }

  /// The numbers of the roots, in order.
  func roots() throws(ArchiveError) -> [UInt32] {
    try childList(cache.parse(header.roots) { (parser) throws(ArchiveError) in try parser.readRun() })
  }

  /// The numbers of a node's children in the base, in order.
  func children(of block: NodeBlock) throws(ArchiveError) -> [UInt32] {
    guard let range = block.children else { return [] }
    return try childList(range)
  }

  private func childList(_ range: Range<Int>) throws(ArchiveError) -> [UInt32] {
    try cache.parse(range) { (parser) throws(ArchiveError) in
      try ChildList.parse(&parser, limit: Int(self.header.nodeCount), nextID: self.header.nextID)
    }
  }

  /// The block whose length begins at a position.
  private func block(at start: Int) throws(ArchiveError) -> NodeBlock {
    let end = Int(header.blocksEnd)
    guard header.blocks.contains(start) else {
      throw ArchiveError(.corrupt, "an index points outside the blocks", offset: start)
    }
    let range = try cache.parse(start..<min(start + ByteCursor.longestNumber, end)) { (parser) throws(ArchiveError) in
      let length = Int(try parser.readNumber32())
      guard length <= end - parser.place else { throw parser.corrupt("a node reaches beyond the blocks") }
      return parser.place..<parser.place + length
    }
    let block = try cache.parse(range) { (parser) throws(ArchiveError) in try NodeBlock(parsing: &parser) }
    guard NodeNumber.end(behind: block.id, nextID: header.nextID) != nil,
      block.fits(NodeNumber.part(of: header.nextID))
    else {
      throw ArchiveError(.corrupt, "a node has a number that cannot be", offset: start)
    }
    return block
  }
}
