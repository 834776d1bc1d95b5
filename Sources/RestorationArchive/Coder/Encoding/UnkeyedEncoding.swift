/// An unkeyed container: valid while its value is being encoded and nothing inside it is, which its epoch tells.
struct UnkeyedEncoding: UnkeyedEncodingContainer, PlainEncoding {
  let frame: EncodeFrameRef
  let epochs: EncodeEpochs
  let epoch: UInt64

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  var count: Int { epochs.pointee.knows(epoch) ? frame.pointee.count : 0 }

  /// Begins an element and gives the state that writes it.
  @inline(__always)
  func open(_ tag: UInt8) throws -> EncodeStateRef {
    try check()
    let state = frame.pointee.state
    state.pointee.writer.writeByte(tag)
    frame.pointee.count &+= 1
    return state
  }

  @inline(__always)
  private func check() throws {
    guard epochs.pointee.containers == epoch else {
      throw epochs.misused("An unkeyed container was used after its value was encoded, or inside another value.", epoch)
    }
  }

  // Here and not with the others, as the standard library has defaults for these two.
  func encode(_ value: Int128) throws { try encode(scalar: value) }
  func encode(_ value: UInt128) throws { try encode(scalar: value) }

  func encode<T: Encodable>(_ value: T) throws {
    try check()
    try frame.encodeElement(value)
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    nestedEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { nestedEncoder() }

  private func nestedEncoder() -> EncoderHandle {
    do {
      try check()
      let child = try frame.makeChild(AnyCodingKey(intValue: frame.pointee.count))
      frame.pointee.count += 1
      return child
    } catch {
      return EncoderHandle(frame: frame, epochs: epochs, epoch: EncoderHandle.dead)
    }
  }
}
