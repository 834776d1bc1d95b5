/// An unkeyed container: valid while its value is being decoded and nothing inside it is.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  let frame: DecodeFrameRef
  let epochs: DecodeEpochs
  let epoch: UInt64
  /// Keeps the frames of a nested value.
  let keeper: NestedDecoding?
  /// The number of the next element.
  private(set) var currentIndex = 0
  /// The next element.
  private var next: Int
  private let header: ArrayHeader

  /// Starts to read an array.
  init(_ frame: DecodeFrameRef, _ epochs: DecodeEpochs, epoch: UInt64, keeper: NestedDecoding?) throws {
    self.keeper = keeper
    self.frame = frame
    self.epochs = epochs
    self.epoch = epoch
    var cursor = frame.cursor(at: frame.pointee.start)
    let read: ArrayHeader?
    do throws(ArchiveError) {
      read = try ArrayHeader(frame.pointee.tag, &cursor)
    } catch { throw error.decodingError(frame.path()) }
    guard let read else { throw frame.mismatchedContainer([Any].self) }
    header = read
    next = cursor.offset
    if frame.pointee.kind == .unopened {
      frame.pointee.kind = .array
      frame.pointee.innerTag = header.innerTag
      frame.pointee.count = header.count
      frame.pointee.index = 0
      frame.pointee.next = next
    }
    frame.pointee.pathKind = .index
  }

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  var count: Int? { header.count }

  var isAtEnd: Bool { currentIndex >= header.count }

  @inline(__always)
  private func check() throws {
    guard epochs.pointee.containers == epoch else {
      throw epochs.misused("An unkeyed container was used after its value was decoded, or inside another value.")
    }
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> any Error {
    DecodingError.valueNotFound(
      type,
      DecodingError.Context(
        codingPath: frame.pathInside(), debugDescription: "Unkeyed container is at end."))
  }

  /// Puts a cursor at the next element, reads it, and moves on.
  @inline(__always)
  private mutating func reading<Value>(
    _ type: Any.Type, _ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value
  ) throws -> Value {
    try check()
    frame.pointee.currentElement = currentIndex
    if isAtEnd { throw atEnd(type) }
    var cursor = frame.cursor(at: next)
    let value = try read(frame, try frame.openElement(header, &cursor), &cursor)
    moveOn(cursor)
    return value
  }

  @inline(__always)
  private mutating func moveOn(_ cursor: ByteCursor) {
    currentIndex += 1
    next = cursor.offset
    if frame.pointee.kind == .array {
      frame.pointee.index = currentIndex
      frame.pointee.next = next
    }
  }

  mutating func decodeNil() throws -> Bool {
    try check()
    frame.pointee.currentElement = currentIndex
    if isAtEnd { throw atEnd(Any?.self) }
    var cursor = frame.cursor(at: next)
    guard try frame.openElement(header, &cursor) == ValueTag.null else { return false }
    moveOn(cursor)
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try reading(type) { frame, tag, cursor in try frame.read(type, tag, &cursor) }
  }

  mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    if isAtEnd { return nil }
    if try decodeNil() { return nil }
    return try decode(type)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nestedDecoder([String: Any].self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nestedDecoder([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try nestedDecoder((any Decoder).self) { $0 } }

  /// Makes a decoder of the next element, and moves on once it has succeeded.
  private mutating func nestedDecoder<Value>(
    _ type: Any.Type, _ body: (DecoderHandle) throws -> Value
  ) throws -> Value {
    try check()
    frame.pointee.currentElement = currentIndex
    if isAtEnd { throw atEnd(type) }
    var cursor = frame.cursor(at: next)
    let tag: UInt8
    let start: Int
    do throws(ArchiveError) {
      tag = try cursor.openValueTag(header.innerTag)
      start = cursor.offset
      try frame.walker().skip(tag, &cursor)
    } catch { throw frame.corrupt(error) }
    let value = try body(
      DecoderHandle(NestedDecoding(tag, at: start, path: frame.pathInside(), inside: frame)))
    moveOn(cursor)
    return value
  }

  // MARK: Scalars

  @inline(__always)
  private mutating func scalar<Value: Scalar>() throws -> Value {
    try reading(Value.self) { frame, tag, cursor in try Value.read(frame, tag, &cursor) }
  }

  // One for all that the protocol lists, but for those that it has a default of its own for. Inlined, so that there is
  // code for each type where the standard library looks for it.
  @inline(__always)
  mutating func decode<Value: Scalar>(_ type: Value.Type) throws -> Value { try scalar() }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar() }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar() }
}
