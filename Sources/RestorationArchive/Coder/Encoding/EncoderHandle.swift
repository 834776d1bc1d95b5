/// The `Encoder` that a value gets: valid while the value is being encoded, which its epoch tells.
struct EncoderHandle: Encoder {
  let frame: EncodeFrameRef
  let epochs: EncodeEpochs
  let epoch: UInt64

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  var userInfo: [CodingUserInfoKey: Any] {
    guard epochs.pointee.knows(epoch) else { return [:] }
    return frame.pointee.state.pointee.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard epochs.pointee.value == epoch && frame.pointee.kind == .unopened else { return otherContainer(type) }
    let info = frame.pointee.state.pointee.info(of: type)
    frame.openKeyed(info)
    return frame.keyedContainer(epochs, info)
  }

  @inline(never)
  private func otherContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard epochs.pointee.value == epoch && (frame.pointee.kind == .shape || frame.pointee.kind == .map) else {
      _ = epochs.misused(
        "A keyed container was asked for too late, or after a container of another kind.", epoch, at: codingPath)
      return KeyedEncodingContainer(KeyedEncoding<Key>(deadOn: frame, epochs))
    }
    let info = frame.pointee.state.pointee.info(of: type)
    if frame.pointee.kind == .shape && !info.pointee.isIndexed { frame.becomeMap() }
    return frame.keyedContainer(epochs, info)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if epochs.pointee.value == epoch && frame.pointee.kind == .unopened { frame.openArray() }
    if epochs.pointee.value == epoch && frame.pointee.kind == .array {
      return UnkeyedEncoding(frame: frame, epochs: epochs, epoch: epochs.pointee.openContainers())
    }
    _ = epochs.misused(
      "An unkeyed container was asked for too late, or after a container of another kind.", epoch, at: codingPath)
    return UnkeyedEncoding(frame: frame, epochs: epochs, epoch: Self.dead)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueEncoding(frame: frame, epochs: epochs, epoch: epoch)
  }

  /// An epoch that no value ever has: that of handles that may do nothing.
  static var dead: UInt64 { Epochs<EncodeFrame>.dead }
}
