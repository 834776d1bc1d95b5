/// A collection that the coder encodes without asking it: faster, and in an order that does not change.
protocol EncodableCollection {
  /// Writes the payload of the value at an address inside a frame and tells its tag.
  static func encodeCollection(at value: ValueAddress, in frame: EncodeFrameRef) throws -> UInt8
}

extension Array: EncodableCollection where Element: Encodable {
  static func encodeCollection(at value: ValueAddress, in frame: EncodeFrameRef) throws -> UInt8 {
    let elements = value[Self.self]
    return try frame.encodeArray(count: elements.count) { child in
      for element in elements { try child.encodeElement(element) }
    }
  }
}

extension Set: EncodableCollection where Element: Encodable {
  static func encodeCollection(at value: ValueAddress, in frame: EncodeFrameRef) throws -> UInt8 {
    let set = value[Self.self]
    return try frame.encodeArray(count: set.count) { child in
      for (bytes, element) in try child.sorted(set, by: { $0 }) {
        try child.encodeElement(element, canonicalBytes: bytes)
      }
    }
  }
}

extension Dictionary: EncodableCollection where Key: Encodable, Value: Encodable {
  static func encodeCollection(at value: ValueAddress, in frame: EncodeFrameRef) throws -> UInt8 {
    let dictionary = value[Self.self]
    if Key.self == String.self { return try encodeTexts(sameType(dictionary, as: [String: Value].self), in: frame) }
    guard Key.self is any CodingKeyRepresentable.Type else { return try encodePairs(dictionary, in: frame) }
    let pairs = dictionary.map { ((($0.key as? any CodingKeyRepresentable)?.codingKey.stringValue) ?? "", $0.value) }
    let texts = [String: Value](pairs) { first, _ in first }
    // One of them would be lost, today this one and tomorrow the other.
    guard texts.count == dictionary.count else {
      throw EncodingError.invalidValue(
        Self.self,
        EncodingError.Context(
          codingPath: frame.pathInside(), debugDescription: "Two keys of a \(Self.self) have one text."))
    }
    // A dictionary by texts of scalars has a form of its own.
    return try frame.encode(texts)
  }

  private static func encodeTexts(_ dictionary: [String: Value], in frame: EncodeFrameRef) throws -> UInt8 {
    let state = frame.pointee.state
    let child = try frame.inside { child in
      child.pointee.kind = .map
      state.pointee.writer.writeByte(ValueTag.any)
      state.pointee.writer.writeNumber(UInt64(dictionary.count))
      for (key, value) in dictionary.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        state.pointee.writer.writeString(key)
        child.pointee.current.set(.key(AnyCodingKey(dictionaryKey: key)))
        try child.encodeElement(value)
      }
    }
    frame.pop(child)
    return ValueTag.map
  }

  /// Keys that are not text: an array of keys and values, by the keys' canonical bytes.
  private static func encodePairs(_ dictionary: Self, in frame: EncodeFrameRef) throws -> UInt8 {
    try frame.encodeArray(count: 2 * dictionary.count) { child in
      for (bytes, pair) in try child.sorted(dictionary, by: { $0.key }) {
        try child.encodeElement(pair.key, canonicalBytes: bytes)
        try child.encodeElement(pair.value)
      }
    }
  }
}

extension EncodeFrameRef {
  /// Encodes an array whose elements have tags.
  @inline(__always)
  fileprivate func encodeArray(count: Int, _ body: (EncodeFrameRef) throws -> Void) throws -> UInt8 {
    let child = try inside { child in
      child.pointee.kind = .array
      child.pointee.count = 0
      child.pointee.state.pointee.writer.writeNumber(UInt64(count))
      try body(child)
    }
    pop(child)
    return ValueTag.array
  }

  /// Elements in the order of the canonical bytes of a part of them.
  fileprivate func sorted<Elements: Collection, Part: Encodable>(
    _ elements: Elements, by part: (Elements.Element) -> Part
  ) throws -> [(bytes: [UInt8], element: Elements.Element)] {
    // Where the number of elements stands, nothing is written until all are known.
    var entries: [(bytes: [UInt8], element: Elements.Element)] = []
    entries.reserveCapacity(elements.count)
    for element in elements { entries.append((try canonicalBytes(of: part(element)), element)) }
    entries.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    return entries
  }

  /// The bytes of a value, tag and all, with written-out keys: the same after any other values.
  private func canonicalBytes<T: Encodable>(of value: T) throws -> [UInt8] {
    let state = pointee.state
    let (wasCanonical, start, count) = (state.pointee.isCanonical, state.pointee.writer.count, pointee.count)
    state.pointee.isCanonical = true
    defer {
      state.pointee.isCanonical = wasCanonical
      state.pointee.writer.truncate(to: start)
      pointee.count = count
    }
    try encodeElement(value)
    return state.pointee.writer.withBytes(from: start) { $0.array }
  }

  /// Encodes an element whose canonical bytes are known.
  fileprivate func encodeElement<T: Encodable>(_ value: T, canonicalBytes: [UInt8]) throws {
    guard pointee.state.pointee.isCanonical else { return try encodeElement(value) }
    canonicalBytes.withBorrowed { pointee.state.pointee.writer.write($0) }
    pointee.count += 1
  }
}
