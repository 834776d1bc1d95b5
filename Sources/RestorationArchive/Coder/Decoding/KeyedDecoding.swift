/// A keyed container: valid while its value is being decoded and nothing inside it is, which its epoch tells.
///
/// It holds no reference: the standard library copies it for each field.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol, KeyedContainer {
  let frame: DecodeFrameRef
  let epochs: DecodeEpochs
  let info: KeyTypeRef
  let epoch: UInt64

  /// What the key of an entry stands for.
  typealias Entry = (index: Int, tag: UInt8)

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  var allKeys: [Key] {
    guard (try? check()) != nil else { return [] }
    return frame.allKeys().compactMap { Key(stringValue: $0) }
  }

  @inline(__always)
  func check() throws {
    guard epochs.pointee.containers == epoch else {
      throw epochs.misused("A keyed container was used after its value was decoded, or inside another value.")
    }
  }

  // MARK: Finding entries

  /// The number of a key's entry, or -1.
  @inline(__always)
  private func locate(_ key: Key) throws -> Int {
    guard info.pointee.isIndexed else { return try locateByText(key) }
    let index = info.pointee.index(of: key)
    frame.pointee.current.set(index, info)
    if index < DecodeState.FieldMap.width, let fields = frame.mappedFields(info) {
      let known = fields[Int(index)]
      if known != 0 { return known == DecodeState.FieldMap.absent ? -1 : Int(known) &- 1 }
    }
    return try learn(key, index)
  }

  @inline(never)
  private func locateByText(_ key: Key) throws -> Int {
    frame.pointee.current.set(.key(key))
    return try key.stringValue.withBytes { try frame.find($0) } ?? -1
  }

  @inline(never)
  private func learn(_ key: Key, _ index: UInt8) throws -> Int {
    let name =
      info.pointee.names[Int(index)] ?? key.stringValue.withBytes { $0.copied(in: frame.pointee.state.pointee.memory) }
    info.pointee.names[Int(index)] = name
    let found = try frame.find(name) ?? -1
    if index < DecodeState.FieldMap.width, let fields = frame.mappedFields(info) {
      fields[Int(index)] = found < 0 ? DecodeState.FieldMap.absent : UInt16(found + 1)
    }
    return found
  }

  /// Puts a cursor at the payload of a key's entry; its tag is `absent` when there is none.
  @inline(__always)
  private func enter(_ key: Key, _ cursor: inout ByteCursor) throws -> Entry {
    let index = try locate(key)
    if index == frame.pointee.index && frame.pointee.kind == .shape && frame.pointee.offsets == nil {
      cursor.move(to: frame.pointee.next)
      let tag = UInt8(truncatingIfNeeded: frame.pointee.fields[index])
      if tag != ValueTag.any { return (index, tag) }
    } else if index < 0 {
      return (index, ValueTag.absent)
    }
    return (index, try frame.open(entry: index, &cursor))
  }

  /// Puts a cursor at the payload of a key's entry, which must exist, reads it, and moves on.
  @inline(__always)
  private func reading<Value>(
    _ key: Key, _ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value
  ) throws -> Value {
    try check()
    var cursor = frame.cursor(at: 0)
    let (index, tag) = try enter(key, &cursor)
    if tag == ValueTag.absent { throw notFound(key) }
    let value = try read(frame, tag, &cursor)
    frame.passed(entry: index, cursor)
    return value
  }

  /// The same for an entry that may be missing or null.
  @inline(__always)
  private func readingIfPresent<Value>(
    _ key: Key, _ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value
  ) throws -> Value? {
    try check()
    var cursor = frame.cursor(at: 0)
    let (index, tag) = try enter(key, &cursor)
    if tag <= ValueTag.null {
      if index >= 0 { frame.passed(entry: index, cursor) }
      return nil
    }
    let value = try read(frame, tag, &cursor)
    frame.passed(entry: index, cursor)
    return value
  }

  @inline(never)
  private func notFound(_ key: Key) -> any Error {
    DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: frame.path(), debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }

  // MARK: Asking

  func contains(_ key: Key) -> Bool {
    guard (try? check()) != nil else { return false }
    var cursor = frame.cursor(at: 0)
    guard let (_, tag) = try? enter(key, &cursor) else { return false }
    return tag != ValueTag.absent
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try check()
    var cursor = frame.cursor(at: 0)
    let (_, tag) = try enter(key, &cursor)
    if tag == ValueTag.absent { throw notFound(key) }
    return tag == ValueTag.null
  }

  // MARK: Decoding

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try reading(key) { frame, tag, cursor in try frame.read(type, tag, &cursor) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try readingIfPresent(key) { frame, tag, cursor in try frame.read(type, tag, &cursor) }
  }

  // MARK: Scalars

  @inline(__always)
  private func scalar<Value: Scalar>(_ key: Key) throws -> Value {
    try reading(key) { frame, tag, cursor in try Value.read(frame, tag, &cursor) }
  }

  @inline(__always)
  private func scalarIfPresent<Value: Scalar>(_ key: Key) throws -> Value? {
    try readingIfPresent(key) { frame, tag, cursor in try Value.read(frame, tag, &cursor) }
  }

  // One for all that the protocol lists, but for those that it has a default of its own for. Inlined, so that there is
  // code for each type where the standard library looks for it.
  @inline(__always)
  func decode<Value: Scalar>(_ type: Value.Type, forKey key: Key) throws -> Value { try scalar(key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(key) }
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
