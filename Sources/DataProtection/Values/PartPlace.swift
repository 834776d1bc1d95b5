/// Where a part of a generation stands among the others.
///
/// A generation is one file, or up to four, each under a protection class of its own. Two parts may have the same class.
package struct PartPlace: RawRepresentable, Hashable, Comparable, CaseIterable, Sendable {
  /// The place, 0…3.
  package let rawValue: UInt8

  /// Wraps a place; nil for one above 3.
  package init?(rawValue: UInt8) {
    guard rawValue < Self.limit else { return nil }
    self.rawValue = rawValue
  }

  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// The first part, which every generation has: it holds the root.
  package static let root = PartPlace(0)
  /// All places, in order.
  package static let allCases = (0..<limit).map { PartPlace($0) }
  /// So many parts a generation has at most.
  package static let limit: UInt8 = 4

  package static func < (left: PartPlace, right: PartPlace) -> Bool { left.rawValue < right.rawValue }
}
