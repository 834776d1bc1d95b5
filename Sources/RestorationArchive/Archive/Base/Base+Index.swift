import FoundationEssentials

extension Base {
  /// The node of a number and where it is; nil when the base has none.
  func node(of id: UInt32) throws(ArchiveError) -> (place: Place, block: NodeBlock)? {
    // Numbers are mostly dense: the first guess is the number itself.
    let guess = Int(min(id, max(header.nodeCount, 1) - 1))
    var found = try entry(header.numberIndex, guess)
    if found?.key != id { found = try search(header.numberIndex, for: id, guess: guess) }
    guard let found, found.key == id else { return nil }
    let place = try place(at: Int(found.value))
    let block = try block(at: place)
    guard block.id == id else {
      throw ArchiveError(.corrupt, "the index leads to another node", offset: place.range.lowerBound)
    }
    return (place, block)
  }

  /// The node of a number and its name, of an archive in memory, when both are where they mostly are: in one go.
  ///
  /// Nil says nothing: ask ``node(of:)``.
  func plainNode(of id: UInt32) throws(ArchiveError) -> (place: Place, block: NodeBlock, name: String)? {
    guard let memory = cache.memory, id < header.nodeCount else { return nil }
    let header = header
    return try memory.parse { (parser) throws(ArchiveError) in
      parser.move(to: Int(header.numberIndex) + Int(id) * BaseHeader.indexEntryByteCount)
      let entry = try parser.readFixed(UInt64.self)
      let offset = UInt32(truncatingIfNeeded: entry)
      guard entry >> 32 == UInt64(id), offset >= header.records, offset < header.numberIndex else { return nil }
      parser.move(to: Int(offset))
      let length = try NodeBlock.length(&parser)
      guard length <= Int(header.numberIndex) - parser.offset else { return nil }
      let range = parser.offset..<parser.offset + length
      var part = ByteCursor(parser.bytes(in: range), origin: range.lowerBound)
      let block = try NodeBlock(parsing: &part)
      guard block.id == id, id < header.nextID, case .inline(let name) = block.name else { return nil }
      return (Place(range: range), block, try part.text(in: name))
    }
  }

  /// Where the node at a path is; nil when the base has none.
  ///
  /// Its ancestors are compared with the path in the table of branches: their own blocks are not read.
  func place(at path: RestorationPath) throws(ArchiveError) -> (place: Place, block: NodeBlock)? {
    guard let last = path.last, path.components.count <= limits.depth else { return nil }
    let key = PathHash(path).key
    return try candidates(key) { (block, parser) throws(ArchiveError) in
      guard try self.isNamed(last.rawValue, block, &parser) else { return false }
      return try self.path(path.components.dropLast(), isBranch: block.parent)
    }
  }

  /// Where the child of a branch is that has a name; nil when the base has none.
  func place(
    of name: String, under parent: UInt32, hash: PathHash
  ) throws(ArchiveError) -> (place: Place, block: NodeBlock)? {
    try candidates(hash.appending(name).key) { (block, parser) throws(ArchiveError) in
      guard block.parent == parent else { return false }
      return try self.isNamed(name, block, &parser)
    }
  }

  /// The name of a node whose block a parser lends.
  func name(of block: NodeBlock, _ parser: inout ByteCursor) throws(ArchiveError) -> String {
    switch block.name {
    case .inline(let range): try parser.text(in: range)
    case .branch(let index): try name(of: branch(index))
    }
  }

  /// The first node of a key in the index by path that is the right one.
  private func candidates(
    _ key: UInt32, isRight: (NodeBlock, inout ByteCursor) throws(ArchiveError) -> Bool
  ) throws(ArchiveError) -> (place: Place, block: NodeBlock)? {
    let count = Int(header.nodeCount)
    let guess = Int((UInt64(key) * UInt64(count)) >> 32)
    guard var entry = try search(header.pathIndex, for: key, guess: guess) else { return nil }
    while entry.key == key {
      let place = try place(at: Int(entry.value))
      let found = try cache.parse(place.range) { (parser) throws(ArchiveError) -> NodeBlock? in
        let block = try NodeBlock(parsing: &parser)
        return try isRight(block, &parser) ? block : nil
      }
      if let found { return (place, found) }
      guard entry.position + 1 < count else { break }
      guard let next = try self.entry(header.pathIndex, entry.position + 1) else { break }
      entry = next
    }
    return nil
  }

  private func isNamed(
    _ name: String, _ block: NodeBlock, _ parser: inout ByteCursor
  ) throws(ArchiveError) -> Bool {
    switch block.name {
    case .inline(let range):
      return parser.holds(name, in: range)
    case .branch(let index):
      return try parseBody(of: branch(index)) { (parser) throws(ArchiveError) in
        let range = try parser.readRun()
        return parser.holds(name, in: range)
      }
    }
  }

  private func path(
    _ components: ArraySlice<RestorationIdentifier>, isBranch index: UInt32
  ) throws(ArchiveError) -> Bool {
    var index = index
    for component in components.reversed() {
      guard index != 0 else { return false }
      let branch = try branch(index)
      let matches = try parseBody(of: branch) { (parser) throws(ArchiveError) in
        let range = try parser.readRun()
        return parser.holds(component.rawValue, in: range)
      }
      guard matches else { return false }
      index = branch.parent
    }
    return index == 0
  }

  // MARK: Searching

  /// An entry of an index and its position.
  private struct IndexEntry {
    /// The position in the index.
    var position: Int
    /// What the index is sorted by: the upper four bytes.
    var key: UInt32
    /// Where the node's block begins: the lower four bytes.
    var value: UInt32
  }

  private func entry(_ section: UInt32, _ position: Int) throws(ArchiveError) -> IndexEntry? {
    var probe = IndexProbe(cache: cache, section: Int(section))
    guard position < Int(header.nodeCount) else { return nil }
    let word = try probe.word(position)
    return IndexEntry(
      position: position, key: UInt32(truncatingIfNeeded: word >> 32), value: UInt32(truncatingIfNeeded: word))
  }

  /// The first entry whose key isn't below the one sought, found by halves; nil past the last.
  ///
  /// A good guess leaves only its neighbours, which mostly lie in one block.
  private func search(
    _ section: UInt32, for sought: UInt32, guess: Int
  ) throws(ArchiveError) -> IndexEntry? {
    var index = IndexProbe(cache: cache, section: Int(section))
    var low = 0
    var high = Int(header.nodeCount)
    var middle = min(max(guess - Self.guessedDistance, 0), high - 1)
    var isNear = true
    while low < high {
      if try index.word(middle) >> 32 < sought { low = middle + 1 } else { high = middle }
      middle = isNear && low < high ? min(max(guess + Self.guessedDistance, low), high - 1) : (low + high) / 2
      isNear = false
    }
    return try entry(section, low)
  }

  /// Of ten thousand nodes whose keys are random, a guess is so far off at the most, nearly always.
  private static var guessedDistance: Int { 256 }
}

/// Reads entries of an index, holding on to the block that the last one was in.
private struct IndexProbe {
  let cache: BlockCache
  let section: Int
  var number = -1
  var block = Data()

  /// The entry at a position, which must be one of the index; entries never straddle blocks.
  mutating func word(_ position: Int) throws(ArchiveError) -> UInt64 {
    let offset = section + position * BaseHeader.indexEntryByteCount
    if let memory = cache.memory { return memory.bytes.word(at: offset) }
    let size = RestorationArchive.Source.blockSize
    if offset / size != number {
      number = offset / size
      block = try cache.block(number)
    }
    return block.bytes.word(at: offset % size)
  }
}
