internal import Synchronization

/// Finds the stored fields of a value that its type does not know: they were renamed or removed, and the next save loses them.
///
/// Decoding a value asks its decoder for a container by the keys that the type knows. Only the fields of the value itself are
/// looked at, not those of values within it. Fields that any of the type's sets of keys knows are not named, as a type may read
/// older forms of itself.
final class FieldProbe: Sendable {
  private struct Fields {
    var stored: [String] = []
    var known: Set<String> = []
  }

  @TaskLocal private static var current: FieldProbe?
  private let fields = Mutex(Fields())

  /// The fields that a type does not know, in the order in which they are stored.
  static func unknownFields<Value: Decodable>(
    of type: Value.Type, in record: any StateRecord, forKey key: String
  ) -> [String] {
    let probe = FieldProbe()
    $current.withValue(probe) { _ = try? record.decodeIfPresent(Probed<Value>.self, forKey: key) }
    return probe.fields.withLock { fields in fields.stored.filter { !fields.known.contains($0) } }
  }

  private func note<Key: CodingKey>(_ stored: [AnyKey], _ type: Key.Type) {
    let names = stored.map(\.stringValue)
    fields.withLock { fields in
      fields.stored = names
      fields.known.formUnion(names.filter { Key(stringValue: $0) != nil })
    }
  }

  /// A value that is decoded only to see which keys it asks for.
  private struct Probed<Value: Decodable>: Decodable {
    init(from decoder: any Decoder) throws { _ = try Value(from: ProbedDecoder(base: decoder)) }
  }

  private struct ProbedDecoder: Decoder {
    let base: any Decoder

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      FieldProbe.current?.note(try base.container(keyedBy: AnyKey.self).allKeys, type)
      return try base.container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try base.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try base.singleValueContainer() }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
  }
}
