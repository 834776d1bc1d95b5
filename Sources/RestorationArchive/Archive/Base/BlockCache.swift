import FoundationShim
import Synchronization

/// The blocks of a source that were read, so that no chunk is decrypted twice in a row.
///
/// Blocks begin at multiples of their size, as the sealed file's chunks do. When there are too many, the oldest go. A source
/// that is in memory is used where it lies.
final class BlockCache: Sendable {
  /// The bytes of a source that is in memory.
  let memory: Data?
  private let blocks: Mutex<RecentValues<Data>>
  private let source: RestorationArchive.Source

  /// Makes an empty cache.
  init(_ source: RestorationArchive.Source, byteCount: Int) {
    self.source = source
    memory = source.memory
    blocks = Mutex(RecentValues(capacity: max(4, byteCount / RestorationArchive.Source.blockSize)))
  }

  /// The block of a number; the last one is shorter.
  func block(_ number: Int) throws(ArchiveError) -> Data {
    if let kept = blocks.withLock({ $0[number] }) { return kept }
    let size = RestorationArchive.Source.blockSize
    let start = number * size
    let data = try source.read(start..<min(start + size, source.byteCount))
    blocks.withLock { $0[number] = data }
    return data
  }

  /// Forgets the blocks; they are read again when they are asked for.
  func removeAll() { blocks.withLock { $0.removeAll() } }

  /// How many bytes of blocks there are, at most.
  var byteCount: Int { blocks.withLock { $0.count } * RestorationArchive.Source.blockSize }

  /// Lends a parser of a range of the source, which must lie within it.
  func parse<Result>(
    _ range: Range<Int>, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    if let memory { return try memory.parse(range, origin: range.lowerBound, body) }
    let size = RestorationArchive.Source.blockSize
    let number = range.lowerBound / size
    let start = number * size
    if range.upperBound <= start + size {
      return try block(number).parse(
        range.lowerBound - start..<range.upperBound - start, origin: range.lowerBound, body)
    }
    return try bytes(range).parse(0..<range.count, origin: range.lowerBound, body)
  }

  /// The bytes of a range of the source, which must lie within it.
  func bytes(_ range: Range<Int>) throws(ArchiveError) -> Data {
    if let memory { return memory.part(range) }
    let size = RestorationArchive.Source.blockSize
    var result = Data()
    var position = range.lowerBound
    while position < range.upperBound {
      let number = position / size
      let start = number * size
      let stop = min(start + size, range.upperBound)
      let part = try block(number).part(position - start..<stop - start)
      if stop == range.upperBound, result.isEmpty { return part }
      if result.isEmpty { result.reserveCapacity(range.count) }
      result.append(part)
      position = stop
    }
    return result
  }
}
