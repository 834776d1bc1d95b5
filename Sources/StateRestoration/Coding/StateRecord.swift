/// What a decoder reads from: the values one object stored, by key.
package protocol StateRecord: Sendable {
  /// The stored keys, in the order in which they were encoded.
  var keys: [String] { get }

  /// Whether a value was stored under a key.
  func contains(_ key: String) -> Bool

  /// How many keys there are at most, told without reading them.
  var keyLimit: Int { get }

  /// Decodes the value of a key; nil only if there is none.
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T?

  /// Does as ``decodeIfPresent(_:forKey:)``, and notes the stored fields that the type does not know.
  func decodeIfPresent<T: Decodable>(
    _ type: T.Type, forKey key: String, noting unknown: UnknownFields?
  ) throws(ArchiveError) -> T?
}

extension StateRecord {
  /// Decodes the value of a key, and notes nothing.
  package func decodeIfPresent<T: Decodable>(
    _ type: T.Type, forKey key: String, noting unknown: UnknownFields?
  ) throws(ArchiveError) -> T? {
    try decodeIfPresent(type, forKey: key)
  }
}

/// A record with nothing in it, such as that of an object which was never preserved.
package struct EmptyRecord: StateRecord {
  /// Makes an empty record.
  package init() {}

  /// No keys.
  package var keys: [String] { [] }

  /// False.
  package func contains(_ key: String) -> Bool { false }

  /// None.
  package var keyLimit: Int { 0 }

  /// Nil.
  package func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? { nil }
}
