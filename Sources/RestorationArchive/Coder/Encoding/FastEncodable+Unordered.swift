extension Dictionary: FastEncodable where Key: Encodable, Value: Encodable {
  static func encodeCollection(at value: UnsafeRawPointer, in frame: EncodeFrameRef) throws -> UInt8 {
    let dictionary = unsafe value.assumingMemoryBound(to: Self.self).pointee
    if Key.self == String.self {
      return try unsafe encodeTexts(unsafeBitCast(dictionary, to: [String: Value].self), in: frame)
    }
    return try unsafe encodeOther(dictionary, in: frame)
  }

  private static func encodeOther(_ dictionary: Self, in frame: EncodeFrameRef) throws -> UInt8 {
    if Key.self is any CodingKeyRepresentable.Type {
      let pairs = dictionary.map { pair in
        ((pair.key as! any CodingKeyRepresentable).codingKey.stringValue, pair.value)
      }
      let texts = Dictionary<String, Value>(pairs) { first, _ in first }
      // One of them would be lost, today this one and tomorrow the other.
      guard texts.count == dictionary.count else { throw unsafe frame.sameTexts(Self.self) }
      return try unsafe encodeTexts(texts, in: frame)
    }
    return try unsafe encodePairs(dictionary, in: frame)
  }

  private static func encodeTexts(_ dictionary: [String: Value], in frame: EncodeFrameRef) throws -> UInt8 {
    let state = unsafe frame.pointee.state
    let (kind, _) = unsafe state.pointee.kind(of: Value.self)
    if kind.tag != 0 {
      unsafe state.pointee.writeByte(kind.tag)
      unsafe state.pointee.writeNumber(UInt64(dictionary.count))
      unsafe state.pointee.writeEntries(of: dictionary) { state, value in
        unsafe withUnsafePointer(to: value) { unsafe state.writeScalar(UnsafeRawPointer($0), kind) }
      }
      return ValueTag.map
    }
    return try unsafe encodeTagged(dictionary, in: frame)
  }

  private static func encodeTagged(_ dictionary: [String: Value], in frame: EncodeFrameRef) throws -> UInt8 {
    let state = unsafe frame.pointee.state
    let entries = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    let child = try unsafe frame.push()
    unsafe child.pointee.kind = .map
    unsafe child.pointee.currentByte = -1
    unsafe state.pointee.writeByte(ValueTag.any)
    unsafe state.pointee.writeNumber(UInt64(entries.count))
    do {
      for entry in entries {
        unsafe state.pointee.writeString(entry.key)
        unsafe child.pointee.currentKey = AnyCodingKey(dictionaryKey: entry.key)
        try unsafe child.encodeElement(entry.value)
      }
    } catch {
      unsafe frame.abandon(child)
      throw error
    }
    unsafe frame.pop(child)
    return ValueTag.map
  }

  /// Keys that are not text: an array of keys and values, by the keys' canonical bytes.
  private static func encodePairs(_ dictionary: Self, in frame: EncodeFrameRef) throws -> UInt8 {
    let child = try unsafe frame.push()
    unsafe child.pointee.kind = .array
    unsafe child.pointee.count = 0
    let state = unsafe child.pointee.state
    do {
      var entries: [(bytes: [UInt8], key: Key, value: Value)] = []
      entries.reserveCapacity(dictionary.count)
      for (key, value) in dictionary { entries.append((try unsafe child.canonicalBytes(of: key), key, value)) }
      entries.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      unsafe state.pointee.writeNumber(2 * UInt64(entries.count))
      for entry in entries {
        try unsafe child.encodeElement(entry.key, canonicalBytes: entry.bytes)
        try unsafe child.encodeElement(entry.value)
      }
    } catch {
      unsafe frame.abandon(child)
      throw error
    }
    unsafe frame.pop(child)
    return ValueTag.array
  }
}

extension Set: FastEncodable where Element: Encodable {
  static func encodeCollection(at value: UnsafeRawPointer, in frame: EncodeFrameRef) throws -> UInt8 {
    let set = unsafe value.assumingMemoryBound(to: Self.self).pointee
    let state = unsafe frame.pointee.state
    let (kind, _) = unsafe state.pointee.kind(of: Element.self)
    if kind.tag != 0 {
      unsafe state.pointee.writeByte(kind.tag)
      unsafe state.pointee.writeNumber(UInt64(set.count))
      unsafe state.pointee.writeElements(of: set, kind)
      return ValueTag.packed
    }
    let child = try unsafe frame.push()
    unsafe child.pointee.kind = .array
    unsafe child.pointee.count = 0
    do {
      var entries: [(bytes: [UInt8], element: Element)] = []
      entries.reserveCapacity(set.count)
      for element in set { entries.append((try unsafe child.canonicalBytes(of: element), element)) }
      entries.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      unsafe state.pointee.writeNumber(UInt64(entries.count))
      for entry in entries { try unsafe child.encodeElement(entry.element, canonicalBytes: entry.bytes) }
    } catch {
      unsafe frame.abandon(child)
      throw error
    }
    unsafe frame.pop(child)
    return ValueTag.array
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// The error of a dictionary of which two keys would be stored under one text.
  fileprivate func sameTexts(_ type: Any.Type) -> any Error {
    unsafe EncodingError.invalidValue(
      type,
      EncodingError.Context(codingPath: pathInside(), debugDescription: "Two keys of a \(type) have one text."))
  }

  /// The bytes of a value, tag and all, with written-out keys: the same whatever was encoded before.
  fileprivate func canonicalBytes<T: Encodable>(of value: T) throws -> [UInt8] {
    let state = unsafe pointee.state
    let wasCanonical = unsafe state.pointee.isCanonical
    let start = unsafe state.pointee.count
    let count = unsafe pointee.count
    unsafe state.pointee.isCanonical = true
    defer {
      unsafe state.pointee.isCanonical = wasCanonical
      unsafe state.pointee.truncate(to: start)
      unsafe pointee.count = count
    }
    try unsafe encodeElement(value)
    return unsafe [UInt8](UnsafeBufferPointer(start: state.pointee.base + start, count: state.pointee.count - start))
  }

  /// Encodes an element whose canonical bytes are known.
  fileprivate func encodeElement<T: Encodable>(_ value: T, canonicalBytes: [UInt8]) throws {
    if unsafe pointee.state.pointee.isCanonical {
      unsafe canonicalBytes.withUnsafeBytes { unsafe pointee.state.pointee.append($0) }
      unsafe pointee.count += 1
    } else {
      try unsafe encodeElement(value)
    }
  }
}
