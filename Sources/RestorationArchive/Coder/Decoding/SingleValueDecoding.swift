/// A single-value container: valid while its value is being decoded.
struct SingleValueDecoding: SingleValueDecodingContainer {
  let epochs: DecodeEpochs
  let epoch: UInt64
  /// Keeps the frames of a nested value.
  let keeper: NestedDecoding?

  private var frame: DecodeFrameRef { epochs.liveFrame }

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  /// Reads the value.
  @inline(__always)
  private func reading<Value>(_ read: (DecodeFrameRef, UInt8, inout ByteCursor) throws -> Value) throws -> Value {
    guard epochs.pointee.value == epoch else {
      throw epochs.misused(
        "A single-value container was used after its value was decoded, or inside another value.")
    }
    var cursor = frame.cursor(at: frame.pointee.start)
    let pathKind = frame.pointee.pathKind
    frame.pointee.pathKind = .none
    defer { frame.pointee.pathKind = pathKind }
    let value = try read(frame, frame.pointee.tag, &cursor)
    if frame.pointee.kind == .unopened {
      frame.pointee.kind = .done
      frame.pointee.next = cursor.offset
    }
    return value
  }

  func decodeNil() -> Bool {
    guard epochs.pointee.value == epoch else { return false }
    if frame.pointee.tag != ValueTag.null { return false }
    if frame.pointee.kind == .unopened {
      frame.pointee.kind = .done
      frame.pointee.next = frame.pointee.start
    }
    return true
  }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try reading { frame, tag, cursor in try frame.read(type, tag, &cursor) }
  }

  @inline(__always)
  private func scalar<Value: Scalar>() throws -> Value {
    try reading { frame, tag, cursor in try Value.read(frame, tag, &cursor) }
  }

  // One for all that the protocol lists, but for those that it has a default of its own for. Inlined, so that there is
  // code for each type where the standard library looks for it.
  @inline(__always)
  func decode<Value: Scalar>(_ type: Value.Type) throws -> Value { try scalar() }
  func decode(_ type: Int128.Type) throws -> Int128 { try scalar() }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar() }
}
