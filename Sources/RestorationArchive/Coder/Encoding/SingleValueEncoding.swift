/// A single-value container: two words, valid until a value is written or its owner's encoding ends.
@safe
struct SingleValueEncoding: SingleValueEncodingContainer, PlainEncoding {
  let frame: EncodeFrameRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: false) }

  /// Takes the one place for a value and gives the bytes being written.
  @inline(__always)
  func open(_ tag: UInt8) throws -> EncodeStateRef {
    guard unsafe frame.pointee.mark == mark && frame.pointee.kind == .unopened else { throw misuse() }
    unsafe frame.pointee.kind = .single
    unsafe frame.pointee.tag = tag
    return unsafe frame.pointee.state
  }

  @inline(never)
  private func misuse() -> any Error {
    unsafe frame.misused("A single-value container was given a second value, or used after its value was encoded.")
  }

  // Here and not with the others, as the standard library has defaults for these two.
  func encode(_ value: Int128) throws { try encode(scalar: value) }
  func encode(_ value: UInt128) throws { try encode(scalar: value) }

  func encode<T: Encodable>(_ value: T) throws {
    guard unsafe frame.pointee.mark == mark && frame.pointee.kind == .unopened else { throw misuse() }
    unsafe frame.pointee.tag = try unsafe frame.encode(value)
    unsafe frame.pointee.kind = .single
  }
}
