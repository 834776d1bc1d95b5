import Foundation

/// A Codable decoder that reads nothing: every value is a constant, every list has a fixed number of elements.
///
/// The rest is the cost of Codable's machinery and of making the decoded values.
struct NoOpDecoder: Decoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  /// The number of elements of the outermost list.
  let count: Int

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>())
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { Values(count: count) }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single() }

  private static let text = "a text that is not a small one"
  private static let counts = ["key0": 0, "key1": 1, "key2": 2, "key3": 3]
  private static let data = Data(repeating: 7, count: 64)
  private static let numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  private static let texts = ["first text", "second text", "third text"]

  /// A constant of any type, common ones without asking them.
  @inline(__always)
  static func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if T.self == String.self { return unsafe unsafeBitCast(text, to: T.self) }
    if T.self == Int.self { return unsafe unsafeBitCast(1, to: T.self) }
    if T.self == Double.self { return unsafe unsafeBitCast(1.0, to: T.self) }
    if T.self == Date.self { return unsafe unsafeBitCast(Date(timeIntervalSinceReferenceDate: 1), to: T.self) }
    if T.self == Data.self { return unsafe unsafeBitCast(data, to: T.self) }
    if T.self == UUID.self { return unsafe unsafeBitCast((UInt64(1), UInt64(2)), to: T.self) }
    if T.self == [Int].self { return unsafe unsafeBitCast(numbers, to: T.self) }
    if T.self == [String].self { return unsafe unsafeBitCast(texts, to: T.self) }
    if T.self == [String: Int].self { return unsafe unsafeBitCast(counts, to: T.self) }
    return try T(from: NoOpDecoder(count: 0))
  }

  /// A container for keyed values.
  struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { true }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { NoOpDecoder.text }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { 1 }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { 1 }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { 1 }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try NoOpDecoder.decode(type) }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(Keyed<Nested>()) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Values(count: 0) }
    func superDecoder() throws -> any Decoder { NoOpDecoder(count: 0) }
    func superDecoder(forKey key: Key) throws -> any Decoder { NoOpDecoder(count: 0) }
  }

  /// A container for one value.
  struct Single: SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { true }
    func decode(_ type: String.Type) throws -> String { "name" }
    func decode(_ type: Double.Type) throws -> Double { 1 }
    func decode(_ type: Int.Type) throws -> Int { 1 }
    func decode(_ type: UInt32.Type) throws -> UInt32 { 1 }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try NoOpDecoder.decode(type) }
  }

  /// A container for a list.
  struct Values: UnkeyedDecodingContainer {
    let codingPath: [any CodingKey] = []
    let count: Int?
    var currentIndex = 0

    init(count: Int) {
      self.count = count
    }

    var isAtEnd: Bool { currentIndex == count }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
      currentIndex += 1
      return try NoOpDecoder.decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(Keyed<Nested>()) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { Values(count: 0) }
    mutating func superDecoder() throws -> any Decoder { NoOpDecoder(count: 0) }
  }
}
