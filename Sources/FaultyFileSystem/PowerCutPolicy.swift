/// What a power cut leaves of the changes that were not synchronised.
///
/// Changes are numbered in the order in which they were made: each page of each write, each new length, each name
/// added, moved or removed. Synchronised changes always stay whole.
package enum PowerCutPolicy: Hashable, Sendable {
  /// Nothing that was not synchronised is left.
  case dropAll
  /// The first so many changes are left.
  case keepPrefix(Int)
  /// All changes are left but this one.
  case loseOne(Int)
  /// The changes whose bits are not set are left, by their number modulo 64.
  case lose(mask: UInt64)
  /// All changes are left, but of the last write only its first so many bytes.
  case tearLast(keeping: Int)

  /// So many changes at most are lost and kept in every combination.
  package static let exhaustiveCount = 8
}
