/// The version of one restoration class's state; raised when its meaning changes.
///
/// Older state is migrated step by step; newer state than the program knows is refused and kept.
public struct StateVersion: RawRepresentable, Hashable, Codable, Sendable, Comparable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
{
  /// The number; versions begin at 1.
  public let rawValue: UInt32

  /// Makes a version of any number.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Makes a version from a literal.
  public init(integerLiteral value: UInt32) {
    self.rawValue = value
  }

  /// The number in decimal.
  public var description: String { String(rawValue) }

  /// The version after this one; the last number has none and stays.
  package var next: StateVersion {
    StateVersion(rawValue: rawValue == .max ? .max : rawValue + 1)
  }

  /// Orders by number.
  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
