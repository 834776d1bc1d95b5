/// An unkeyed container: two words, valid while its value is being encoded and nothing inside it is.
@safe
struct UnkeyedEncoding: UnkeyedEncodingContainer, PlainEncoding {
  let frame: EncodeFrameRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: true) }

  var count: Int { unsafe frame.pointee.containerMark & ~EncodeFrame.suspended == mark ? frame.pointee.count : 0 }

  /// Begins an element and gives the bytes being written.
  @inline(__always)
  func open(_ tag: UInt8) throws -> EncodeStateRef {
    guard unsafe frame.pointee.containerMark == mark else { throw misuse() }
    let state = unsafe frame.pointee.state
    unsafe state.pointee.writeByte(tag)
    unsafe frame.pointee.count &+= 1
    return unsafe state
  }

  private func misuse() -> any Error {
    unsafe frame.misused("An unkeyed container was used after its value was encoded, or inside another value.")
  }

  // Here and not with the others, as the standard library has defaults for these two.
  func encode(_ value: Int128) throws { try encode(scalar: value) }
  func encode(_ value: UInt128) throws { try encode(scalar: value) }

  func encode<T: Encodable>(_ value: T) throws {
    guard unsafe frame.pointee.containerMark == mark else { throw misuse() }
    try unsafe frame.encodeElement(value)
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    nestedEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { nestedEncoder() }

  private func nestedEncoder() -> EncoderHandle {
    guard unsafe frame.pointee.containerMark == mark else {
      _ = misuse()
      return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
    }
    do {
      let side = try unsafe frame.makeSide()
      unsafe side.pointee.ownerKey = unsafe AnyCodingKey(intValue: frame.pointee.count)
      unsafe frame.pointee.count += 1
      return unsafe EncoderHandle(frame: side.pointee.root, mark: side.pointee.root.pointee.mark)
    } catch {
      return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
    }
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Encodes an element with its tag.
  @inline(__always)
  func encodeElement<T: Encodable>(_ value: T) throws {
    let state = unsafe pointee.state
    let start = unsafe state.pointee.count
    unsafe state.pointee.writeByte(0)
    do {
      let tag = try unsafe encode(value)
      unsafe state.pointee.base[start] = tag
    } catch {
      unsafe state.pointee.truncate(to: start)
      throw error
    }
    unsafe pointee.count &+= 1
  }
}
