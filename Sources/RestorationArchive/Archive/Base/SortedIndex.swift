import FoundationShim

/// An index of a base: entries of eight bytes in ascending order, each a key and where a node's block begins.
struct SortedIndex {
  /// The bytes of an entry.
  static let entryByteCount = 8

  /// The base's bytes.
  let cache: BlockCache
  /// Where the index begins; a multiple of the size of an entry, so that none lies in two blocks.
  let start: Int
  /// The number of entries.
  let count: Int

  /// The entry at a position; nil past the last.
  func entry(_ position: Int) throws(ArchiveError) -> (key: UInt32, place: UInt32)? {
    guard (0..<count).contains(position) else { return nil }
    let word = try word(position)
    return (UInt32(truncatingIfNeeded: word >> 32), UInt32(truncatingIfNeeded: word))
  }

  /// The position of the first entry whose key isn't below the one sought, found by halves; past the last when all are.
  ///
  /// A good guess leaves only its neighbours, which mostly lie in one block.
  func position(of sought: UInt32, guess: Int) throws(ArchiveError) -> Int {
    if let memory = cache.memory {
      let bytes = memory.bytes
      return try position(of: sought, guess: guess) { bytes.word(at: start + $0 * Self.entryByteCount) }
    }
    return try position(of: sought, guess: guess) { (position) throws(ArchiveError) in try word(position) }
  }

  @inline(__always)
  private func position(
    of sought: UInt32, guess: Int, _ word: (Int) throws(ArchiveError) -> UInt64
  ) throws(ArchiveError) -> Int {
    var (low, high) = (0, count)
    var middle = min(max(guess - Self.guessedDistance, 0), high - 1)
    var isNear = true
    while low < high {
      if try word(middle) >> 32 < sought { low = middle + 1 } else { high = middle }
      middle = isNear && low < high ? min(max(guess + Self.guessedDistance, low), high - 1) : (low + high) / 2
      isNear = false
    }
    return low
  }

  /// Of ten thousand nodes whose keys are random, a guess is so far off at the most, nearly always.
  private static var guessedDistance: Int { 256 }

  private func word(_ position: Int) throws(ArchiveError) -> UInt64 {
    let offset = start + position * Self.entryByteCount
    if let memory = cache.memory { return memory.bytes.word(at: offset) }
    let size = RestorationArchive.Source.blockSize
    return try cache.block(offset / size).bytes.word(at: offset % size)
  }
}
