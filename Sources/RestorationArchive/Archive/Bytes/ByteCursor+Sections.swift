// What the sections of archives and deltas are made of.
extension ByteCursor {
  /// Reads a number of at most 32 bits.
  mutating func readNumber32() throws(ArchiveError) -> UInt32 {
    guard let small = UInt32(exactly: try readNumber()) else { throw corrupt("a number is too big") }
    return small
  }

  /// Passes over bytes behind their number and tells where they are, counted from the first byte.
  mutating func readRun() throws(ArchiveError) -> Range<Int> {
    let length = try readCount()
    let start = offset
    try skip(length)
    return start..<offset
  }

  /// Makes a text of bytes that were passed before; refuses any that are not UTF-8.
  func text(in range: Range<Int>) throws(ArchiveError) -> String {
    let bytes = bytes(in: range)
    let text = bytes.text
    guard bytes.isASCII || bytes.isRepairedNowhere(in: text) else { throw corrupt("a text is not UTF-8") }
    return text
  }

  /// Whether bytes that were passed before are those of a text.
  func holds(_ text: String, in range: Range<Int>) -> Bool {
    text.utf8.count == range.count && bytes(in: range).isRepairedNowhere(in: text)
  }
}
