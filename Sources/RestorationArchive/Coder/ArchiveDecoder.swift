public import FoundationEssentials

/// Decodes what ``ArchiveEncoder`` encoded; any bytes are safe to give to it.
public struct ArchiveDecoder: Sendable {
  /// What the decoded values find in their decoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other.
  public var depthLimit = 64

  /// Makes a decoder; it can be used any number of times, from any thread.
  public init() {}

  /// Decodes a value.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from data: Data) throws -> T {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
  }

  /// Decodes a value from borrowed bytes.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: RawSpan) throws -> T {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
  }
}
