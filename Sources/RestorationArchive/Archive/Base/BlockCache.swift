import FoundationEssentials
import Synchronization

/// The blocks of a source that were read, so that no chunk is decrypted twice in a row.
///
/// Blocks begin at multiples of their size, as the sealed file's chunks do. When there are too many, the oldest go. A source
/// that is in memory is used where it lies.
final class BlockCache: Sendable {
  private struct State {
    /// The blocks by number; empty while none was read.
    var blocks: [Data?] = []
    var order: [Int] = []
    var oldest = 0
  }

  /// The bytes of a source that is in memory.
  let memory: Data?
  private let state = Mutex(State())
  private let source: RestorationArchive.Source
  private let capacity: Int

  /// Makes an empty cache.
  init(_ source: RestorationArchive.Source, byteCount: Int) {
    self.source = source
    memory = source.memory
    capacity = max(4, byteCount / RestorationArchive.Source.blockSize)
  }

  /// Forgets everything, so that no plaintext stays here.
  func removeAll() {
    state.withLock { $0 = State() }
  }

  /// The block of a number; the last one is shorter.
  func block(_ number: Int) throws(ArchiveError) -> Data {
    let kept = state.withLock { number < $0.blocks.count ? $0.blocks[number] : nil }
    if let kept { return kept }
    let size = RestorationArchive.Source.blockSize
    let start = number * size
    let data = try source.read(start..<min(start + size, source.byteCount))
    state.withLock { state in
      if state.blocks.isEmpty { state.blocks = Array(repeating: nil, count: source.byteCount / size + 1) }
      let isNew = state.blocks[number] == nil
      state.blocks[number] = data
      guard isNew else { return }
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

  /// The bytes from a position to the end of its block or to a limit, whichever comes first.
  func window(at position: Int, limit: Int) -> Range<Int> {
    if memory != nil { return position..<limit }
    let size = RestorationArchive.Source.blockSize
    return position..<min((position / size + 1) * size, limit)
  }
}
