public import FoundationEssentials

extension RestorationArchive.Writer {
  /// Makes a whole archive of what there is now; it is the base of the deltas that follow.
  ///
  /// The same calls on a new writer give the same bytes in every process. The work is about that of copying the
  /// states: none is decoded or encoded. When it throws, nothing has changed but that what was over the budget is left out.
  public mutating func makeArchive() throws(ArchiveError) -> Data {
    if liveBytes > limits.bytesPerArchive {
      let all = try loadAll(below: BaseHeader.rootID)
      try shed(among: all.compactMap { slotOfNode[$0] })
    }
    var image = ArchiveImage(nodeCount: nodeCount, liveBytes: liveBytes, depthLimit: limits.depth)
    // Counted anew: a damaged base can tell of other sizes than its states have.
    var byteCount = 0
    var moved: [MovedSlot] = []
    try walk { (writer, node, children, depth) throws(ArchiveError) in
      byteCount += node.payload.count
      try image.begin(node, children: children, depth: depth, tag: writer.index(of: node.tag))
      let start = image.records.count
      try node.appendPayload(writer, &image.records)
      if let slot = node.slot {
        moved.append(MovedSlot(slot: slot, state: start..<image.records.count, children: children))
      }
    }
    let data = try image.assemble(
      context: context, tables: tables.additions(), tags: tags, nextID: nextID, nodeCount: nodeCount,
      liveBytes: byteCount)
    let core = try ReaderCore(
      base: RestorationArchive.Source(data), deltas: RestorationArchive.DeltaSource([]), limits: limits)
    reader = core
    keep(moved, records: Int(core.base.header.records))
    dirty = []
    deltaBytes = 0
    liveBytes = byteCount
    written = Written(context: context, tables: tables.mark, tagCount: tags.count)
    return data
  }

  /// A slot whose node was written into a base.
  private struct MovedSlot {
    var slot: Int
    /// Where the state is among the records.
    var state: Range<Int>
    var children: [UInt32]
  }

  /// So many slots are kept at most.
  private static let slotLimit = 1 << 16

  /// Lets slots stay after everything was written, as what changed once mostly changes again.
  ///
  /// Their states are read from the new base from now on. Very many are not worth their memory.
  private mutating func keep(_ moved: [MovedSlot], records: Int) {
    guard moved.count <= Self.slotLimit else {
      slots = []
      slotOfNode = [:]
      links = [:]
      return
    }
    for node in moved {
      slots[node.slot].markStored()
      slots[node.slot].children = Siblings(node.children)
      slots[node.slot].payload =
        node.state.isEmpty
        ? .none : .stored(ReaderCore.State(range: node.state.lowerBound + records..<node.state.upperBound + records))
    }
    if let root = slotOfNode[BaseHeader.rootID] { slots[root].markStored() }
    guard slots.contains(where: \.isRemoved) else { return }
    slots.removeAll(where: \.isRemoved)
    slotOfNode = Dictionary(uniqueKeysWithValues: slots.enumerated().map { ($0.element.id, $0.offset) })
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

    /// Writes the bytes of the state.
    func appendPayload(
      _ writer: RestorationArchive.Writer, _ buffer: inout ByteBuffer
    ) throws(ArchiveError) {
      try writer.append(payload, to: &buffer)
    }
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
    while let level = levels.last {
      guard level.next < level.children.count else {
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].next += 1
      let number = level.children[level.next]
      let (visit, parent) = try visit(number)
      count += 1
      guard parent == level.parent, count <= nodeCount else {
        throw nodesFormCircle(below: NodeID(rawValue: level.parent))
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

  private func visit(_ number: UInt32) throws(ArchiveError) -> (Visit, parent: UInt32) {
    if let index = slotOfNode[number] {
      let slot = slots[index]
      guard !slot.isRemoved else { throw noSuchNode(NodeID(rawValue: number)) }
      let visit = Visit(
        id: number, name: slot.name, attributes: slot.attributes, payload: slot.payload, slot: index)
      return (visit, slot.parent)
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
