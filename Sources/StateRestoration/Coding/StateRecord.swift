package import RestorationArchive

/// What a decoder reads from: the values one object stored, by key.
package protocol StateRecord: Sendable {
  /// The stored keys, in the order in which they were encoded.
  var keys: [String] { get }

  /// Whether a value was stored under a key.
  func contains(_ key: String) -> Bool

  /// Decodes the value of a key; throws if there is none.
  func decode<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T
}

/// A record with nothing in it, such as that of an object which was never preserved.
package struct EmptyRecord: StateRecord {
  /// Makes an empty record.
  package init() {}

  /// No keys.
  package var keys: [String] { [] }

  /// False.
  package func contains(_ key: String) -> Bool { false }

  /// Throws ``ArchiveError/Code/keyNotFound``.
  package func decode<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T {
    throw ArchiveError(.keyNotFound, "Nothing is stored under “\(key)”.")
  }
}

extension RestorationArchive.Record: StateRecord {
  /// Decodes the value of a key; throws if there is none.
  package func decode<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T {
    try decode(type, forKey: key, userInfo: [:])
  }
}
