// What the sections of archives and deltas are made of.
extension ByteCursor {
  /// The bytes of the longest number.
  static let longestNumber = 9

  /// Reads a number of at most 32 bits.
  mutating func readNumber32() throws(ArchiveError) -> UInt32 {
    guard let small = UInt32(exactly: try readNumber()) else { throw corrupt("a number is too big") }
    return small
  }

  /// Passes over bytes behind their number and tells where they are, counted from the origin.
  mutating func readRun() throws(ArchiveError) -> Range<Int> {
    let length = try readCount()
    let start = place
    try skip(length)
    return start..<start + length
  }
}
