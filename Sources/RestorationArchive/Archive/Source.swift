package import FoundationShim

extension RestorationArchive {
  /// Where a base archive's bytes come from: a range at a time, so that no more is decrypted than needed.
  package struct Source: Sendable {
    /// The number of bytes there are.
    package let byteCount: Int
    /// The bytes when all of them are in memory: then no blocks of them are kept.
    let memory: Data?
    private let reading: @Sendable (Range<Int>) throws -> Data

    /// Makes a source of a function that returns exactly the bytes of a range within `0..<byteCount`.
    ///
    /// The function may be called from any thread, and by several at once. The reader asks for aligned blocks of
    /// ``blockSize`` bytes and keeps some of them.
    package init(byteCount: Int, read: @escaping @Sendable (Range<Int>) throws -> Data) {
      self.byteCount = byteCount
      memory = nil
      reading = read
    }

    /// Makes a source of bytes in memory.
    package init(_ data: Data) {
      byteCount = data.count
      memory = data
      reading = { data.part($0) }
    }

    /// The size of the aligned ranges asked for: that of a sealed file's chunks.
    package static let blockSize = 16384

    /// Reads a range; the supplier's error or a wrong number of bytes comes back as `sourceFailed`.
    func read(_ range: Range<Int>) throws(ArchiveError) -> Data {
      let data: Data
      do {
        data = try reading(range)
      } catch {
        throw ArchiveError(
          .sourceFailed, "the archive's bytes could not be read; nothing was changed", offset: range.lowerBound,
          cause: error)
      }
      guard data.count == range.count else {
        throw ArchiveError(
          .sourceFailed, "the archive's bytes came back \(data.count) long instead of \(range.count)",
          offset: range.lowerBound)
      }
      return data
    }
  }
}
