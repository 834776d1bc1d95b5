/// A single-value container: two words, valid until a value is written or its owner's encoding ends.
@safe
struct SingleValueEncoding: SingleValueEncodingContainer {
  let frame: EncodeFrameRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: false) }

  /// Takes the one place for a value and gives the bytes being written.
  @inline(__always)
  private func open(_ tag: UInt8) throws -> EncodeStateRef {
    guard unsafe frame.pointee.mark == mark && frame.pointee.kind == .unopened else { throw misuse() }
    unsafe frame.pointee.kind = .single
    unsafe frame.pointee.tag = tag
    return unsafe frame.pointee.state
  }

  @inline(never)
  private func misuse() -> any Error {
    unsafe frame.misused("A single-value container was given a second value, or used after its value was encoded.")
  }

  func encodeNil() throws { _ = try unsafe open(ValueTag.null) }
  func encode(_ value: Bool) throws { try unsafe open(ValueTag.bool).pointee.writeByte(value ? 1 : 0) }
  func encode(_ value: String) throws { try unsafe open(ValueTag.string).pointee.writeString(value) }
  func encode(_ value: Double) throws { try unsafe open(ValueTag.short).pointee.writeShort(value) }
  func encode(_ value: Float) throws { try unsafe open(ValueTag.float).pointee.writeFixed(value.bitPattern) }
  func encode(_ value: Int) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int8) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int16) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int32) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int64) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }
  func encode(_ value: Int128) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }
  func encode(_ value: UInt) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(UInt64(value)) }
  func encode(_ value: UInt8) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt16) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt32) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt64) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }
  func encode(_ value: UInt128) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }

  func encode<T: Encodable>(_ value: T) throws {
    guard unsafe frame.pointee.mark == mark && frame.pointee.kind == .unopened else { throw misuse() }
    unsafe frame.pointee.tag = try unsafe frame.encode(value)
    unsafe frame.pointee.kind = .single
  }
}
