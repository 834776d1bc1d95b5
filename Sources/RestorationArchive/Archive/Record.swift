extension RestorationArchive {
  /// One node's encoded state: its values are decoded one by one, as they are asked for.
  public struct Record: Sendable {
    /// The path of the node, for errors.
    public let path: RestorationPath

    /// The keys of the values, in the order in which they were encoded.
    public var keys: [String] { [] }

    /// True when the node has no state.
    public var isEmpty: Bool { keys.isEmpty }

    /// Whether a value is stored under a key.
    public func contains(_ key: String) -> Bool { false }

    /// Decodes the value under a key: `keyNotFound` when there is none, `decodingFailed` when it doesn't fit.
    public func decode<T: Decodable>(
      _ type: T.Type = T.self, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ArchiveError) -> T {
      throw ArchiveError(.keyNotFound, "nothing is stored under \"\(key)\"", path: path)
    }
  }
}
