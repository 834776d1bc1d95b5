import FoundationEssentials

extension RecordDecoder {
  /// The entries as the bytes tell of them, without the types that were encoded.
  func storedValues() throws(ArchiveError) -> [RestorationArchive.StoredValue.Field] {
    do {
      return try withEntries { frame in
        var cursor = frame.cursor(at: frame.pointee.next)
        return try frame.storedFields(&cursor)
      }
    } catch { throw Self.archiveError(error, nil) }
  }
}

extension DecodeFrameRef {
  /// Reads a value of any kind inside this one, guided by its tag and the shapes: see ``ValueTag``.
  private func storedValue(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> RestorationArchive.StoredValue {
    switch tag {
    case ValueTag.null: return .null
    case ValueTag.bool: return .bool(try Bool.read(self, tag, &cursor))
    case ValueTag.integer, ValueTag.signedBits...: return .integer(try integer(tag, &cursor))
    case ValueTag.short, ValueTag.double, ValueTag.float, ValueTag.half:
      return .number(try Double.read(self, tag, &cursor))
    case ValueTag.string: return .string(try String.read(self, tag, &cursor))
    case ValueTag.data: return .data(try Data.read(self, tag, &cursor))
    case ValueTag.date: return .date(try Date.read(self, tag, &cursor))
    case ValueTag.uuid: return .uuid(try UUID.read(self, tag, &cursor).uuidString)
    case ValueTag.object, ValueTag.map:
      let child = try push(tag, at: cursor.offset)
      defer { pop(child) }
      try child.openKeyed(pointee.state.pointee.info(of: AnyCodingKey.self))
      cursor.move(to: child.pointee.next)
      return .object(try child.storedFields(&cursor))
    default:
      return .array(
        try readElements(tag, &cursor) { child, header, cursor in
          try (0..<header.count).map { index in
            child.pointee.currentElement = index
            return try child.storedValue(try child.openElement(header, &cursor), &cursor)
          }
        })
    }
  }

  /// An integer in decimal; of more than 64 bits some are unsigned.
  private func integer(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> String {
    var copy = cursor
    if let value = try? Int128.read(self, tag, &copy) {
      cursor = copy
      return String(value)
    }
    return String(try UInt128.read(self, tag, &cursor))
  }

  /// Reads all entries of an object or a map.
  fileprivate func storedFields(_ cursor: inout ByteCursor) throws -> [RestorationArchive.StoredValue.Field] {
    var fields: [RestorationArchive.StoredValue.Field] = []
    for index in 0..<pointee.count {
      let key: String
      let tag: UInt8
      do throws(CodingFailure) { (key, tag) = try openEntry(index, &cursor) } catch {
        throw error.decodingError(path())
      }
      if tag == ValueTag.absent && pointee.kind == .shape { continue }
      pointee.setCurrent(.text(key))
      fields.append(.init(key: key, value: try storedValue(tag, &cursor)))
    }
    return fields
  }
}
