package import FoundationEssentials

/// The interned keys and the shapes of one archive: they grow while records are encoded and never shrink.
///
/// A base's tables with the additions of its deltas, in their order, are the tables of the lineage.
package struct CodingTables: Sendable {
  /// A point in the growth of the tables, to ask later for what came after it.
  package struct Mark: Hashable, Sendable {
    /// The number of keys there were.
    package var keys: Int
    /// The number of shapes there were.
    package var shapes: Int

    /// The mark of empty tables.
    package static let start = Mark(keys: 0, shapes: 0)
  }

  /// Makes empty tables.
  package init() {}

  /// Where the tables are now.
  package var mark: Mark { .start }

  /// The bytes of everything that was added since a mark, for ``append(parsing:)``.
  package func additions(since mark: Mark = .start) -> [UInt8] { [] }

  /// Adds what ``additions(since:)`` of the same tables wrote; hostile bytes throw and leave the tables as they were.
  package mutating func append(parsing bytes: Data) throws(ArchiveError) {}
}
