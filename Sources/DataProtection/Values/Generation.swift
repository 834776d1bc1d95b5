/// The number of one whole state of a protected file; a later one is larger.
///
/// Each archive and each protected file counts its own, so that an old copy put back is noticed; a file that gets another
/// class begins anew. Zero is no generation.
package struct Generation: RawRepresentable, Hashable, Comparable, Codable, Sendable {
  /// The number.
  package let rawValue: UInt64

  /// Wraps a number.
  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Whether one generation is older than another.
  package static func < (left: Generation, right: Generation) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension Generation: CustomStringConvertible {
  /// The number in digits.
  package var description: String { String(rawValue) }
}
