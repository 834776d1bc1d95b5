extension KeyedDecoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    guard let decoder = try nestedDecoder(key.stringValue, key) else { throw missing(key, "nested keyed container") }
    return try decoder.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    guard let decoder = try nestedDecoder(key.stringValue, key) else { throw missing(key, "nested unkeyed container") }
    return try decoder.unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try superDecoder("super", AnyCodingKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(key.stringValue, key) }

  private func missing(_ key: Key, _ what: String) -> any Error {
    DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: frame.path(),
        debugDescription: "Cannot get \(what) -- no value found for key \(key) (\"\(key.stringValue)\")"))
  }

  /// A missing part reads as null, as with Foundation's coders.
  private func superDecoder(_ name: String, _ key: any CodingKey) throws -> any Decoder {
    if let decoder = try nestedDecoder(name, key) { return decoder }
    return DecoderHandle(
      try NestedDecoding(ValueTag.null, at: frame.pointee.next, path: frame.path() + [key], inside: frame))
  }

  /// A decoder of the value under a key, or nil when there is none.
  private func nestedDecoder(_ name: String, _ key: any CodingKey) throws -> DecoderHandle? {
    try check()
    guard let index = try name.withBytes({ try frame.find($0) }) else { return nil }
    var cursor = frame.cursor(at: 0)
    let tag = try frame.open(entry: index, &cursor)
    if tag == ValueTag.absent { return nil }
    let path = frame.path() + [key]
    let start = cursor.offset
    do throws(ArchiveError) {
      try frame.walker().skip(tag, &cursor)
    } catch { throw error.decodingError(path) }
    let nested = try NestedDecoding(tag, at: start, path: path, inside: frame)
    frame.passed(entry: index, cursor)
    return DecoderHandle(nested)
  }
}
