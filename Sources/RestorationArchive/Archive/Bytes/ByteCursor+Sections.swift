// What the sections of archives and deltas are made of.
extension ByteCursor {
  /// Reads a number of seven bits a byte, lowest first, in its shortest form.
  mutating func readVarint() throws(ArchiveError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try readByte()
      guard shift < 63 || next <= 1 else { throw corrupt("a number is too big") }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else { throw corrupt("a number is longer than it needs to be") }
        return value
      }
      shift += 7
    }
  }

  /// Reads a variable-length number of at most 32 bits.
  mutating func readVarint32() throws(ArchiveError) -> UInt32 {
    let value = try readVarint()
    guard let small = UInt32(exactly: value) else { throw corrupt("a number is too big") }
    return small
  }

  /// Reads the number of things that take at least so many bytes each, and checks it against the bytes that are left.
  mutating func readLength(bytesEach: Int = 1) throws(ArchiveError) -> Int {
    let value = try readVarint()
    guard value <= UInt64(remaining / bytesEach) else { throw truncated() }
    return Int(value)
  }

  /// Passes over bytes behind their number and tells where they are, counted from the first byte.
  mutating func readRun() throws(ArchiveError) -> Range<Int> {
    let length = try readLength()
    let start = offset
    try skip(length)
    return start..<offset
  }

  /// Reads a text behind its number of bytes.
  mutating func readText() throws(ArchiveError) -> String { try text(in: try readRun()) }

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
