import FoundationEssentials

/// One delta being read: its header is parsed, its indexes are searched where they lie.
final class Delta: Sendable {
  /// The newest place of a node or of a list of children.
  struct Entry: Hashable, Sendable {
    /// The node's number.
    var id: UInt32
    /// The number of the delta where it is.
    var delta: UInt32
    /// Where it is in that delta; ``DeltaHeader/removed`` for a node that is gone.
    var offset: UInt32
  }

  /// What a name under a parent was given to: the key of the link's hash and the node.
  struct Link: Hashable, Sendable, Comparable {
    /// The key of the hash of the parent's number and the name.
    var key: UInt32
    /// The node's number.
    var id: UInt32

    /// Makes the link of a node.
    init(parent: UInt32, name: String, id: UInt32) {
      key = PathHash(parent: parent).appending(name).key
      self.id = id
    }

    /// Makes a link of its parts.
    init(key: UInt32, id: UInt32) {
      self.key = key
      self.id = id
    }

    /// Orders by key, then by number.
    static func < (left: Link, right: Link) -> Bool {
      (left.key, left.id) < (right.key, right.id)
    }
  }

  /// The header.
  let header: DeltaHeader
  /// All bytes.
  let data: Data

  /// Reads and checks the header.
  init(
    _ data: Data, number: Int, base: UInt64, limits: RestorationArchive.Limits
  ) throws(ArchiveError) {
    self.data = data
    header = try data.parse { (parser) throws(ArchiveError) in
      try DeltaHeader(parsing: &parser, number: number, base: base, limits: limits)
    }
  }

  /// The number of entries of the index of nodes.
  var nodeEntryCount: Int { Int(header.childIndex - header.nodeIndex) / DeltaHeader.entryByteCount }
  /// The number of entries of the index of lists of children.
  var childEntryCount: Int { Int(header.linkIndex - header.childIndex) / DeltaHeader.entryByteCount }
  /// The number of entries of the index of links.
  var linkCount: Int { Int(header.end - header.linkIndex) / DeltaHeader.linkByteCount }

  /// An entry of the index of nodes.
  func nodeEntry(at position: Int) -> Entry { entry(header.nodeIndex, position) }
  /// An entry of the index of lists of children.
  func childEntry(at position: Int) -> Entry { entry(header.childIndex, position) }

  /// An entry of the index of links.
  func link(at position: Int) -> Link {
    let word = data.bytes.word(at: Int(header.linkIndex) + position * DeltaHeader.linkByteCount)
    return Link(key: UInt32(truncatingIfNeeded: word), id: UInt32(truncatingIfNeeded: word >> 32))
  }

  /// What the index of nodes says of a number.
  func nodeEntry(of id: UInt32) -> Entry? {
    find(id, count: nodeEntryCount, section: header.nodeIndex)
  }

  /// What the index of lists of children says of a number.
  func childEntry(of id: UInt32) -> Entry? {
    find(id, count: childEntryCount, section: header.childIndex)
  }

  /// The nodes that were given a link of a key.
  func links(_ key: UInt32) -> [UInt32] {
    var low = 0
    var high = linkCount
    while low < high {
      let middle = low + (high - low) / 2
      if link(at: middle).key < key { low = middle + 1 } else { high = middle }
    }
    var found: [UInt32] = []
    while low < linkCount, link(at: low).key == key {
      found.append(link(at: low).id)
      low += 1
    }
    return found
  }

  /// Where the block is whose length begins at an offset.
  func block(at offset: UInt32) throws(ArchiveError) -> Range<Int> {
    try parse(at: offset) { (parser) throws(ArchiveError) in
      let length = try NodeBlock.length(&parser)
      guard length <= parser.remaining else { throw parser.truncated() }
      return parser.place..<parser.place + length
    }
  }

  /// The list of children at an offset.
  func children(at offset: UInt32, newest: DeltaHeader) throws(ArchiveError) -> [UInt32] {
    try parse(at: offset) { (parser) throws(ArchiveError) in
      try ChildList.parse(&parser, limit: Int(newest.nodeCount), nextID: newest.nextID)
    }
  }

  private func parse<Result>(
    at offset: UInt32, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard offset >= header.blocks, offset < header.nodeIndex else {
      throw ArchiveError(
        .corrupt, "an index points outside the nodes of delta \(header.number)", offset: Int(offset))
    }
    return try data.parse(Int(offset)..<Int(header.nodeIndex), origin: Int(offset), body)
  }

  private func entry(_ section: UInt32, _ position: Int) -> Entry {
    let offset = Int(section) + position * DeltaHeader.entryByteCount
    let word = data.bytes.word(at: offset)
    let rest = data.bytes.word(at: offset + 4)
    return Entry(
      id: UInt32(truncatingIfNeeded: word), delta: UInt32(truncatingIfNeeded: word >> 32),
      offset: UInt32(truncatingIfNeeded: rest >> 32))
  }

  private func find(_ id: UInt32, count: Int, section: UInt32) -> Entry? {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if entry(section, middle).id < id { low = middle + 1 } else { high = middle }
    }
    guard low < count else { return nil }
    let found = entry(section, low)
    return found.id == id ? found : nil
  }
}
