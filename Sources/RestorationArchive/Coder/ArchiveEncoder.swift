public import FoundationEssentials

/// Encodes one value into self-contained bytes: fast, compact, and the same bytes for the same value in every process.
public struct ArchiveEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other.
  public var depthLimit = 64

  /// Makes an encoder; it can be used any number of times, from any thread.
  public init() {}

  /// Encodes a value.
  public func encode<T: Encodable>(_ value: T) throws -> Data { Data() }

  /// Encodes a value and appends its bytes.
  public func encode<T: Encodable>(_ value: T, into bytes: inout [UInt8]) throws {}
}
