/// Names an element of the data model: what state holds instead of the element or its row.
///
/// Rows move between launches and model objects have a store of their own, so state keeps this and asks the
/// data source where the element is now.
public struct ModelIdentifier: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringInterpolation,
  CustomStringConvertible, Comparable
{
  /// The text as given; compared and stored byte for byte.
  public let rawValue: String

  /// Makes a value of any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a value of any text.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a value from a literal.
  public init(stringLiteral value: String) {
    self.rawValue = value
  }

  /// The text itself.
  public var description: String { rawValue }

  /// True when nothing was given.
  public var isEmpty: Bool { rawValue.isEmpty }

  /// Compares bytes: two spellings that Unicode calls equivalent are two values, as they are in a file.
  public static func == (left: Self, right: Self) -> Bool {
    left.rawValue.hasSameBytes(as: right.rawValue)
  }

  /// Orders by bytes.
  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
  }
}
