package import FoundationEssentials

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
    var image = ArchiveImage(
      nodeCount: nodeCount, liveBytes: liveBytes, front: Int(reader?.base.header.records ?? 0),
      depthLimit: limits.depth)
    // Counted anew: a damaged base can tell of other sizes than its states have.
    var byteCount = 0
    // Named here: asked of the writer in the closure, they would cost a copy of it for each node.
    let (baseBytes, reader) = (baseBytes, reader)
    var moved: [MovedSlot] = []
    moved.reserveCapacity(slots.count)
    try walk { (writer, visited, children, depth) throws(ArchiveError) in
      var node = visited
      if collector != nil, node.payload.count > 0 {
        var state = Data()
        try node.payload.withBytes(base: baseBytes, reader: reader) { state = $0.data }
        node.payload = .bytes(try collector?.transcode(state) ?? [])
      }
      byteCount += node.payload.count
      try image.begin(node, children: children, depth: depth, tag: writer.index(of: node.tag))
      let start = image.recordBytes
      try node.payload.withBytes(base: baseBytes, reader: reader) { image.append(state: $0) }
      if let slot = node.slot {
        moved.append(MovedSlot(slot: slot, state: start..<image.recordBytes, children: children))
      }
    }
    if let content = collector?.target {
      tables = CodingTables(content)
      collectedTableBytes = content.byteCount
    }
    let data = try image.assemble(
      context: context, tables: tables.content, tags: tags, nextID: nextID, nodeCount: nodeCount,
      liveBytes: byteCount)
    let core = try ReaderCore(base: RestorationArchive.Source(data), limits: limits)
    self.reader = core
    self.baseBytes = data
    keep(moved, records: Int(core.base.header.records), archiveBytes: data.count)
    dirty = []
    deltaBytes = 0
    liveBytes = byteCount
    written = Written(context: context, tables: tables.mark, tagCount: tags.count, lowestRank: lowestRank)
    return data
  }

  /// A slot whose node was written into a base.
  private struct MovedSlot {
    var slot: Int
    /// Where the state is among the records.
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
  private mutating func keep(_ moved: [MovedSlot], records: Int, archiveBytes: Int) {
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
      slots[node.slot].markStored()
      slots[node.slot].children = Siblings(node.children)
      guard leftOut[slots[node.slot].id] == nil else { continue }
      slots[node.slot].payload =
        node.state.isEmpty
        ? .none : .stored(ReaderCore.State(range: node.state.lowerBound + records..<node.state.upperBound + records))
    }
    if let root = slotOfNode[BaseHeader.rootID] { slots[root].markStored() }
    guard slots.contains(where: \.isRemoved) else { return }
    slots.removeAll(where: \.isRemoved)
    numberSlots()
  }

  private mutating func numberSlots() {
    slotOfNode = Dictionary(uniqueKeysWithValues: zip(slots.lazy.map(\.id), slots.indices))
  }

  /// A node as the walk meets it: with a slot, or as the reader has it.
  struct Visit {
    var id: UInt32
    var name: String
    var attributes: RestorationArchive.Attributes
    var payload: Slot.Payload
    /// The position of its slot, if it has one.
    var slot: Int?

    /// The class tag.
    var tag: RestorationClass? { attributes.classTag }
  }

  /// Visits all nodes, parents before children and siblings in order.
  ///
  /// Each child must name its parent, and there can be no more nodes than were counted: damage that makes circles
  /// or shares children ends there.
  private mutating func walk(
    _ body: (inout Self, Visit, [UInt32], Int) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    struct Level {
      var parent: UInt32
      var children: [UInt32]
      var next = 0
    }
    let roots = try childNumbers(of: BaseHeader.rootID)
    var levels = [Level(parent: BaseHeader.rootID, children: roots)]
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
      let (visit, parent) = try visit(number)
      count += 1
      guard parent == levels[top].parent, count <= nodeCount else {
        throw nodesFormCircle(below: NodeID(rawValue: levels[top].parent))
      }
      let children = try childNumbers(of: number)
      listed += children.count
      guard listed <= nodeCount else { throw nodesFormCircle(below: NodeID(rawValue: number)) }
      try body(&self, visit, children, levels.count)
      if !children.isEmpty { levels.append(Level(parent: number, children: children)) }
    }
    guard count == nodeCount else {
      throw ArchiveError(.corrupt, "the archive tells of \(nodeCount) nodes and has \(count)")
    }
  }

  private func written(_ visit: Visit) -> Visit {
    var visit = visit
    replaceState(&visit.payload, &visit.attributes, of: visit.id)
    return visit
  }

  private func visit(_ number: UInt32) throws(ArchiveError) -> (Visit, parent: UInt32) {
    if let index = slotOfNode[number] {
      let slot = slots[index]
      guard !slot.isRemoved else { throw noSuchNode(NodeID(rawValue: number)) }
      let visit = Visit(
        id: number, name: slot.name, attributes: slot.attributes, payload: slot.payload, slot: index)
      return (leftOut.isEmpty ? visit : written(visit), slot.parent)
    }
    guard let reader, let located = try reader.locate(number) else {
      throw noSuchNode(NodeID(rawValue: number))
    }
    let visit = Visit(
      id: number, name: try reader.name(of: located), attributes: try reader.attributes(of: located),
      payload: located.block.payload.isEmpty ? .none : .stored(located.state))
    return (visit, try reader.parent(of: located))
  }
}
