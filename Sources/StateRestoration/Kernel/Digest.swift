internal import RestorationArchive
internal import Synchronization

/// What an object had when it was first met, in 16 bytes: equal values have equal digests in this process.
///
/// Chance makes two different values equal once in 2^128 comparisons.
struct Digest: Hashable, Sendable {
  private var first: Int
  private var second: Int

  fileprivate init(_ bytes: [UInt8]) {
    func hash(seed: Int) -> Int {
      var hasher = Hasher()
      hasher.combine(seed)
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      return hasher.finalize()
    }
    first = hash(seed: 1)
    second = hash(seed: 2)
  }
}

/// Makes digests; one maker's can be compared with each other, so that all tables of a session share one.
final class DigestMaker: Sendable {
  private let tables = Mutex(CodingTables())
  private let encoder: RecordEncoder

  /// Makes a maker for values up to a depth.
  init(depthLimit: Int = RestorationArchive.Limits.default.valueDepth) {
    encoder = RecordEncoder(depthLimit: depthLimit)
  }

  /// The digest of an object's values.
  ///
  /// Throws when a value can't be encoded.
  func digest(_ entries: [RestorationArchive.Entry]) throws(ArchiveError) -> Digest {
    try tables.withLock { (tables) throws(ArchiveError) in Digest(try encoder.encode(entries, tables: &tables)) }
  }
}
