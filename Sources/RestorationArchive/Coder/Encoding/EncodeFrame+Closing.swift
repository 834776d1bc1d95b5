extension EncodeFrameRef {
  /// Starts an object or a map.
  @inline(__always)
  func openKeyed(_ info: KeyTypeRef) {
    pointee.info = info
    guard info.pointee.isIndexed, !pointee.state.pointee.isCanonical, let root = info.pointee.root else {
      return openMap()
    }
    pointee.node = root
    pointee.kind = .shape
    pointee.current.clear()
    pointee.state.pointee.writer.writeByte(0)
  }

  /// Starts a map whose values have tags.
  func openMap() {
    pointee.kind = .map
    pointee.count = 0
    pointee.current.clear()
    pointee.state.pointee.writer.writeByte(ValueTag.any)
    pointee.state.pointee.writer.writeByte(0)
  }

  /// Starts an array whose elements have tags.
  func openArray() {
    pointee.kind = .array
    pointee.count = 0
    pointee.state.pointee.writer.writeByte(0)
  }

  /// Adds a field to the shape.
  @inline(__always)
  func advance(_ key: UInt32, _ tag: UInt8) { pointee.node = shape(adding: key, tag) }

  /// The shape with one more field.
  @inline(__always)
  func shape(adding key: UInt32, _ tag: UInt8) -> ShapeNodeRef {
    let edge = UInt64(key) &<< 8 | UInt64(tag)
    let node = pointee.node
    if node.pointee.lastEdge == edge, let next = node.pointee.lastNext { return next }
    return pointee.state.pointee.interner.follow(edge, from: node)
  }

  /// Ends an entry of a map.
  @inline(never)
  func closeEntry(_ tag: UInt8) {
    pointee.state.pointee.writer[pointee.tagPosition] = tag
    pointee.count += 1
  }

  /// Completes the payload and tells its tag.
  @inline(__always)
  func close() -> UInt8 {
    let state = pointee.state
    if state.pointee.childCount > pointee.childStart { insertChildren() }
    switch pointee.kind {
    case .shape:
      let node = pointee.node
      guard node.pointee.epoch == state.pointee.epoch else { return closeNewShape() }
      state.pointee.writer.patchNumber(UInt64(node.pointee.local), at: pointee.start)
      return ValueTag.object
    case .single:
      return pointee.tag
    case .array:
      state.pointee.writer.patchNumber(UInt64(pointee.count), at: pointee.start)
      return ValueTag.array
    case .map:
      return closeMap()
    case .unopened:
      return closeEmpty()
    }
  }

  /// A value that asked for nothing is an empty object; the frame still says that it asked for nothing.
  @inline(never)
  private func closeEmpty() -> UInt8 {
    openMap()
    pointee.kind = .unopened
    return ValueTag.map
  }

  @inline(never)
  private func closeNewShape() -> UInt8 {
    let state = pointee.state
    let isRegular = !pointee.node.pointee.isIrregular
    if isRegular, let local = state.pointee.interner.localShape(pointee.node, of: pointee.info) {
      state.pointee.writer.patchNumber(UInt64(local), at: pointee.start)
      return ValueTag.object
    }
    let bytes = writtenBytes
    let rewriter = MapRewriter(bytes, content: state.pointee.interner.content)
    rewrite(rewriter.entries(fields: state.pointee.interner.fields(of: pointee.node)), of: bytes)
    return ValueTag.map
  }

  /// Completes a map: of entries with the same key the last one stays.
  @inline(never)
  private func closeMap() -> UInt8 {
    let state = pointee.state
    state.pointee.writer.patchNumber(UInt64(pointee.count), at: pointee.start + 1)
    if pointee.count > 1 {
      let bytes = writtenBytes
      let entries = MapRewriter(bytes, content: state.pointee.interner.content).entries()
      if Set(entries.map(\.key)).count < entries.count { rewrite(entries, of: bytes) }
    }
    return ValueTag.map
  }

  private var writtenBytes: [UInt8] { pointee.state.pointee.writer.withBytes(from: pointee.start) { $0.array } }

  /// Writes entries anew, leaving out all but the last of each key and those that were given no value.
  private func rewrite(_ entries: [MapRewriter.Entry], of bytes: [UInt8]) {
    let state = pointee.state
    var last: [KeyText: Int] = [:]
    for (index, entry) in entries.enumerated() where entry.tag != ValueTag.absent { last[entry.key] = index }
    checkInserted(among: entries)
    state.pointee.writer.truncate(to: pointee.start)
    state.pointee.writer.writeByte(ValueTag.any)
    state.pointee.writer.writeNumber(UInt64(last.count))
    for (index, entry) in entries.enumerated() where last[entry.key] == index {
      state.pointee.writer.write(entry, of: bytes)
    }
  }
}

extension ShapeInterner {
  /// The keys and tags of a sequence of fields.
  func fields(of node: ShapeNodeRef) -> [(key: KeyText, tag: UInt8)] {
    path(to: node).map { (KeyText(rawValue: keys[Int($0 >> 8)]), UInt8(truncatingIfNeeded: $0)) }
  }
}

extension ByteWriter {
  /// Writes an entry of a map, whose payload is among some bytes.
  mutating func write(_ entry: MapRewriter.Entry, of bytes: [UInt8]) {
    writeString(entry.key.rawValue)
    writeByte(entry.tag)
    bytes.withBorrowed { write($0[entry.payload]) }
  }
}

/// Finds the entries of a map or an object that was just written, to write them anew.
struct MapRewriter {
  /// One key with its value.
  struct Entry {
    var key: KeyText
    var tag: UInt8
    var payload: Range<Int>
  }

  private let bytes: [UInt8]
  private let content: TableContent

  init(_ bytes: [UInt8], content: TableContent) {
    self.bytes = bytes
    self.content = content
  }

  /// The entries of a map.
  func entries() -> [Entry] {
    walk { (walker, cursor, entries) throws(ArchiveError) in
      var list = EntryList()
      try walker.walk(ValueTag.map, &cursor, &list)
      entries = list.entries.map { Entry(key: KeyText(rawValue: $0.key.text), tag: $0.tag, payload: $0.payload) }
    }
  }

  /// The entries of an object with a placeholder for the number of its shape.
  ///
  /// - Parameter children: The numbers of the fields that nothing was written of so far.
  func entries(fields: [(key: KeyText, tag: UInt8)], children: [Int] = []) -> [Entry] {
    walk { (walker, cursor, entries) throws(ArchiveError) in
      try cursor.skip(1)
      for (index, field) in fields.enumerated() {
        let isChild = children.contains(index)
        let tag = isChild ? ValueTag.absent : try cursor.openTag(field.tag)
        let start = cursor.offset
        if tag != ValueTag.absent { try walker.skip(tag, &cursor) }
        entries.append(Entry(key: field.key, tag: tag, payload: start..<cursor.offset))
      }
    }
  }

  private func walk(
    _ body: (ValueWalker, inout ByteCursor, inout [Entry]) throws(ArchiveError) -> Void
  ) -> [Entry] {
    var entries: [Entry] = []
    bytes.withBorrowed { bytes in
      content.withView { view in
        var cursor = ByteCursor(bytes)
        do throws(ArchiveError) {
          try body(ValueWalker(tables: view, depthLimit: .max), &cursor, &entries)
        } catch {
          preconditionFailure("the coder cannot read what it wrote: \(error.message)")
        }
      }
    }
    return entries
  }
}
