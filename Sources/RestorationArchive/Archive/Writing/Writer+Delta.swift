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
    var buffer = ByteWriter(capacity: 1024)
    // The header is written over these at the end, when all of it is known.
    buffer.skip(DeltaHeader.byteCount)

    if hasNewContext { context.encode(into: &buffer) }
    header.tables = UInt32(buffer.count)
    try encodeChanges(&header, &buffer)
    header.end = UInt32(buffer.count)
    header.nodeCount = UInt32(clamping: nodeCount)
    header.nextID = nextID
    header.liveBytes = UInt64(clamping: liveBytes)
    var first = ByteWriter(capacity: DeltaHeader.byteCount)
    header.encode(into: &first)
    first.withBytes { buffer.overwrite(at: 0, with: $0) }

    written.deltaCount += 1
    written.context = context
    written.tables = tables.mark
    written.tagCount = tags.count
    deltaBytes += buffer.count
    if let known = written.lowestRank {
      written.lowestRank = dirty.reduce(known) { lowest, index in
        guard leftOut[slots[index].id] == nil, let rank = slots[index].rank else { return lowest }
        return min(lowest, rank)
      }
    }
    for index in dirty { slots[index].markStored() }
    dirty.removeAll(keepingCapacity: true)
    return buffer.takeData(from: 0)
  }

  /// Writes tables, tags and changes.
  private mutating func encodeChanges(_ header: inout DeltaHeader, _ buffer: inout ByteWriter) throws(ArchiveError) {
    // Nodes come after the tags in the delta, and they add tags: they are encoded aside.
    var changes = ByteWriter(
      capacity: dirty.count < 1 << 10 ? dirty.reduce(0) { $0 + slots[$1].payload.count + 64 } : 4096)
    var list = ByteWriter(capacity: 64)
    for index in dirty {
      var slot = slots[index]
      if slot.isRemoved {
        guard slot.isStored else { continue }
        changes.writeByte(DeltaChange.removal.rawValue)
        changes.writeNumber(UInt64(slot.id))
        continue
      }
      if slot.isChanged {
        changes.writeByte((slot.isRelinked ? DeltaChange.placedNode : .node).rawValue)
        if !leftOut.isEmpty { replaceState(&slot.payload, &slot.attributes, of: slot.id) }
        NodeBlock.encodeHead(
          id: slot.id, parent: slot.parent &+ 1, name: slot.name, branch: nil,
          tag: self.index(of: slot.attributes.classTag), attributes: slot.attributes, before: slot.payload.count,
          into: &changes)
        try slot.payload.withBytes(base: baseBytes, reader: reader) { changes.write($0) }
      }
      if slot.hasChangedChildren {
        changes.writeByte(DeltaChange.children.rawValue)
        changes.writeNumber(UInt64(slot.id &+ 1))
        list.truncate(to: 0)
        ChildList.encode(slot.children?.ordered ?? [], into: &list)
        list.withBytes { changes.writeCounted($0) }
      }
      guard changes.count < Int(UInt32.max / 2) else {
        throw ArchiveError(.limitExceeded, "the delta would be too big; make an archive")
      }
    }
    if tables.mark != written.tables { tables.additions(since: written.tables).withBorrowed { buffer.write($0) } }
    header.tags = UInt32(buffer.count)
    if tags.count > written.tagCount {
      buffer.writeNumber(UInt64(tags.count - written.tagCount))
      for tag in tags[written.tagCount...] { buffer.writeString(tag.rawValue) }
    }
    header.changes = UInt32(buffer.count)
    changes.withBytes { buffer.write($0) }
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
