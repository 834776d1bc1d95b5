extension RestorationArchive {
  /// Text that names or tags something: kept, compared and ordered byte for byte.
  ///
  /// Two spellings that Unicode calls equivalent are two values, as they are in a file. A conforming type gives its
  /// `rawValue` and nothing else; it can be written as a literal and is stored as the bare text.
  public protocol ExactText: RawRepresentable<String>, Hashable, Codable, Sendable, Comparable,
    ExpressibleByStringInterpolation, CustomStringConvertible
  {
    /// Makes a value of any text.
    init(rawValue: String)
  }
}

extension RestorationArchive.ExactText {
  /// Makes a value of any text.
  public init(_ rawValue: String) {
    self.init(rawValue: rawValue)
  }

  /// Makes a value from a literal.
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }

  /// The text itself.
  public var description: String { rawValue }

  /// True when nothing was given.
  package var isEmpty: Bool { rawValue.isEmpty }

  /// Compares bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.rawValue.hasSameBytes(as: right.rawValue)
  }

  /// Orders by bytes.
  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
  }
}
