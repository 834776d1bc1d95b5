package import FoundationShim

extension RestorationArchive.Writer {
  /// Makes a delta of the changes since the last archive or delta; nil when there are none.
  ///
  /// Its cost goes with the changes, not with the nodes. A new writer has no base yet: make an archive first
  /// (`wrongBase`). When the changes bring the archive over its budget and something else matters less than they do, or
  /// may do so, make an archive as well (`limitExceeded`). What an archive before left out comes back in the delta that has
  /// room for it. When it throws, nothing has changed.
  package mutating func makeDelta() throws(ArchiveError) -> Data? {
    guard !isToBeRemade else {
      throw ArchiveError(.wrongBase, "something left for another part, and the base still has it; make an archive")
    }
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
    var header = ArchiveHeader()
    header.number = UInt32(written.deltaCount + 1)
    header.fingerprint = reader.base.header.fingerprint
    header.liveBytes = UInt64(clamping: liveBytes)
    let expected = dirty.count < 1 << 10 ? dirty.reduce(0) { $0 + slots[$1].payload.count + 64 } : 4096
    var buffer = ByteWriter(capacity: 1024 + expected)
    // The header is written over these at the end, when all of it is known.
    buffer.skip(ArchiveHeader.byteCount)
    for index in dirty { try encodeChange(of: slots[index], into: &buffer) }
    header.blocksEnd = UInt32(buffer.count)
    try end(&header, in: &buffer, since: written, hasContext: hasNewContext)

    written.deltaCount += 1
    written.context = context
    written.tables = tables.mark
    written.tagCount = tags.count
    deltaBytes += buffer.count
    if let known = written.lowestRank {
      written.lowestRank = dirty.reduce(known) { lowest, index in
        guard !leftOut.contains(slots[index].id), let rank = slots[index].rank else { return lowest }
        return min(lowest, rank)
      }
    }
    for index in dirty { slots[index].markStored() }
    dirty.removeAll(keepingCapacity: true)
    return buffer.takeData()
  }

  /// Writes what changed of a node.
  private mutating func encodeChange(of slot: Slot, into buffer: inout ByteWriter) throws(ArchiveError) {
    var slot = slot
    if slot.isRemoved {
      guard slot.isStored else { return }
      buffer.writeByte(DeltaChange.removal.rawValue)
      buffer.writeNumber(UInt64(slot.id))
      return
    }
    if slot.isChanged {
      buffer.writeByte((slot.isRelinked ? DeltaChange.placedNode : .node).rawValue)
      if !leftOut.isEmpty { removeLeftOutState(of: &slot) }
      NodeBlock.encodeHead(of: slot, tag: index(of: slot.attributes.classTag), into: &buffer)
      try slot.payload.withBytes(base: baseBytes, reader: reader) { buffer.write($0) }
    }
    if slot.hasChangedChildren {
      buffer.writeByte(DeltaChange.children.rawValue)
      buffer.writeNumber(UInt64(slot.id &+ 1))
      ChildList.encode(slot.children?.ordered ?? [], into: &buffer)
    }
    guard buffer.count < Int(UInt32.max / 2) else {
      throw ArchiveError(.limitExceeded, "the delta would be too big; make an archive")
    }
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
