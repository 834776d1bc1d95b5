/// The `Decoder` that a value gets: valid while the value is being decoded, which its epoch tells.
///
/// That of a nested value, such as a superclass's part, is valid until the whole decoding ends.
struct DecoderHandle: Decoder {
  // Three words: with a fourth, each `any Decoder` would be an allocation.
  let epochs: DecodeEpochs
  let epoch: UInt64
  /// Keeps the frames of a nested value.
  let keeper: NestedDecoding?

  private var frame: DecodeFrameRef { epochs.liveFrame }

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  var userInfo: [CodingUserInfoKey: Any] {
    guard epochs.pointee.knows(epoch) else { return [:] }
    return frame.pointee.state.pointee.userInfo
  }

  private func check() throws {
    guard epochs.pointee.value == epoch else {
      throw epochs.misused("A decoder was used after its value was decoded, or inside another value.")
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try check()
    let info = frame.pointee.state.pointee.info(of: type)
    if frame.pointee.kind == .unopened { try frame.openKeyed(info) } else { try reopen(info) }
    if frame.pointee.state.pointee.unknownFields != nil { noteFields(type) }
    guard let keeper else { return frame.keyedContainer(epochs, info) }
    let container = KeyedDecoding<Key>(
      frame: frame, epochs: epochs, info: info, epoch: epochs.pointee.openContainers())
    return KeyedDecodingContainer(NestedKeyedDecoding(container: container, keeper: keeper))
  }

  @inline(never)
  private func noteFields<Key: CodingKey>(_ type: Key.Type) {
    guard let (notes, depth) = frame.pointee.state.pointee.unknownFields, frame.pointee.depth == depth else { return }
    notes.note(frame, type)
  }

  @inline(never)
  private func reopen(_ info: KeyTypeRef) throws {
    if frame.pointee.kind == .shape || frame.pointee.kind == .map { return }
    guard frame.pointee.tag == ValueTag.object || frame.pointee.tag == ValueTag.map else {
      throw frame.mismatchedContainer([String: Any].self)
    }
    // A single-value container read it first: read it again.
    try frame.openKeyed(info)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try check()
    return try UnkeyedDecoding(frame, epochs, epoch: epochs.pointee.openContainers(), keeper: keeper)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleValueDecoding(epochs: epochs, epoch: epoch, keeper: keeper)
  }
}

extension DecoderHandle {
  /// The decoder of a nested value.
  init(_ nested: NestedDecoding) {
    self.init(
      epochs: nested.frame.pointee.epochs, epoch: nested.frame.pointee.epochs.pointee.value,
      keeper: nested)
  }
}
