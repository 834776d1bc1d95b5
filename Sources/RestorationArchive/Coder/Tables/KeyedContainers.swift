/// The containers for one type of coding keys.
///
/// Each is a generic type, which the runtime looks up by its key type, every time that one is made. This protocol's
/// table has the answers: through it the lookups are made once for a key type.
protocol KeyedContainers<Key> {
  associatedtype Key: CodingKey
  associatedtype Encoding: KeyedContainer, KeyedEncodingContainerProtocol
  where Encoding.Key == Key, Encoding.Frame == EncodeFrame
  associatedtype Decoding: KeyedContainer, KeyedDecodingContainerProtocol
  where Decoding.Key == Key, Decoding.Frame == DecodeFrame
}

extension KeyedContainers {
  static var keyType: any CodingKey.Type { Key.self }
}

/// A container for the keys of one type, on a frame.
protocol KeyedContainer {
  associatedtype Frame
  init(frame: Cell<Frame>, epochs: Cell<Epochs<Frame>>, info: KeyTypeRef, epoch: UInt64)
}

/// The coder's containers for a type of coding keys.
enum KeyedContainersOf<Key: CodingKey>: KeyedContainers {
  typealias Encoding = KeyedEncoding<Key>
  typealias Decoding = KeyedDecoding<Key>
}

extension EncodeFrameRef {
  /// A container for the keys of an open object, in a new epoch.
  @inline(__always)
  func keyedContainer<Key: CodingKey>(_ epochs: EncodeEpochs, _ info: KeyTypeRef) -> KeyedEncodingContainer<Key> {
    func make<Containers: KeyedContainers>(_ containers: Containers.Type) -> KeyedEncodingContainer<Containers.Key> {
      KeyedEncodingContainer(
        Containers.Encoding(frame: self, epochs: epochs, info: info, epoch: epochs.pointee.openContainers()))
    }
    return make(info.pointee.containers(of: Key.self))
  }
}

extension DecodeFrameRef {
  /// A container for the keys of an open object, in a new epoch.
  @inline(__always)
  func keyedContainer<Key: CodingKey>(_ epochs: DecodeEpochs, _ info: KeyTypeRef) -> KeyedDecodingContainer<Key> {
    func make<Containers: KeyedContainers>(_ containers: Containers.Type) -> KeyedDecodingContainer<Containers.Key> {
      KeyedDecodingContainer(
        Containers.Decoding(frame: self, epochs: epochs, info: info, epoch: epochs.pointee.openContainers()))
    }
    return make(info.pointee.containers(of: Key.self))
  }
}
