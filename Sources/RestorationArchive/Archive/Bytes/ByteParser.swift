import FoundationEssentials

/// Reads integers and texts from a run of bytes, checking every bound; it never reads past what it was given.
///
/// It must not leave the closure that lends it.
struct ByteParser {
  private let bytes: Borrowed<UInt8>
  /// The position of the first byte in whatever errors count from.
  let origin: Int
  /// The next byte to be read, counted from the first.
  private(set) var position = 0

  /// Makes a parser of borrowed bytes.
  init(_ bytes: Borrowed<UInt8>, origin: Int) {
    self.bytes = bytes
    self.origin = origin
  }

  /// The number of all bytes.
  var count: Int { bytes.count }

  /// The number of bytes not read yet.
  var remaining: Int { count - position }

  /// The position of the next byte in whatever errors count from.
  var offset: Int { origin + position }

  /// The error of bytes that end too early.
  func truncated(_ what: String) -> ArchiveError {
    ArchiveError(.truncated, "\(what) is cut short", offset: offset)
  }

  /// The error of bytes that break the format.
  func corrupt(_ message: String) -> ArchiveError {
    ArchiveError(.corrupt, message, offset: offset)
  }

  /// Reads a byte.
  mutating func byte() throws(ArchiveError) -> UInt8 {
    guard position < count else { throw truncated("a byte") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a little-endian integer of its own width.
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type = T.self
  ) throws(ArchiveError) -> T {
    guard remaining >= MemoryLayout<T>.size else { throw truncated("a number of \(MemoryLayout<T>.size) bytes") }
    defer { position += MemoryLayout<T>.size }
    return bytes.load(T.self, at: position)
  }

  /// Reads a number of seven bits a byte, lowest first, in its shortest form.
  mutating func varint() throws(ArchiveError) -> UInt64 {
    let first = try byte()
    if first < 0x80 { return UInt64(first) }
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while true {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw corrupt("a number is too big") }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        guard next != 0 else { throw corrupt("a number is longer than it needs to be") }
        return value
      }
      shift += 7
    }
  }

  /// Reads a variable-length number of at most 32 bits.
  mutating func varint32() throws(ArchiveError) -> UInt32 {
    let value = try varint()
    guard let small = UInt32(exactly: value) else { throw corrupt("a number is too big") }
    return small
  }

  /// Reads a count of things that take at least `bytesEach`, and checks it against the bytes that are left.
  mutating func count(bytesEach: Int = 1) throws(ArchiveError) -> Int {
    let value = try varint()
    guard value <= UInt64(remaining / max(1, bytesEach)) else { throw truncated("a list") }
    return Int(value)
  }

  /// Skips a length-prefixed run of bytes and returns where it is, counted from the first byte.
  mutating func run() throws(ArchiveError) -> Range<Int> {
    let length = try count()
    let start = position
    position += length
    return start..<position
  }

  /// Reads a length-prefixed text.
  mutating func text() throws(ArchiveError) -> String {
    try string(in: try run())
  }

  /// Makes a text of bytes that were skipped before; refuses what is not UTF-8.
  func string(in range: Range<Int>) throws(ArchiveError) -> String {
    let text = bytes[range].text
    // Not by the initializer that validates, which asks the runtime for generic types each time.
    guard bytes[range].isASCII || bytes[range].isRepairedNowhere(in: text) else { throw corrupt("a text is not UTF-8") }
    return text
  }

  /// A copy of bytes that were skipped before.
  func data(in range: Range<Int>) -> Data {
    bytes[range].data
  }

  /// Whether bytes that were skipped before are those of a text.
  func holds(_ text: String, in range: Range<Int>) -> Bool {
    text.utf8.count == range.count && bytes[range].isRepairedNowhere(in: text)
  }

  /// Goes to a position counted from the first byte.
  mutating func seek(to target: Int) throws(ArchiveError) {
    guard target >= 0, target <= count else { throw truncated("a section") }
    position = target
  }

  /// A parser of a part, which must lie within the bytes.
  func part(_ range: Range<Int>) -> ByteParser {
    ByteParser(bytes[range], origin: origin + range.lowerBound)
  }

  /// The little-endian 64-bit number at a position.
  func word64(at target: Int) throws(ArchiveError) -> UInt64 {
    guard target >= 0, target <= count - 8 else { throw truncated("an index") }
    return bytes.load(UInt64.self, at: target)
  }

  /// The little-endian 32-bit number at a position; nil past the end.
  func word(at target: Int) -> UInt32? {
    guard target >= 0, target <= count - 4 else { return nil }
    return bytes.load(UInt32.self, at: target)
  }
}
