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
    unsafe DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: frame.path(),
        debugDescription: "Cannot get \(what) -- no value found for key \(key) (\"\(key.stringValue)\")"))
  }

  /// A missing part reads as null, as with Foundation's coders.
  private func superDecoder(_ name: String, _ key: any CodingKey) throws -> any Decoder {
    if let decoder = try nestedDecoder(name, key) { return decoder }
    return try unsafe NestedDecoderHandle(
      NestedDecoding(ValueTag.null, at: frame.pointee.next, path: frame.path() + [key], inside: frame))
  }

  /// A decoder of the value under a key, or nil when there is none.
  private func nestedDecoder(_ name: String, _ key: any CodingKey) throws -> NestedDecoderHandle? {
    try check()
    var name = name
    guard let index = try name.withUTF8({ unsafe try frame.find($0) }) else { return nil }
    var cursor = unsafe frame.cursor(at: frame.pointee.next)
    let tag = try unsafe frame.open(entry: index, &cursor)
    if tag == ValueTag.absent { return nil }
    let path = unsafe frame.path() + [key]
    let start = unsafe cursor.next
    do throws(CodingFailure) {
      try unsafe frame.walker.skip(tag, &cursor)
    } catch { throw error.decodingError(path) }
    let nested = try unsafe NestedDecoding(tag, at: start, path: path, inside: frame)
    unsafe frame.passed(entry: index, cursor)
    return NestedDecoderHandle(nested)
  }
}

/// Text that stays where it is for as long as the process lives: the names of coding keys.
enum StableText {
  /// Copies a text; the copy has an address even when it is empty.
  static func copy(_ text: String) -> UnsafeBufferPointer<UInt8> {
    let utf8 = Array(text.utf8)
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, utf8.count))
    _ = unsafe copy.initialize(from: utf8)
    return unsafe UnsafeBufferPointer(start: copy.baseAddress, count: utf8.count)
  }
}
