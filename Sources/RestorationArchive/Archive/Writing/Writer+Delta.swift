package import FoundationEssentials

extension RestorationArchive.Writer {
  /// Makes a delta of the changes since the last archive or delta; nil when there are none.
  ///
  /// Its cost goes with the changes, not with the nodes. A new writer has no base yet: make an archive first
  /// (`wrongBase`). When the changes bring the archive over its budget and something else matters less than they do, or
  /// may do so, make an archive as well (`limitExceeded`). What an archive before left out comes back in the delta that has
  /// room for it. When it throws, nothing has changed.
  package mutating func makeDelta() throws(ArchiveError) -> Data? {
    try shedChanged()
    return try makeDeltaOfChanges()
  }

  /// Makes a delta that leaves out nothing, whatever the budget: for changes that are read and not stored.
  package mutating func makeDeltaOverBudget() throws(ArchiveError) -> Data? {
    includeAll()
    return try makeDeltaOfChanges()
  }

  private mutating func makeDeltaOfChanges() throws(ArchiveError) -> Data? {
    let hasNewContext = hasNewContext
    guard !dirty.isEmpty || hasNewContext else { return nil }
    guard let reader else {
      throw ArchiveError(.wrongBase, "there is no base yet for a delta; make an archive first")
    }
    guard written.deltaCount < Int(UInt32.max) - 1 else {
      throw ArchiveError(.limitExceeded, "there are too many deltas; make an archive")
    }
    var header = DeltaHeader()
    header.number = UInt32(written.deltaCount + 1)
    header.base = reader.base.header.fingerprint
    header.timeSaved = context.timeSaved.timeIntervalSinceReferenceDate.bitPattern
    var buffer = [UInt8]()
    buffer.reserveCapacity(1024)
    // The header is written over these at the end, when all of it is known.
    buffer.append(contentsOf: repeatElement(0, count: DeltaHeader.byteCount))

    if hasNewContext { context.encode(into: &buffer) }
    header.contextDelta = hasNewContext ? header.number : written.contextDelta

    header.tables = UInt32(buffer.count)
    let run = try encodeBlocks(&header, &buffer)
    header.end = UInt32(buffer.count)
    let total = deltaBytes + buffer.count
    header.totalBytes = UInt32(clamping: total)
    header.encode(over: &buffer)

    written.deltaCount += 1
    written.context = context
    written.contextDelta = header.contextDelta
    written.tables = tables.mark
    written.tagCount = tags.count
    written.tablesDelta = header.tablesDelta
    written.changesTree = header.changesTree
    written.runs.removeAll { $0.number >= DeltaHeader.firstCovered(by: written.deltaCount) }
    written.runs.append((written.deltaCount, run))
    deltaBytes = total
    if let known = written.lowestRank {
      written.lowestRank = dirty.reduce(known) { lowest, index in
        guard leftOut[slots[index].id] == nil, let rank = slots[index].rank else { return lowest }
        return min(lowest, rank)
      }
    }
    for index in dirty { slots[index].markStored() }
    dirty.removeAll(keepingCapacity: true)
    return Data(buffer)
  }

  /// Writes tables, nodes, lists and indexes, and returns what the indexes hold.
  private mutating func encodeBlocks(
    _ header: inout DeltaHeader, _ buffer: inout [UInt8]
  ) throws(ArchiveError) -> DeltaRun {
    // Nodes come after the tables in the delta, and they add tags: they are encoded aside.
    var blocks = [UInt8]()
    blocks.reserveCapacity(dirty.count < 1 << 10 ? dirty.reduce(0) { $0 + slots[$1].payload.count + 64 } : 0)
    var run = DeltaRun()
    header.changesTree = written.changesTree
    for index in dirty {
      var slot = slots[index]
      if slot.isRemoved {
        guard slot.isStored else { continue }
        run.nodes.append(Delta.Entry(id: slot.id, delta: header.number, offset: DeltaHeader.removed))
        header.changesTree = true
        continue
      }
      if slot.isRelinked {
        run.links.append(Delta.Link(parent: slot.parent, name: slot.name, id: slot.id))
        header.changesTree = true
      }
      if slot.isChanged {
        run.nodes.append(Delta.Entry(id: slot.id, delta: header.number, offset: UInt32(blocks.count)))
        if !leftOut.isEmpty { replaceState(&slot.payload, &slot.attributes, of: slot.id) }
        NodeBlock.encodeHead(
          id: slot.id, parent: slot.parent == BaseHeader.rootID ? 0 : slot.parent + 1, name: slot.name, branch: nil,
          tag: self.index(of: slot.attributes.classTag), attributes: slot.attributes, before: slot.payload.count,
          into: &blocks)
        try slot.payload.withBytes(base: baseBytes, reader: reader) { blocks.append($0) }
      }
      if slot.hasChangedChildren {
        run.children.append(Delta.Entry(id: slot.id, delta: header.number, offset: UInt32(blocks.count)))
        ChildList.encode(slot.children?.ordered ?? [], into: &blocks)
      }
      guard blocks.count < Int(UInt32.max / 2) else {
        throw ArchiveError(.limitExceeded, "the delta would be too big; make an archive")
      }
    }
    if tables.mark != written.tables { buffer.append(contentsOf: tables.additions(since: written.tables)) }
    header.tags = UInt32(buffer.count)
    if tags.count > written.tagCount {
      buffer.append(varint: UInt64(tags.count - written.tagCount))
      for tag in tags[written.tagCount...] { buffer.append(text: tag.rawValue) }
    }
    header.blocks = UInt32(buffer.count)
    let adds = header.blocks > header.tables
    header.tablesDelta = adds ? header.number : written.tablesDelta
    header.earlierTablesDelta = adds ? written.tablesDelta : 0
    buffer.append(contentsOf: blocks)

    for index in run.nodes.indices where run.nodes[index].offset != DeltaHeader.removed {
      run.nodes[index].offset += header.blocks
    }
    for index in run.children.indices { run.children[index].offset += header.blocks }
    run.nodes.sort { $0.id < $1.id }
    run.children.sort { $0.id < $1.id }
    run.links.sort()
    for older in written.runs.reversed() where older.number >= DeltaHeader.firstCovered(by: Int(header.number)) {
      run.merge(under: older.run)
    }
    header.nodeIndex = UInt32(buffer.count)
    for entry in run.nodes { buffer.append(entry) }
    header.childIndex = UInt32(buffer.count)
    for entry in run.children { buffer.append(entry) }
    header.linkIndex = UInt32(buffer.count)
    for link in run.links { buffer.append(integer: UInt64(link.id) << 32 | UInt64(link.key)) }
    header.nodeCount = UInt32(clamping: nodeCount)
    header.nextID = nextID
    header.liveBytes = UInt64(clamping: liveBytes)
    return run
  }
}

extension RestorationArchive.Writer.Slot {
  /// Remembers that everything of it is in the base or a delta now.
  mutating func markStored() {
    isStored = true
    children?.settle()
    isChanged = false
    hasChangedChildren = false
    isRelinked = false
  }
}

extension DeltaHeader {
  /// Writes the header over the first bytes of a buffer.
  func encode(over buffer: inout [UInt8]) {
    var header = [UInt8]()
    header.reserveCapacity(Self.byteCount)
    encode(into: &header)
    buffer.replaceSubrange(0..<Self.byteCount, with: header)
  }
}

extension [UInt8] {
  /// Writes an entry of an index of nodes or of children.
  mutating func append(_ entry: Delta.Entry) {
    append(integer: UInt64(entry.delta) << 32 | UInt64(entry.id))
    append(integer: entry.offset)
  }
}
