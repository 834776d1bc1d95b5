/// A keyed container: valid while its value is being decoded and nothing inside it is.
@safe
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let frame: DecodeFrameRef
  let facts: KeyFactsRef
  let mark: UInt64
  /// Keeps the frame of a nested container.
  let owner: NestedDecoding?

  /// What the key of an entry stands for.
  typealias Entry = (index: Int, tag: UInt8)

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: true) }

  var allKeys: [Key] {
    guard (try? check()) != nil else { return [] }
    return unsafe frame.allKeys().compactMap { Key(stringValue: $0) }
  }

  @inline(__always)
  func check() throws {
    guard unsafe frame.pointee.containerMark == mark else {
      throw unsafe frame.misused("A keyed container was used after its value was decoded, or inside another value.")
    }
    if let owner { try owner.check() }
  }

  // MARK: Finding entries

  /// The number of a key's entry, or -1.
  @inline(__always)
  private func locate(_ key: Key) throws -> Int {
    if unsafe facts.pointee.isByte, let fields = unsafe frame.plannedFields(facts) {
      let byte = byte(of: key)
      unsafe frame.setCurrentKey(byte, facts)
      if byte < DecodeState.planWidth {
        let known = unsafe fields[Int(byte)]
        if known != 0 { return known == DecodeState.absent ? -1 : Int(known) &- 1 }
      }
    }
    return try learn(key)
  }

  @inline(__always)
  private func byte(of key: Key) -> UInt8 {
    unsafe unsafeBitCast(key, to: UInt8.self)
  }

  @inline(never)
  private func learn(_ key: Key) throws -> Int {
    if unsafe facts.pointee.isByte {
      unsafe frame.setCurrentKey(byte(of: key), facts)
    } else {
      unsafe frame.pointee.currentByte = -1
      unsafe frame.pointee.currentKey = key
    }
    guard unsafe facts.pointee.isIndexed else {
      var text = key.stringValue
      return try text.withUTF8 { unsafe try frame.find($0) } ?? -1
    }
    let byte =
      unsafe facts.pointee.isByte
      ? Int(byte(of: key)) : 0
    if unsafe facts.pointee.names[byte].baseAddress == nil {
      unsafe facts.pointee.names[byte] = StableText.copy(key.stringValue)
    }
    let found = try unsafe frame.find(facts.pointee.names[byte]) ?? -1
    if byte < DecodeState.planWidth, let fields = unsafe frame.plannedFields(facts) {
      unsafe fields[byte] = found < 0 ? DecodeState.absent : UInt16(found + 1)
    }
    return found
  }

  /// Puts a cursor at the payload of a key's entry; its tag is `absent` when there is none.
  @inline(__always)
  private func enter(_ key: Key, _ cursor: inout ByteCursor) throws -> Entry {
    try check()
    let index = try locate(key)
    if unsafe index == frame.pointee.index && frame.pointee.kind == .shape && frame.pointee.offsets == nil {
      unsafe cursor.next = frame.pointee.next
      let tag = unsafe UInt8(truncatingIfNeeded: frame.pointee.fields.unsafelyUnwrapped[index])
      if tag != ValueTag.any { return (index, tag) }
    } else if index < 0 {
      return (index, ValueTag.absent)
    }
    return (index, try unsafe frame.open(entry: index, &cursor))
  }

  /// Puts a cursor at the payload of a key's entry, which must exist, reads it, and moves on.
  @inline(__always)
  private func reading<Value>(
    _ key: Key, _ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value
  ) throws -> Value {
    var cursor = unsafe frame.cursor(at: frame.pointee.next)
    let (index, tag) = try enter(key, &cursor)
    if tag == ValueTag.absent { throw notFound(key) }
    let value = try unsafe read(frame, tag, &cursor)
    unsafe frame.passed(entry: index, cursor)
    return value
  }

  /// The same for an entry that may be missing or null.
  @inline(__always)
  private func readingIfPresent<Value>(
    _ key: Key, _ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value
  ) throws -> Value? {
    var cursor = unsafe frame.cursor(at: frame.pointee.next)
    let (index, tag) = try enter(key, &cursor)
    if tag <= ValueTag.null {
      if index >= 0 { unsafe frame.passed(entry: index, cursor) }
      return nil
    }
    let value = try unsafe read(frame, tag, &cursor)
    unsafe frame.passed(entry: index, cursor)
    return value
  }

  @inline(never)
  private func notFound(_ key: Key) -> any Error {
    unsafe DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: frame.path(), debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }

  // MARK: Asking

  func contains(_ key: Key) -> Bool {
    var cursor = unsafe frame.cursor(at: frame.pointee.next)
    guard let (_, tag) = try? enter(key, &cursor) else { return false }
    return tag != ValueTag.absent
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    var cursor = unsafe frame.cursor(at: frame.pointee.next)
    let (_, tag) = try enter(key, &cursor)
    if tag == ValueTag.absent { throw notFound(key) }
    return tag == ValueTag.null
  }

  // MARK: Decoding

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try unsafe reading(key) { frame, tag, cursor in try unsafe frame.read(type, tag, &cursor) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try unsafe readingIfPresent(key) { frame, tag, cursor in try unsafe frame.read(type, tag, &cursor) }
  }

  // MARK: Scalars

  @inline(__always)
  private func scalar<Value: Scalar>(_ key: Key) throws -> Value {
    try unsafe reading(key) { frame, tag, cursor in try unsafe Value.read(frame, tag, &cursor) }
  }

  @inline(__always)
  private func scalarIfPresent<Value: Scalar>(_ key: Key) throws -> Value? {
    try unsafe readingIfPresent(key) { frame, tag, cursor in try unsafe Value.read(frame, tag, &cursor) }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try scalar(key) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try scalarIfPresent(key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try scalarIfPresent(key) }
}
