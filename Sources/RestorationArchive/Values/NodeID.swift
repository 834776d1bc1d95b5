/// A node's number: stable through a base, its deltas and every archive compacted from them.
///
/// Numbers of removed nodes are not given out again in one lineage, so a number kept outside (a crash marker)
/// never comes to mean another node. It means nothing in an archive that a new writer began.
package struct NodeID: RawRepresentable, Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
  /// The number.
  package let rawValue: UInt32

  /// Makes an identifier of any number.
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The number behind a `#`.
  package var description: String { "#\(rawValue)" }

  /// Orders by number, which is the order of insertion.
  package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
