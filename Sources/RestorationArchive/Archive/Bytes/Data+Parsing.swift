import FoundationShim

extension Data {
  /// Lends a parser of a range counted from the first byte; `origin` is what errors count its start from.
  func parse<Result>(
    _ range: Range<Int>, origin: Int, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    do {
      return try withBytes { bytes in
        var parser = ByteCursor(bytes[range], origin: origin)
        return try body(&parser)
      }
    } catch {
      // The closure throws what its body does, which `rethrows` forgets.
      throw error as! ArchiveError
    }
  }

  /// Lends a parser of all bytes.
  func parse<Result>(
    _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    try parse(0..<count, origin: 0, body)
  }

  /// The bytes of a range counted from the first byte; shares storage.
  func part(_ range: Range<Int>) -> Data {
    self[startIndex + range.lowerBound..<startIndex + range.upperBound]
  }
}
