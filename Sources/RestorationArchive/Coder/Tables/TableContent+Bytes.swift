extension TableContent {
  /// Writes everything that came after a mark: the number of keys, each as a string; the number of shapes, for each
  /// the number of its fields, and for each field the number of its key and its tag.
  func write(from mark: CodingTables.Mark, into writer: inout ByteWriter) {
    writer.writeNumber(UInt64(keyCount - mark.keys))
    for key in mark.keys..<keyCount {
      keyText.withBorrowed { writer.writeCounted($0[keyRange(key)]) }
    }
    writer.writeNumber(UInt64(shapeCount - mark.shapes))
    for shape in mark.shapes..<shapeCount {
      let range = fieldRange(shape)
      writer.writeNumber(UInt64(range.count))
      for field in fields[range] {
        writer.writeNumber(UInt64(field >> 8))
        writer.writeByte(UInt8(truncatingIfNeeded: field))
      }
    }
  }

  /// Adds what ``write(from:into:)`` wrote and moves the cursor behind it.
  ///
  /// All of it takes at most four times as much memory as the bytes did.
  mutating func append(_ cursor: inout ByteCursor) throws(ArchiveError) {
    // Exact room for the first tables, and none for mere claims; those that deltas add to must grow by
    // doubling, or many would copy much.
    if keyEnds.isEmpty { try makeRoom(for: cursor) }
    let keys = try cursor.readCount()
    guard keyCount + keys <= CodingLimits.tableEntries else { throw cursor.corrupt("there are too many keys") }
    for _ in 0..<keys {
      let bytes = try cursor.readBytes()
      guard bytes.isText else {
        throw cursor.corrupt("a key is not valid UTF-8")
      }
      guard bytes.count <= CodingLimits.keyBytes else { throw cursor.corrupt("a key is too long for the tables") }
      guard keyText.count + bytes.count <= Int32.max else { throw cursor.corrupt("there are too many keys") }
      keyText.append(bytes)
      keyEnds.append(UInt32(keyText.count))
    }
    let shapes = try cursor.readCount()
    guard shapeCount + shapes <= CodingLimits.tableEntries else { throw cursor.corrupt("there are too many shapes") }
    for _ in 0..<shapes {
      let count = try cursor.readCount(ofSize: 2)
      guard count <= CodingLimits.fieldsPerShape else { throw cursor.corrupt("a shape has too many fields") }
      for _ in 0..<count {
        let key = try cursor.readNumber()
        guard key < UInt64(keyCount) else { throw cursor.corrupt("there is no key \(key)") }
        let tag = try cursor.readByte()
        guard ValueTag.isFieldTag(tag) else { throw cursor.corrupt("\(tag) is not the tag of a field") }
        fields.append(UInt32(truncatingIfNeeded: key) << 8 | UInt32(tag))
      }
      guard fields.count <= Int32.max else { throw cursor.corrupt("there are too many fields") }
      guard !repeatsKey(in: fields[(fields.count - count)...]) else {
        throw cursor.corrupt("a shape has a key twice")
      }
      shapeEnds.append(UInt32(fields.count))
    }
  }

  /// Counts the entries from a cursor to its end, and reserves as much: a key and a shape take a byte and more, a field
  /// takes two.
  private mutating func makeRoom(for cursor: ByteCursor) throws(ArchiveError) {
    var cursor = cursor
    var (text, fieldCount) = (0, 0)
    let keys = try cursor.readCount()
    for _ in 0..<keys { text += try cursor.readBytes().count }
    let shapes = try cursor.readCount()
    for _ in 0..<shapes {
      let count = try cursor.readCount(ofSize: 2)
      fieldCount += count
      for _ in 0..<count {
        _ = try cursor.readNumber()
        _ = try cursor.readByte()
      }
    }
    keyText.reserveCapacity(text)
    keyEnds.reserveCapacity(keys)
    fields.reserveCapacity(fieldCount)
    shapeEnds.reserveCapacity(shapes)
  }
}

/// Whether two fields are of one key.
private func repeatsKey(in fields: ArraySlice<UInt32>) -> Bool {
  if fields.count > 32 { return Set(fields.map { $0 >> 8 }).count < fields.count }
  for (index, field) in zip(fields.indices, fields) {
    for other in fields[(index + 1)...] where other >> 8 == field >> 8 { return true }
  }
  return false
}
