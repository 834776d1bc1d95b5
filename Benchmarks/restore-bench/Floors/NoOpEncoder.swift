import Foundation

/// A Codable encoder that keeps nothing: what the machinery of Codable itself costs, with the shortcuts any fast
/// coder takes (common types are recognised by their metatype, handles are trivial structs).
struct NoOpEncoder: Encoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Values() }

  func singleValueContainer() -> any SingleValueEncodingContainer { Values() }

  /// Encodes any value, common types without asking them.
  @inline(__always)
  static func encode<T: Encodable>(_ value: T) throws {
    if isCommon(T.self) { return }
    try value.encode(to: NoOpEncoder())
  }

  /// Whether a type needs no asking.
  @inline(__always)
  static func isCommon<T>(_ type: T.Type) -> Bool {
    type == Int.self || type == String.self || type == Double.self || type == Bool.self || type == Date.self
      || type == Data.self || type == UUID.self || type == [Int].self || type == [Double].self || type == [String].self
      || type == [String: Int].self || type == UInt32.self
  }

  /// A container for keyed values.
  struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey] = []

    mutating func encodeNil(forKey key: Key) throws {}
    mutating func encode(_ value: Bool, forKey key: Key) throws {}
    mutating func encode(_ value: String, forKey key: Key) throws {}
    mutating func encode(_ value: Double, forKey key: Key) throws {}
    mutating func encode(_ value: Int, forKey key: Key) throws {}
    mutating func encode(_ value: UInt32, forKey key: Key) throws {}
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try NoOpEncoder.encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Keyed<Nested>()) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Values() }
    mutating func superEncoder() -> any Encoder { NoOpEncoder() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { NoOpEncoder() }
  }

  /// A container for values without keys.
  struct Values: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    var count = 0

    mutating func encodeNil() throws {}
    mutating func encode(_ value: Bool) throws {}
    mutating func encode(_ value: String) throws {}
    mutating func encode(_ value: Double) throws {}
    mutating func encode(_ value: Int) throws {}
    mutating func encode(_ value: UInt32) throws {}

    mutating func encode<T: Encodable>(_ value: T) throws {
      count += 1
      try NoOpEncoder.encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Keyed<Nested>()) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { Values() }
    mutating func superEncoder() -> any Encoder { NoOpEncoder() }
  }
}
