/// The keyed container of a nested value: keeps the frames of the value, and has another container do the rest.
struct NestedKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let container: KeyedDecoding<Key>
  let keeper: NestedDecoding

  var codingPath: [any CodingKey] { container.codingPath }
  var allKeys: [Key] { container.allKeys }
  func contains(_ key: Key) -> Bool { container.contains(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try container.decodeNil(forKey: key) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try container.decode(type, forKey: key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try container.decode(type, forKey: key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try container.decode(type, forKey: key) }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try container.decodeIfPresent(type, forKey: key)
  }
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> { try container.nestedContainer(keyedBy: type, forKey: key) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try container.nestedUnkeyedContainer(forKey: key)
  }
  func superDecoder() throws -> any Decoder { try container.superDecoder() }
  func superDecoder(forKey key: Key) throws -> any Decoder { try container.superDecoder(forKey: key) }
}
