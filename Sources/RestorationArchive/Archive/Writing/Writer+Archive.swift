package import FoundationShim

extension RestorationArchive.Writer {
  /// Makes a whole archive of what there is now; it is the base of the deltas that follow.
  ///
  /// The same calls on a new writer give the same bytes in every process. The work is about that of copying the
  /// states: none is decoded or encoded. State over the budget is left out of it, and comes back when there is room. When
  /// it throws, nothing has changed.
  package mutating func makeArchive() throws(ArchiveError) -> Data {
    var lowestRank: SheddingRank?
    if liveBytes > limits.bytesPerArchive || !leftOut.isEmpty { lowestRank = try shedAll() } else { sheddings = [] }
    if needsCollection {
      // States that cannot be walked through are carried over as they are, with the tables that they may need.
      let before = self
      if let archive = try? makeArchiveOfAll(lowestRank: lowestRank, collector: RecordTranscoder(from: tables.content))
      {
        return archive
      }
      self = before
      collectedTableBytes = tables.content.byteCount
    }
    return try makeArchiveOfAll(lowestRank: lowestRank, collector: nil)
  }

  /// Makes a whole archive that leaves out nothing, whatever the budget: for state that is read and not stored.
  ///
  /// The writer stays as it is: states that it has left out are left out, and changes have still to be stored.
  package func makeArchiveOverBudget() throws(ArchiveError) -> Data {
    var copy = self
    copy.includeAll()
    return try copy.makeArchiveOfAll(lowestRank: nil, collector: nil)
  }

  /// Whether the tables are so big beside the states that those keys and shapes which no state uses should go.
  private var needsCollection: Bool {
    let bytes = tables.content.byteCount
    return leftOut.isEmpty && bytes > max(Self.keptTableBytes, liveBytes / 16, 2 * collectedTableBytes)
  }

  /// Tables of this size are not worth a look at all states.
  private static let keptTableBytes = 8192

  /// - Parameter collector: Gives the states the numbers of tables that hold what they use, and nothing else.
  private mutating func makeArchiveOfAll(
    lowestRank: SheddingRank?, collector: RecordTranscoder?
  ) throws(ArchiveError) -> Data {
    var collector = collector
    var image = ArchiveImage(nodeCount: nodeCount, liveBytes: liveBytes)
    var header = PartHeader()
    let (baseBytes, reader) = (baseBytes, reader)
    var moved: [MovedSlot] = []
    moved.reserveCapacity(slots.count)
    try walk { (writer, slot, index, children) throws(ArchiveError) in
      var node = slot
      if collector != nil, node.payload.count > 0 {
        var state = Data()
        try node.payload.withBytes(base: baseBytes, reader: reader) { state = $0.data }
        node.payload = .bytes(try collector?.transcode(state) ?? [])
      }
      header.liveBytes += UInt64(node.payload.count)
      try image.begin(node, children: children, tag: writer.index(of: node.attributes.classTag))
      let start = image.byteCount
      try node.payload.withBytes(base: baseBytes, reader: reader) { image.append(state: $0) }
      if let index { moved.append(MovedSlot(index: index, state: start..<image.byteCount, children: children)) }
    }
    if let content = collector?.target {
      tables = CodingTables(content)
      collectedTableBytes = content.byteCount
    }
    var buffer = image.writeIndexes(&header, roots: try childNumbers(of: PartHeader.rootID))
    let nothing = Written(context: context, tables: .start, tagCount: 0)
    try end(&header, in: &buffer, since: nothing, hasContext: true)
    let data = buffer.takeData()
    self.reader = try ReaderCore(base: RestorationArchive.Source(data), limits: limits)
    self.baseBytes = data
    keep(moved, archiveBytes: data.count)
    dirty = []
    deltaBytes = 0
    liveBytes = Int(header.liveBytes)
    written = Written(context: context, tables: tables.mark, tagCount: tags.count, lowestRank: lowestRank)
    return data
  }

  /// Ends a base or a delta: writes the context, and the tables and class tags that are new in it, then the header, whose
  /// other fields are known.
  func end(
    _ header: inout PartHeader, in buffer: inout ByteWriter, since known: Written, hasContext: Bool
  ) throws(ArchiveError) {
    header.timeSaved = context.timeSaved.timeIntervalSinceReferenceDate.bitPattern
    header.bootSeconds = context.bootSeconds
    header.nodeCount = UInt32(clamping: nodeCount)
    header.nextID = nextID
    header.context = UInt32(clamping: buffer.count)
    if hasContext { context.encode(into: &buffer) }
    header.tables = UInt32(clamping: buffer.count)
    if tables.mark != known.tables { tables.content.write(from: known.tables, into: &buffer) }
    header.tags = UInt32(clamping: buffer.count)
    if tags.count > known.tagCount {
      buffer.writeNumber(UInt64(tags.count - known.tagCount))
      for tag in tags[known.tagCount...] { buffer.writeString(tag.rawValue) }
    }
    guard let end = UInt32(exactly: buffer.count) else {
      throw ArchiveError(.limitExceeded, "the archive would be bigger than 4 GiB; lower its budget")
    }
    header.end = end
    if header.number == 0 {
      header.fingerprint = buffer.withBytes { Fingerprint.of($0[PartHeader.byteCount..<$0.count]) }
    }
    var front = ByteWriter(capacity: PartHeader.byteCount)
    header.encode(into: &front)
    front.withBytes { buffer.overwrite(at: 0, with: $0) }
  }

  /// A slot whose node was written into a base.
  private struct MovedSlot {
    var index: Int
    /// Where the state is in the base.
    var state: Range<Int>
    var children: [UInt32]
  }

  /// So many slots are kept whatever the size of the archive.
  private static let slotLimit = 1 << 16
  /// About the memory of a slot with its name and its link.
  private static let slotBytes = 256

  /// Lets slots stay after everything was written, as changed nodes mostly change again.
  ///
  /// Their states are read from the new base from now on, but for those that it leaves out. Many slots of little state are
  /// not worth their memory: they may take about as much as the archive itself, which is kept as well.
  private mutating func keep(_ moved: [MovedSlot], archiveBytes: Int) {
    guard moved.count <= max(Self.slotLimit, archiveBytes / Self.slotBytes) else {
      slots = slotsOfLeftOut.map { slots[$0] }
      for index in slots.indices {
        slots[index].markStored()
        slots[index].children = nil
      }
      numberSlots()
      links = Dictionary(
        uniqueKeysWithValues: slots.lazy.map { (Link(parent: $0.parent, name: RestorationIdentifier($0.name)), $0.id) })
      return
    }
    for node in moved {
      slots[node.index].markStored()
      slots[node.index].children = Siblings(node.children)
      guard !leftOut.contains(slots[node.index].id) else { continue }
      slots[node.index].payload = .stored(StatePlace(range: node.state))
    }
    if let root = slotOfNode[PartHeader.rootID] { slots[root].markStored() }
    guard slots.contains(where: \.isRemoved) else { return }
    slots.removeAll(where: \.isRemoved)
    numberSlots()
  }

  private mutating func numberSlots() {
    slotOfNode = Dictionary(uniqueKeysWithValues: zip(slots.lazy.map(\.id), slots.indices))
  }

  /// Visits all nodes, parents before children and siblings in order.
  ///
  /// Each child must name its parent, and there can be no more nodes than were counted: damage that makes circles
  /// or shares children ends there. The body gets a node as it is to be written, the position of its slot if it has one, and
  /// its children.
  private mutating func walk(
    _ body: (inout Self, Slot, Int?, [UInt32]) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    struct Level {
      var parent: UInt32
      var children: [UInt32]
      var next = 0
    }
    let roots = try childNumbers(of: PartHeader.rootID)
    var levels = [Level(parent: PartHeader.rootID, children: roots)]
    var listed = roots.count
    var count = 0
    while !levels.isEmpty {
      let top = levels.count - 1
      let next = levels[top].next
      guard next < levels[top].children.count else {
        levels.removeLast()
        continue
      }
      levels[top].next = next + 1
      let number = levels[top].children[next]
      guard var slot = try slot(of: number) else { throw ArchiveError.noSuchNode(NodeID(rawValue: number)) }
      count += 1
      guard slot.parent == levels[top].parent, count <= nodeCount else {
        throw nodesFormCircle(below: NodeID(rawValue: levels[top].parent))
      }
      guard levels.count <= limits.depth else {
        throw ArchiveError(.limitExceeded, "the tree is deeper than \(limits.depth) levels")
      }
      let children = try childNumbers(of: slot)
      listed += children.count
      guard listed <= nodeCount else { throw nodesFormCircle(below: NodeID(rawValue: number)) }
      if !leftOut.isEmpty { removeLeftOutState(of: &slot) }
      try body(&self, slot, slotOfNode[number], children)
      if !children.isEmpty { levels.append(Level(parent: number, children: children)) }
    }
    guard count == nodeCount else {
      throw ArchiveError(.corrupt, "the archive tells of \(nodeCount) nodes and has \(count)")
    }
  }
}
