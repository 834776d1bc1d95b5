/// A single-value container: valid until a value is written or its owner's encoding ends.
struct SingleValueEncoding: SingleValueEncodingContainer, PlainEncoding {
  let frame: EncodeFrameRef
  let epochs: EncodeEpochs
  let epoch: UInt64

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  /// Takes the one place for a value and gives the state that writes it.
  @inline(__always)
  func open(_ tag: UInt8) throws -> EncodeStateRef {
    try check()
    frame.pointee.kind = .single
    frame.pointee.tag = tag
    return frame.pointee.state
  }

  @inline(__always)
  private func check() throws {
    guard epochs.pointee.value == epoch && frame.pointee.kind == .unopened else {
      throw epochs.misused(
        "A single-value container was given a second value, or used after its value was encoded.", epoch)
    }
  }

  // Here and not with the others, as the standard library has defaults for these two.
  func encode(_ value: Int128) throws { try encode(scalar: value) }
  func encode(_ value: UInt128) throws { try encode(scalar: value) }

  func encode<T: Encodable>(_ value: T) throws {
    try check()
    frame.pointee.tag = try frame.encode(value)
    frame.pointee.kind = .single
  }
}
