extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// A walker over all bytes, for the levels that may still be nested in this value.
  var walker: ValueWalker {
    let state = unsafe pointee.state
    return unsafe ValueWalker(
      UnsafeRawBufferPointer(start: state.pointee.base, count: state.pointee.end - state.pointee.base),
      tables: state.pointee.tables, depthLimit: max(0, state.pointee.depthLimit - pointee.depth))
  }

  /// Where the value ends.
  @inline(__always)
  func findEnd() throws -> UnsafePointer<UInt8> {
    if unsafe pointee.kind == .done { return unsafe pointee.next }
    if unsafe pointee.kind != .unopened && pointee.index == pointee.count && pointee.end == nil {
      return unsafe pointee.next
    }
    return try unsafe findDistantEnd()
  }

  @inline(never)
  private func findDistantEnd() throws -> UnsafePointer<UInt8> {
    if let end = unsafe pointee.end { return unsafe end }
    let walker = unsafe walker
    do throws(CodingFailure) {
      if unsafe pointee.kind == .unopened {
        var cursor = unsafe cursor(at: pointee.start)
        // The walker's depth counts what is inside this value; the value itself takes a level too.
        unsafe try walker.deeper().skip(pointee.tag, &cursor)
        return unsafe cursor.next
      }
      var cursor = unsafe cursor(at: pointee.next)
      for index in unsafe pointee.index..<pointee.count { try unsafe skipEntry(index, &cursor, walker) }
      return unsafe cursor.next
    } catch { throw unsafe corrupt(error) }
  }

  /// Moves a cursor behind a field, entry or element.
  @inline(__always)
  func skipEntry(_ index: Int, _ cursor: inout ByteCursor, _ walker: ValueWalker) throws(CodingFailure) {
    switch unsafe pointee.kind {
    case .shape:
      try unsafe walker.skipField(pointee.fields.unsafelyUnwrapped[index], &cursor)
    case .map:
      _ = try unsafe cursor.readBytes()
      try walker.skip(unsafe readInnerTag(&cursor), &cursor)
    case .array:
      try walker.skip(unsafe readInnerTag(&cursor), &cursor)
    case .unopened, .done: break
    }
  }

  /// The tag of an entry or element.
  @inline(__always)
  func readInnerTag(_ cursor: inout ByteCursor) throws(CodingFailure) -> UInt8 {
    let tag = unsafe pointee.innerTag
    return tag == ValueTag.any ? try cursor.readTag() : tag
  }

  /// Stands for the entry after the one read last, where entries are numbered in the order of their keys.
  private static var following: Int { .max }

  /// Finds where every field or entry starts; those of a map with many entries come in the order of their keys.
  ///
  /// Four bytes for each, as an entry takes two: with what arrays may claim, four times the input is the bound.
  private func findOffsets() throws {
    let count = unsafe pointee.count
    let walker = unsafe walker
    let start = unsafe pointee.start
    let offsets = UnsafeMutablePointer<UInt32>.allocate(capacity: max(1, count))
    do throws(CodingFailure) {
      // Before the cursor's place the entries are known to be good, but not where they were.
      var cursor = unsafe cursor(at: start)
      try unsafe skipHead(&cursor)
      for index in 0..<count {
        guard let offset = unsafe UInt32(exactly: cursor.next - start) else {
          throw CodingFailure("entries lie over 4 GiB apart", at: cursor.offset, code: .limitExceeded)
        }
        unsafe offsets[index] = offset
        try unsafe skipEntry(index, &cursor, walker)
      }
      unsafe pointee.end = cursor.next
    } catch {
      unsafe offsets.deallocate()
      throw unsafe corrupt(error)
    }
    unsafe pointee.offsets = offsets
    if unsafe pointee.kind == .map && count > 8 {
      var sorted = unsafe UnsafeMutableBufferPointer(start: offsets, count: count)
      unsafe sorted.sort { one, other in
        let difference = unsafe compare(key(at: one), key(at: other))
        return difference == 0 ? one < other : difference < 0
      }
      unsafe pointee.isSorted = true
    }
  }

  /// Moves a cursor from the start of an object or map to its first entry.
  private func skipHead(_ cursor: inout ByteCursor) throws(CodingFailure) {
    if unsafe pointee.kind == .map { _ = try cursor.readByte() }
    _ = try cursor.readNumber()
  }

  /// The key of a map's entry, once the offsets are known.
  private func entryKey(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    unsafe key(at: pointee.offsets.unsafelyUnwrapped[index])
  }

  /// The key of the map's entry at a place.
  private func key(at offset: UInt32) -> UnsafeBufferPointer<UInt8> {
    var cursor = unsafe cursor(at: pointee.start + Int(offset))
    return unsafe (try? cursor.readBytes()) ?? UnsafeBufferPointer(start: nil, count: 0)
  }

  /// Compares two texts by their bytes.
  private func compare(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Int {
    let count = min(one.count, other.count)
    for index in 0..<count {
      let difference = unsafe Int(one[index]) - Int(other[index])
      if difference != 0 { return difference }
    }
    return one.count - other.count
  }

  /// The keys of an object or map that were given a value, each once, in their order.
  func allKeys() -> [String] {
    var keys: [String] = []
    var seen: Set<KeyText> = []
    var cursor = unsafe cursor(at: pointee.start)
    let walker = unsafe walker
    do throws(CodingFailure) {
      try unsafe skipHead(&cursor)
      for index in unsafe 0..<pointee.count {
        var isAbsent = false
        let key: String
        if unsafe pointee.kind == .map {
          var start = cursor
          key = try start.readString()
        } else {
          let field = unsafe pointee.fields.unsafelyUnwrapped[index]
          unsafe key = String(decoding: pointee.state.pointee.tables.key(Int(field >> 8)), as: UTF8.self)
          if UInt8(truncatingIfNeeded: field) == ValueTag.any {
            var start = cursor
            isAbsent = try start.readTag() == ValueTag.absent
          }
        }
        try unsafe skipEntry(index, &cursor, walker)
        if !isAbsent && seen.insert(KeyText(rawValue: key)).inserted { keys.append(key) }
      }
    } catch {
      // What can be read is told; decoding the rest will throw.
    }
    return keys
  }

  // MARK: Entries by key

  /// The number of the entry with a key, for ``open(entry:_:)`` and ``passed(entry:_:)``, or nil.
  ///
  /// Where there is none, one whose spelling Unicode calls equivalent: an editor may have saved the source anew.
  func find(_ name: UnsafeBufferPointer<UInt8>) throws -> Int? {
    if let index = try unsafe findExactly(name) { return index }
    return unsafe name.contains { $0 >= 0x80 } ? try unsafe findEquivalent(name) : nil
  }

  private func findEquivalent(_ name: UnsafeBufferPointer<UInt8>) throws -> Int? {
    let text = unsafe String(decoding: name, as: UTF8.self)
    if unsafe pointee.kind != .shape, unsafe pointee.offsets == nil { try unsafe findOffsets() }
    return unsafe (0..<pointee.count).first { index in
      let key =
        unsafe pointee.kind == .shape
        ? pointee.state.pointee.tables.key(Int(pointee.fields.unsafelyUnwrapped[index] >> 8)) : entryKey(index)
      return unsafe text == String(decoding: key, as: UTF8.self)
    }
  }

  private func findExactly(_ name: UnsafeBufferPointer<UInt8>) throws -> Int? {
    let count = unsafe pointee.count
    if unsafe pointee.kind == .shape {
      let start = unsafe pointee.index
      for step in 0..<count {
        var index = start + step
        if index >= count { index -= count }
        let key = unsafe Int(pointee.fields.unsafelyUnwrapped[index] >> 8)
        if unsafe equal(pointee.state.pointee.tables.key(key), name) { return index }
      }
      return nil
    }
    if unsafe pointee.isSorted ? pointee.next != pointee.end : pointee.index < count {
      var cursor = unsafe cursor(at: pointee.next)
      do throws(CodingFailure) {
        if unsafe equal(try cursor.readBytes(), name) {
          return unsafe pointee.isSorted ? Self.following : pointee.index
        }
      } catch { throw unsafe corrupt(error) }
    }
    if unsafe pointee.offsets == nil { try unsafe findOffsets() }
    guard unsafe pointee.isSorted else {
      return (0..<count).first { unsafe equal(entryKey($0), name) }
    }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if unsafe compare(entryKey(middle), name) < 0 { low = middle + 1 } else { high = middle }
    }
    return unsafe low < count && equal(entryKey(low), name) ? low : nil
  }

  @inline(__always)
  private func equal(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    for index in 0..<one.count where unsafe one[index] != other[index] { return false }
    return true
  }

  /// A cursor at an entry's payload, and its tag: `absent` when the key was given no value.
  func open(entry index: Int, _ cursor: inout ByteCursor) throws -> UInt8 {
    if unsafe index == pointee.index && pointee.offsets == nil || index == Self.following {
      unsafe cursor.next = pointee.next
    } else {
      if unsafe pointee.offsets == nil { try unsafe findOffsets() }
      unsafe cursor.next = unsafe pointee.start + Int(pointee.offsets.unsafelyUnwrapped[index])
    }
    do throws(CodingFailure) {
      if unsafe pointee.kind == .map {
        _ = try unsafe cursor.readBytes()
        return try unsafe readInnerTag(&cursor)
      }
      let tag = unsafe UInt8(truncatingIfNeeded: pointee.fields.unsafelyUnwrapped[index])
      return tag == ValueTag.any ? try cursor.readTag() : tag
    } catch { throw unsafe corrupt(error) }
  }

  /// Remembers that an entry was read to its end.
  @inline(__always)
  func passed(entry index: Int, _ cursor: ByteCursor) {
    unsafe pointee.next = cursor.next
    // The numbers of sorted entries say nothing of what follows.
    if unsafe !pointee.isSorted { unsafe pointee.index = index &+ 1 }
  }
}

extension ValueWalker {
  /// A walker that may go one level deeper.
  func deeper() -> ValueWalker {
    unsafe ValueWalker(
      UnsafeRawBufferPointer(start: base, count: end - base), tables: tables, depthLimit: depthLimit + 1)
  }
}
