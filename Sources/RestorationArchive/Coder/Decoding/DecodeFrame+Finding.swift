extension DecodeFrameRef {
  /// Where the value ends.
  @inline(__always)
  func findEnd() throws -> Int {
    if pointee.kind == .done { return pointee.next }
    if pointee.kind != .unopened && pointee.index == pointee.count && pointee.end == nil { return pointee.next }
    return try findDistantEnd()
  }

  @inline(never)
  private func findDistantEnd() throws -> Int {
    if let end = pointee.end { return end }
    do throws(ArchiveError) {
      if pointee.kind == .unopened {
        var cursor = cursor(at: pointee.start)
        // The walker's depth counts the values inside this one; the value itself takes a level too.
        try walker(deeper: 1).skip(pointee.tag, &cursor)
        return cursor.offset
      }
      let walker = walker()
      var cursor = cursor(at: pointee.next)
      for index in pointee.index..<pointee.count { try skipEntry(index, &cursor, walker) }
      return cursor.offset
    } catch { throw corrupt(error) }
  }

  /// Moves a cursor behind a field, entry or element.
  @inline(__always)
  func skipEntry(_ index: Int, _ cursor: inout ByteCursor, _ walker: ValueWalker) throws(ArchiveError) {
    if pointee.kind == .map { _ = try cursor.readBytes() }
    let tag = try openTag(index, &cursor)
    if tag != ValueTag.absent { try walker.skip(tag, &cursor) }
  }

  /// The tag of a field, entry or element.
  @inline(__always)
  private func openTag(_ index: Int, _ cursor: inout ByteCursor) throws(ArchiveError) -> UInt8 {
    guard pointee.kind == .shape else { return try cursor.openValueTag(pointee.innerTag) }
    return try cursor.openTag(UInt8(truncatingIfNeeded: pointee.fields[index]))
  }

  /// The key and the tag of an entry that a cursor stands at.
  @inline(__always)
  func openEntry(_ index: Int, _ cursor: inout ByteCursor) throws(ArchiveError) -> (key: String, tag: UInt8) {
    let key = pointee.kind == .map ? try cursor.readString() : entryKey(index).text
    return (key, try openTag(index, &cursor))
  }

  /// Stands for the entry after the one read last, where entries are numbered in the order of their keys.
  private static var following: Int { .max }

  /// Finds where every field or entry starts; those of a map with many entries come in the order of their keys.
  ///
  /// Four bytes for each, as an entry takes two: with what arrays may claim, four times the input is the bound.
  private func findOffsets() throws {
    let (count, start) = (pointee.count, pointee.start)
    let walker = walker()
    var offsets = [UInt32](repeating: 0, count: count)
    do throws(ArchiveError) {
      // Before the cursor's place the entries are known to be good, but not where they were.
      var cursor = cursor(at: start)
      try skipHead(&cursor)
      for index in 0..<count {
        guard let offset = UInt32(exactly: cursor.offset - start) else {
          throw ArchiveError(.limitExceeded, "entries lie over 4 GiB apart", offset: cursor.offset)
        }
        offsets[index] = offset
        try skipEntry(index, &cursor, walker)
      }
      pointee.end = cursor.offset
    } catch { throw corrupt(error) }
    if pointee.kind == .map && count > 8 {
      offsets.sort { one, other in
        let difference = key(at: one).compare(key(at: other))
        return difference == 0 ? one < other : difference < 0
      }
      pointee.isSorted = true
    }
    pointee.offsets = offsets
  }

  /// Moves a cursor from the start of an object or map to its first entry.
  private func skipHead(_ cursor: inout ByteCursor) throws(ArchiveError) {
    if pointee.kind == .map { _ = try cursor.readByte() }
    _ = try cursor.readNumber()
  }

  /// The key of the map's entry at a place.
  private func key(at offset: UInt32) -> Borrowed<UInt8> {
    var cursor = cursor(at: pointee.start + Int(offset))
    return (try? cursor.readBytes()) ?? Borrowed()
  }

  /// The key of an entry, once the offsets of a map are known.
  private func entryKey(_ index: Int) -> Borrowed<UInt8> {
    if pointee.kind == .shape { return pointee.state.pointee.tables.key(Int(pointee.fields[index] >> 8)) }
    return pointee.offsets.map { key(at: $0[index]) } ?? Borrowed()
  }

  /// The keys of an object or map that were given a value, each once, in their order, as far as they can be read.
  func allKeys() -> [String] {
    var keys: [String] = []
    var seen: Set<KeyText> = []
    var list = EntryList()
    var cursor = cursor(at: pointee.start)
    // Decoding the rest will throw.
    try? walker(deeper: 1).walk(pointee.tag, &cursor, &list)
    for entry in list.entries where entry.tag != ValueTag.absent {
      let text = entry.key.text
      if seen.insert(KeyText(rawValue: text)).inserted { keys.append(text) }
    }
    return keys
  }

  /// Whether a type of keys knows all fields of an object's shape; those of other values are not looked at.
  func knowsShape<Key: CodingKey>(_ type: Key.Type) -> Bool {
    pointee.kind == .shape && (0..<pointee.count).allSatisfy { Key(stringValue: entryKey($0).text) != nil }
  }

  // MARK: Entries by key

  /// The number of the entry with a key, for ``open(entry:_:)`` and ``passed(entry:_:)``, or nil.
  ///
  /// Where there is none, one whose spelling Unicode calls equivalent: an editor may have saved the source anew.
  func find(_ name: Borrowed<UInt8>) throws -> Int? {
    if let index = try findExactly(name) { return index }
    guard !name.isASCII else { return nil }
    if pointee.kind != .shape, pointee.offsets == nil { try findOffsets() }
    let text = name.text
    return (0..<pointee.count).first { text == entryKey($0).text }
  }

  private func findExactly(_ name: Borrowed<UInt8>) throws -> Int? {
    let count = pointee.count
    if pointee.kind == .shape {
      for index in pointee.index..<count where entryKey(index).hasSameBytes(as: name) { return index }
      return (0..<min(pointee.index, count)).first { entryKey($0).hasSameBytes(as: name) }
    }
    if pointee.isSorted ? pointee.next != pointee.end : pointee.index < count {
      var cursor = cursor(at: pointee.next)
      do throws(ArchiveError) {
        if try cursor.readBytes().hasSameBytes(as: name) { return pointee.isSorted ? Self.following : pointee.index }
      } catch { throw corrupt(error) }
    }
    if pointee.offsets == nil { try findOffsets() }
    guard pointee.isSorted else { return (0..<count).first { entryKey($0).hasSameBytes(as: name) } }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if entryKey(middle).compare(name) < 0 { low = middle + 1 } else { high = middle }
    }
    return low < count && entryKey(low).hasSameBytes(as: name) ? low : nil
  }

  /// A cursor at an entry's payload, and its tag: `absent` when the key was given no value.
  func open(entry index: Int, _ cursor: inout ByteCursor) throws -> UInt8 {
    if index == pointee.index && pointee.offsets == nil || index == Self.following {
      cursor.move(to: pointee.next)
    } else {
      if pointee.offsets == nil { try findOffsets() }
      cursor.move(to: pointee.start + Int(pointee.offsets.map { $0[index] } ?? 0))
    }
    do throws(ArchiveError) {
      if pointee.kind == .map { _ = try cursor.readBytes() }
      return try openTag(index, &cursor)
    } catch { throw corrupt(error) }
  }

  /// Remembers that an entry was read to its end.
  @inline(__always)
  func passed(entry index: Int, _ cursor: ByteCursor) {
    pointee.next = cursor.offset
    // The numbers of sorted entries say nothing of later ones.
    if !pointee.isSorted { pointee.index = index &+ 1 }
  }
}
