/// The user interface's own version: change it when old state no longer fits the new interface.
///
/// The delegate reads it before restoring and may decline.
public struct VersionTag: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringInterpolation,
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
