/// A collection that the coder decodes without asking it.
protocol DecodableCollection {
  /// Decodes a value into a place, inside a frame, and moves the cursor behind the payload.
  static func decodeCollection(
    into place: ResultPlace, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> ResultPlace.Filled
}

extension Array: DecodableCollection where Element: Decodable {
  static func decodeCollection(
    into place: ResultPlace, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> ResultPlace.Filled {
    place.put(
      try frame.readElements(tag, &cursor) { child, header, cursor in
        var result: Self = []
        result.reserveCapacity(child.affordable(header.count, stride: MemoryLayout<Element>.stride))
        for index in 0..<header.count { result.append(try child.readElement(index, header, &cursor)) }
        return result
      })
  }
}

extension Set: DecodableCollection where Element: Decodable {
  static func decodeCollection(
    into place: ResultPlace, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> ResultPlace.Filled {
    place.put(
      try frame.readElements(tag, &cursor) { child, header, cursor in
        var result = Self(minimumCapacity: child.affordable(header.count, stride: 2 * MemoryLayout<Element>.stride))
        for index in 0..<header.count { result.insert(try child.readElement(index, header, &cursor)) }
        return result
      })
  }
}

extension Dictionary: DecodableCollection where Key: Decodable, Value: Decodable {
  static func decodeCollection(
    into place: ResultPlace, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> ResultPlace.Filled {
    if Key.self == String.self {
      return place.put(try decodeEntries(tag, &cursor, in: frame) { key, _ in sameType(key, as: Key.self) })
    } else if let type = Key.self as? any CodingKeyRepresentable.Type, tag == ValueTag.map || tag == ValueTag.object {
      return place.put(
        try decodeEntries(tag, &cursor, in: frame) { text, child in
          let codingKey = AnyCodingKey(dictionaryKey: text)
          if let key = type.init(codingKey: codingKey) as? Key { return key }
          throw DecodingError.dataCorrupted(
            DecodingError.Context(
              codingPath: child.path() + [codingKey], debugDescription: "Could not convert key to type \(Key.self)"))
        })
    } else if Key.self is any CodingKeyRepresentable.Type
      && ![ValueTag.array, ValueTag.packed, ValueTag.integers].contains(tag)
    {
      throw frame.mismatch([String: Any].self, found: tag)
    } else {
      // Also entries that were written before the key became one that stands for text.
      return place.put(try decodePairs(tag, &cursor, in: frame))
    }
  }

  private static func decodeEntries(
    _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef,
    _ convert: (String, DecodeFrameRef) throws -> Key
  ) throws -> Self {
    guard tag == ValueTag.map || tag == ValueTag.object else { throw frame.mismatch([String: Any].self, found: tag) }
    let child = try frame.push(tag, at: cursor.offset)
    let budget = frame.pointee.state.pointee.preallocationBudget
    defer {
      frame.pointee.state.pointee.preallocationBudget = budget
      frame.pop(child)
    }
    try child.openKeyed(child.pointee.state.pointee.info(of: AnyCodingKey.self))
    cursor.move(to: child.pointee.next)
    let count = child.pointee.count
    let stride = 2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride)
    var result = Self(minimumCapacity: child.affordable(count, stride: stride))
    for index in 0..<count {
      let text: String
      let inner: UInt8
      do throws(ArchiveError) {
        (text, inner) = try child.openEntry(index, &cursor)
      } catch { throw error.decodingError(child.path()) }
      if inner == ValueTag.absent { continue }
      child.pointee.current.set(.key(AnyCodingKey(dictionaryKey: text)))
      let key = try convert(text, child)
      result[key] = try child.read(Value.self, inner, &cursor)
    }
    return result
  }

  private static func decodePairs(
    _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> Self {
    try frame.readElements(tag, &cursor) { child, header, cursor in
      guard header.count.isMultiple(of: 2) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: child.path(),
            debugDescription: "Expected collection of key-value pairs; encountered odd-length array instead."))
      }
      let stride = MemoryLayout<Key>.stride + MemoryLayout<Value>.stride
      var result = Self(minimumCapacity: child.affordable(header.count / 2, stride: 2 * stride))
      for index in 0..<header.count / 2 {
        let key: Key = try child.readElement(2 * index, header, &cursor)
        result[key] = try child.readElement(2 * index + 1, header, &cursor) as Value
      }
      return result
    }
  }
}

extension DecodeFrameRef {
  /// Reads an element of an array.
  @inline(__always)
  fileprivate func readElement<Element: Decodable>(
    _ index: Int, _ header: ArrayHeader, _ cursor: inout ByteCursor
  ) throws -> Element {
    pointee.currentElement = index
    return try read(Element.self, try openElement(header, &cursor), &cursor)
  }

  /// The tag of the next element.
  @inline(__always)
  func openElement(_ header: ArrayHeader, _ cursor: inout ByteCursor) throws -> UInt8 {
    do throws(ArchiveError) { return try cursor.openValueTag(header.innerTag) } catch { throw corrupt(error) }
  }

  /// Reads an array of any form inside this value.
  @inline(__always)
  func readElements<Result>(
    _ tag: UInt8, _ cursor: inout ByteCursor,
    _ body: (DecodeFrameRef, ArrayHeader, inout ByteCursor) throws -> Result
  ) throws -> Result {
    let start = cursor.offset
    let header: ArrayHeader?
    do throws(ArchiveError) { header = try ArrayHeader(tag, &cursor) } catch { throw corrupt(error) }
    guard let header else { throw mismatch([Any].self, found: tag) }
    let child = try push(tag, at: start)
    let budget = pointee.state.pointee.preallocationBudget
    defer {
      pointee.state.pointee.preallocationBudget = budget
      pop(child)
    }
    child.pointee.pathKind = .index
    return try body(child, header, &cursor)
  }
}
