internal import FoundationShim

/// Reads stored state of which some keys are missing, and takes those from the value that the object has at launch.
///
/// State that has gained a field with a default is read so: whoever wrote it did not know the key.
enum LaunchValue {
  /// The value at launch, encoded, for the decoding in progress.
  @TaskLocal fileprivate static var encoded: Data?

  /// Runs a reading of ``CompletedValue`` that completes a stored value from another one.
  static func completing<Value: Encodable, Result>(from value: Value, _ body: () throws -> Result) throws -> Result {
    try $encoded.withValue(try ArchiveEncoder().encode(value), operation: body)
  }

  /// The name of the key that an error says is missing; nil when it says something else.
  ///
  /// Only names of the program's source: a key of a dictionary is state.
  static func missingKey(in error: any Error) -> String? {
    switch error {
    case let error as RestorationError: error.cause.flatMap(missingKey)
    case let error as ArchiveError: error.cause.flatMap(missingKey)
    case DecodingError.keyNotFound(let key, _):
      Mirror(reflecting: key).displayStyle == .enum ? key.stringValue : nil
    default: nil
    }
  }
}

/// A stored value, completed from the one at launch.
struct CompletedValue<Value: Decodable>: Decodable {
  let value: Value

  init(from stored: any Decoder) throws {
    guard let encoded = LaunchValue.encoded else {
      value = try Value(from: stored)
      return
    }
    var decoder = ArchiveDecoder()
    decoder.userInfo[.storedDecoder] = DecoderBox(decoder: stored)
    value = try decoder.decode(Both<Value>.self, from: encoded).value
  }

  /// The launch's value, while the stored one is at hand.
  private struct Both<Both: Decodable>: Decodable {
    let value: Both

    init(from launch: any Decoder) throws {
      guard let stored = (launch.userInfo[.storedDecoder] as? DecoderBox)?.decoder else {
        value = try Both(from: launch)
        return
      }
      value = try Both(from: CompletingDecoder(stored: stored, launch: launch))
    }
  }
}

extension CodingUserInfoKey {
  fileprivate static let storedDecoder = CodingUserInfoKey(rawValue: "storedDecoder")!
}

/// Hands a decoder to another one.
///
/// `@unchecked Sendable`: made, used and dropped within one call, on one thread.
private struct DecoderBox: @unchecked Sendable {
  let decoder: any Decoder
}

/// Gives keys that are not stored from the value at launch.
private struct CompletingDecoder: Decoder {
  let stored: any Decoder
  let launch: any Decoder

  var codingPath: [any CodingKey] { stored.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { stored.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let container = try stored.container(keyedBy: type)
    guard let launch = try? launch.container(keyedBy: type) else { return container }
    return KeyedDecodingContainer(CompletingContainer(stored: container, launch: launch))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try stored.unkeyedContainer() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { try stored.singleValueContainer() }
}

private struct CompletingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let stored: KeyedDecodingContainer<Key>
  let launch: KeyedDecodingContainer<Key>

  var codingPath: [any CodingKey] { stored.codingPath }
  var allKeys: [Key] { stored.allKeys }

  // An optional that is not stored was nil when it was stored: only required fields are completed.
  func contains(_ key: Key) -> Bool { stored.contains(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try stored.decodeNil(forKey: key) }

  private func source(_ key: Key) -> KeyedDecodingContainer<Key> {
    !stored.contains(key) && launch.contains(key) ? launch : stored
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try source(key).decode(type, forKey: key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try source(key).decode(type, forKey: key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    do {
      return try source(key).decode(type, forKey: key)
    } catch {
      // Something within it has gained the field.
      guard LaunchValue.missingKey(in: error) != nil, stored.contains(key), launch.contains(key) else { throw error }
      return try Value(
        from: CompletingDecoder(stored: stored.superDecoder(forKey: key), launch: launch.superDecoder(forKey: key)))
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try source(key).nestedContainer(keyedBy: type, forKey: key)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try source(key).nestedUnkeyedContainer(forKey: key)
  }

  func superDecoder() throws -> any Decoder {
    let stored = try stored.superDecoder()
    return (try? launch.superDecoder()).map { CompletingDecoder(stored: stored, launch: $0) } ?? stored
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try source(key).superDecoder(forKey: key) }
}

extension RestorationDecoder {
  /// Reads a value; keys that are missing in it are taken from the one that the object has at launch.
  func read<Value: Codable>(
    _ type: Value.Type, forKey key: String, at launch: @autoclosure () -> Value?
  ) throws(RestorationError) -> Value? {
    do throws(RestorationError) {
      return namesUnknownFields ? try readNotingFields(type, forKey: key) : try read(type, forKey: key)
    } catch {
      guard let missing = LaunchValue.missingKey(in: error) else { throw error }
      if let launch = launch(),
        let value = try? LaunchValue.completing(from: launch, { try read(CompletedValue<Value>.self, forKey: key) })
      {
        return value.value
      }
      throw RestorationError(
        .keyNotFound,
        "“\(missing)” is not stored, and the object has no value for it at launch; make it optional, or raise stateVersion",
        path: path, key: ReservedKey.isReserved(key) ? nil : key)
    }
  }
}
