import FoundationEssentials
import Synchronization

/// The blocks of a source that were read, so that no chunk is decrypted twice in a row.
///
/// Blocks begin at multiples of their size, as the sealed file's chunks do. When there are too many, the oldest go.
final class BlockCache: Sendable {
  private struct State {
    var blocks: [Int: Data] = [:]
    var order: [Int] = []
    var oldest = 0
  }

  private let state = Mutex(State())
  private let source: RestorationArchive.Source
  private let capacity: Int

  /// Makes an empty cache.
  init(_ source: RestorationArchive.Source, byteCount: Int) {
    self.source = source
    capacity = max(4, byteCount / RestorationArchive.Source.blockSize)
  }

  /// Forgets everything, so that no plaintext stays here.
  func removeAll() {
    state.withLock { $0 = State() }
  }

  /// The block of a number; the last one is shorter.
  func block(_ number: Int) throws(ArchiveError) -> Data {
    if let block = state.withLock({ $0.blocks[number] }) { return block }
    let start = number * RestorationArchive.Source.blockSize
    let data = try source.read(start..<min(start + RestorationArchive.Source.blockSize, source.byteCount))
    state.withLock { state in
      guard state.blocks.updateValue(data, forKey: number) == nil else { return }
      if state.order.count < capacity {
        state.order.append(number)
      } else {
        state.blocks[state.order[state.oldest]] = nil
        state.order[state.oldest] = number
        state.oldest = (state.oldest + 1) % capacity
      }
    }
    return data
  }

  /// Lends a parser of a range of the source, which must lie within it.
  func parse<Result>(
    _ range: Range<Int>, _ body: (inout ByteParser) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
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

  /// The number of bytes from a position to the end of its block or of a limit, whichever comes first.
  func window(at position: Int, limit: Int) -> Range<Int> {
    let size = RestorationArchive.Source.blockSize
    return position..<min((position / size + 1) * size, limit)
  }
}
