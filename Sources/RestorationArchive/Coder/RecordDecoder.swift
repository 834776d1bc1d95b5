package import FoundationEssentials

/// Decodes the entries of one record, one by one, as they are asked for.
package struct RecordDecoder: Sendable {
  /// Makes a decoder and checks the record's outline: its keys and where each value lies.
  package init(_ bytes: Data, tables: CodingTables) throws(ArchiveError) {}

  /// The keys, in the order in which they were encoded.
  package var keys: [String] { [] }

  /// Whether there is an entry with a key.
  package func contains(_ key: String) -> Bool { false }

  /// Decodes the entry with a key: `keyNotFound` when there is none, `decodingFailed` or `corrupt` when it doesn't fit.
  package func decode<T: Decodable>(
    _ type: T.Type, forKey key: String, path: RestorationPath? = nil, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(ArchiveError) -> T {
    throw ArchiveError(.keyNotFound, "nothing is stored under \"\(key)\"", path: path)
  }
}
