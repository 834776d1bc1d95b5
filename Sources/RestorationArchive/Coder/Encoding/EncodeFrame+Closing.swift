extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Starts an object or a map.
  @inline(__always)
  func openKeyed(_ facts: KeyFactsRef) {
    unsafe pointee.facts = facts
    unsafe pointee.node = facts.pointee.root
    let state = unsafe pointee.state
    if unsafe facts.pointee.isIndexed && !state.pointee.isCanonical {
      unsafe pointee.kind = .shape
      unsafe state.pointee.writeByte(0)
    } else {
      unsafe openMap()
    }
  }

  /// Starts a map whose values have tags.
  func openMap() {
    unsafe pointee.kind = .map
    unsafe pointee.count = 0
    unsafe pointee.currentByte = -2
    unsafe pointee.state.pointee.writeByte(ValueTag.any)
    unsafe pointee.state.pointee.writeByte(0)
  }

  /// Starts an array whose elements have tags.
  func openArray() {
    unsafe pointee.kind = .array
    unsafe pointee.count = 0
    unsafe pointee.state.pointee.writeByte(0)
  }

  /// Adds a field to the shape.
  @inline(__always)
  func advance(_ key: UInt32, _ tag: UInt8) {
    unsafe pointee.node = shape(adding: key, tag)
  }

  /// The shape with one more field.
  @inline(__always)
  func shape(adding key: UInt32, _ tag: UInt8) -> ShapeNodeRef {
    let edge = UInt64(key) &<< 8 | UInt64(tag)
    let node = unsafe pointee.node
    if unsafe node.pointee.lastEdge == edge, let next = unsafe node.pointee.lastNext { return unsafe next }
    return unsafe pointee.state.pointee.universe.follow(edge, from: node)
  }

  /// Completes the payload and tells its tag.
  @inline(__always)
  func close() -> UInt8 {
    let state = unsafe pointee.state
    if unsafe state.pointee.sideCount > pointee.sideStart { unsafe spliceSides() }
    switch unsafe pointee.kind {
    case .shape:
      let node = unsafe pointee.node
      if unsafe node.pointee.epoch == state.pointee.epoch {
        unsafe state.pointee.patchNumber(UInt64(node.pointee.local), at: pointee.start)
        return ValueTag.object
      }
      return unsafe closeNewShape()
    case .single:
      return unsafe pointee.tag
    case .array:
      unsafe state.pointee.patchNumber(UInt64(pointee.count), at: pointee.start)
      return ValueTag.array
    case .map:
      return unsafe closeMap()
    case .unopened:
      return unsafe closeEmpty()
    }
  }

  /// A value that asked for nothing is an empty object; the frame still says that it asked for nothing.
  @inline(never)
  private func closeEmpty() -> UInt8 {
    unsafe openKeyed(pointee.state.pointee.universe.recordFacts)
    let tag = unsafe closeMap()
    unsafe pointee.kind = .unopened
    return tag
  }

  @inline(never)
  private func closeNewShape() -> UInt8 {
    let state = unsafe pointee.state
    let node = unsafe pointee.node
    let isRegular = unsafe !node.pointee.isIrregular
    if isRegular, let local = unsafe state.pointee.universe.localShape(node, of: pointee.facts) {
      unsafe state.pointee.patchNumber(UInt64(local), at: pointee.start)
      return ValueTag.object
    }
    unsafe rewriteAsMap()
    return ValueTag.map
  }

  /// Completes a map: of entries with the same key the last one stays.
  @inline(never)
  private func closeMap() -> UInt8 {
    let state = unsafe pointee.state
    unsafe state.pointee.patchNumber(UInt64(pointee.count), at: pointee.start + 1)
    if unsafe pointee.count > 1 {
      let start = unsafe pointee.start
      let bytes = unsafe [UInt8](
        UnsafeBufferPointer(start: state.pointee.base + start, count: state.pointee.count - start))
      let entries = unsafe MapRewriter(bytes, content: state.pointee.universe.content).mapEntries()
      if Set(entries.map(\.key)).count < entries.count { unsafe write(entries, of: bytes) }
    }
    return ValueTag.map
  }

  /// Replaces an object whose shape may not be stored by a map.
  private func rewriteAsMap() {
    let state = unsafe pointee.state
    let start = unsafe pointee.start
    let universe = unsafe state.pointee.universe
    let bytes = unsafe [UInt8](
      UnsafeBufferPointer(start: state.pointee.base + start, count: state.pointee.count - start))
    let fields = unsafe universe.path(to: pointee.node).map {
      (KeyText(rawValue: universe.keys[Int($0 >> 8)]), UInt8(truncatingIfNeeded: $0))
    }
    unsafe write(MapRewriter(bytes, content: universe.content).objectEntries(fields), of: bytes)
  }

  /// Writes entries, leaving out all but the last of each key and those that were given no value.
  private func write(_ entries: [MapRewriter.Entry], of bytes: [UInt8]) {
    let state = unsafe pointee.state
    var last: [KeyText: Int] = [:]
    for (index, entry) in entries.enumerated() where entry.tag != ValueTag.absent { last[entry.key] = index }
    unsafe checkInserted(among: entries)
    unsafe state.pointee.truncate(to: pointee.start)
    unsafe state.pointee.writeByte(ValueTag.any)
    unsafe state.pointee.writeNumber(UInt64(last.count))
    for (index, entry) in entries.enumerated() where last[entry.key] == index {
      unsafe state.pointee.writeString(entry.key.rawValue)
      unsafe state.pointee.writeByte(entry.tag)
      unsafe bytes.withUnsafeBytes { all in
        unsafe state.pointee.append(UnsafeRawBufferPointer(rebasing: all[entry.payload]))
      }
    }
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

  /// The entries of a map whose values have tags.
  func mapEntries() -> [Entry] {
    walk { (walker, entries) throws(CodingFailure) in
      var cursor = walker.cursor(at: 1)
      let count = try cursor.readCount()
      for _ in 0..<count {
        let key = KeyText(rawValue: try cursor.readString())
        let tag = try cursor.readByte()
        let start = cursor.offset
        try walker.skip(tag, &cursor)
        entries.append(Entry(key: key, tag: tag, payload: start..<cursor.offset))
      }
    }
  }

  /// The entries of an object with a placeholder for the number of its shape.
  func objectEntries(_ fields: [(key: KeyText, tag: UInt8)]) -> [Entry] {
    walk { (walker, entries) throws(CodingFailure) in
      var cursor = walker.cursor(at: 1)
      for field in fields {
        var tag = field.tag
        if tag == ValueTag.any { tag = try cursor.readTag() }
        let start = cursor.offset
        if tag != ValueTag.absent { try walker.skip(tag, &cursor) }
        entries.append(Entry(key: field.key, tag: tag, payload: start..<cursor.offset))
      }
    }
  }

  private func walk(_ body: (ValueWalker, inout [Entry]) throws(CodingFailure) -> Void) -> [Entry] {
    var entries: [Entry] = []
    unsafe bytes.withUnsafeBytes { bytes in
      content.withView { view in
        do throws(CodingFailure) {
          try unsafe body(ValueWalker(bytes, tables: view, depthLimit: .max), &entries)
        } catch {
          preconditionFailure("the coder cannot read what it wrote: \(error.message)")
        }
      }
    }
    return entries
  }
}
