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
    if isToBeRemade {
      let before = self
      do throws(ArchiveError) {
        return try makeArchiveOfAll(lowestRank: lowestRank, collector: RecordTranscoder(from: tables.content))
      } catch {
        self = before
        throw error
      }
    }
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
    let collector = isToBeRemade ? RecordTranscoder(from: tables.content) : nil
    return try copy.makeArchiveOfAll(lowestRank: nil, collector: collector)
  }

  /// Whether the tables are so big beside the states that those keys and shapes which no state uses should go.
  private var needsCollection: Bool {
    let bytes = tables.content.byteCount
    return leftOut.isEmpty && bytes > max(Self.keptTableBytes, liveBytes / 16, 2 * collectedTableBytes)
  }

  /// Tables of this size are not worth a look at all states.
  private static let keptTableBytes = 8192

  /// - Parameter collector: Gives the states the numbers of tables that hold what they use, and nothing else. An
  ///   archive that is made anew, as something left for another part, has only the class tags that it uses as well; a
  ///   state that can't be walked through is not in it.
  private mutating func makeArchiveOfAll(
    lowestRank: SheddingRank?, collector: RecordTranscoder?
  ) throws(ArchiveError) -> Data {
    var collector = collector
    let isRemade = isToBeRemade
    var (remadeTags, remadeTagIndex): ([RestorationArchive.ClassTag], [RestorationArchive.ClassTag: UInt32]) = ([], [:])
    var unreadable: [(node: Slot, index: Int?)] = []
    var image = ArchiveImage(nodeCount: nodeCount, liveBytes: liveBytes)
    var header = ArchiveHeader()
    let (baseBytes, reader) = (baseBytes, reader)
    var moved: [MovedSlot] = []
    moved.reserveCapacity(slots.count)
    try walk { (writer, slot, index, children) throws(ArchiveError) in
      var node = slot
      if collector != nil, node.payload.count > 0 {
        var state = Data()
        try node.payload.withBytes(base: baseBytes, reader: reader) { state = $0.data }
        do throws(ArchiveError) {
          node.payload = .bytes(try collector?.transcode(state) ?? [])
        } catch {
          guard isRemade else { throw error }
          // Its keys can't be told from those of what left.
          unreadable.append((node, index))
          node.payload = .none
          node.attributes.flags.insert(.shed)
        }
      }
      header.liveBytes += UInt64(node.payload.count)
      let tag =
        isRemade
        ? Self.index(of: node.attributes.classTag, &remadeTags, &remadeTagIndex)
        : writer.index(of: node.attributes.classTag)
      try image.begin(node, children: children, tag: tag)
      let start = image.byteCount
      try node.payload.withBytes(base: baseBytes, reader: reader) { image.append(state: $0) }
      if let index { moved.append(MovedSlot(index: index, state: start..<image.byteCount, children: children)) }
    }
    if isRemade {
      try transcodeLeftOut(&collector)
      noteUnreadable(unreadable)
      (tags, tagIndex, isToBeRemade) = (remadeTags, remadeTagIndex, false)
    }
    if let content = collector?.target {
      tables = CodingTables(content)
      collectedTableBytes = content.byteCount
    }
    var buffer = image.writeIndexes(&header, roots: try childNumbers(of: ArchiveHeader.rootID))
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

  /// Has the states that are left out fit the tables that a collector makes; one that can't be read goes.
  private mutating func transcodeLeftOut(_ collector: inout RecordTranscoder?) throws(ArchiveError) {
    for index in slotsOfLeftOut {
      guard case .bytes(let state) = slots[index].payload else { continue }
      slots[index].payload = .bytes((try? collector?.transcode(Data(state))) ?? [])
    }
  }

  /// Tells of states that could not be read through, which are not in the archive.
  private mutating func noteUnreadable(_ unreadable: [(node: Slot, index: Int?)]) {
    for (node, index) in unreadable {
      if let index { slots[index].attributes.flags.insert(.shed) }
      let id = NodeID(rawValue: node.id)
      sheddings.append(
        RestorationArchive.Shedding(
          path: (try? path(of: id)) ?? [], node: id, priority: node.attributes.priority, byteCount: node.payload.count,
          budget: .unreadable, isLeftOut: true))
    }
  }

  /// Ends a base or a delta: writes the context, and the tables and class tags that are new in it, then the header, whose
  /// other fields are known.
  func end(
    _ header: inout ArchiveHeader, in buffer: inout ByteWriter, since known: Written, hasContext: Bool
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
      header.fingerprint = buffer.withBytes { Fingerprint.of($0[ArchiveHeader.byteCount..<$0.count]) }
    }
    var front = ByteWriter(capacity: ArchiveHeader.byteCount)
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
    if let root = slotOfNode[ArchiveHeader.rootID] { slots[root].markStored() }
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
    let roots = try childNumbers(of: ArchiveHeader.rootID)
    var levels = [Level(parent: ArchiveHeader.rootID, children: roots)]
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
      guard isListed(slot, below: levels[top].parent), count <= nodeCount else {
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
