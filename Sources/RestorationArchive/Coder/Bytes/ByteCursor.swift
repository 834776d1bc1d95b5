/// A place in borrowed bytes; every read is checked against their end.
@safe
struct ByteCursor {
  /// The next byte to read.
  var next: UnsafePointer<UInt8>
  /// The end of the bytes.
  let end: UnsafePointer<UInt8>
  /// The start of the bytes, from which offsets are counted.
  let base: UnsafePointer<UInt8>

  /// The position of the next byte.
  var offset: Int { unsafe next - base }

  /// The number of bytes left.
  @inline(__always)
  var remaining: Int { unsafe end - next }

  /// The failure of bytes that end too early.
  @inline(never)
  func truncated() -> CodingFailure {
    CodingFailure("it ends too early", at: offset, code: .truncated)
  }

  /// The failure of bytes that mean nothing.
  @inline(never)
  func corrupt(_ message: String) -> CodingFailure {
    CodingFailure(message, at: offset)
  }

  /// Reads a byte.
  @inline(__always)
  mutating func readByte() throws(CodingFailure) -> UInt8 {
    guard remaining >= 1 else { throw truncated() }
    let byte = unsafe next.pointee
    unsafe next += 1
    return byte
  }

  /// Reads a tag that may stand before a value; `absent` only means something where a shape says `any`.
  @inline(__always)
  mutating func readTag() throws(CodingFailure) -> UInt8 {
    let tag = try readByte()
    guard ValueTag.isValueTag(tag) else { throw corrupt("\(tag) is not the tag of a value") }
    return tag
  }

  /// Reads an integer of a fixed width, lowest byte first.
  @inline(__always)
  mutating func readFixed<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws(CodingFailure) -> T {
    guard remaining >= MemoryLayout<T>.size else { throw truncated() }
    let value = unsafe UnsafeRawPointer(next).loadUnaligned(as: T.self)
    unsafe next += MemoryLayout<T>.size
    return T(littleEndian: value)
  }

  /// Reads a number of the form that `EncodeState.writeNumber` writes.
  @inline(__always)
  mutating func readNumber() throws(CodingFailure) -> UInt64 {
    guard remaining >= 1 else { throw truncated() }
    let first = unsafe next.pointee
    if first < 240 {
      unsafe next += 1
      return UInt64(first)
    }
    return try readLongNumber(first)
  }

  @inline(never)
  private mutating func readLongNumber(_ first: UInt8) throws(CodingFailure) -> UInt64 {
    if let number = readTwoByteNumber(first) { return number }
    guard first < 248 else {
      throw first < TwoByteNumber.firstByte ? corrupt("\(first) does not begin a number") : truncated()
    }
    unsafe next += 1
    return try readBits(width: Int(first) - 239)
  }

  /// Reads a number whose first byte, not passed yet, says that it has two; nil when it has not, or there is one left.
  @inline(__always)
  mutating func readTwoByteNumber(_ first: UInt8) -> UInt64? {
    guard first >= TwoByteNumber.firstByte && remaining >= 2 else { return nil }
    let second = unsafe next[1]
    unsafe next += 2
    return TwoByteNumber.first &+ UInt64(first &- TwoByteNumber.firstByte) &<< 8 &+ UInt64(second)
  }

  /// Reads the payload of a short double.
  @inline(__always)
  mutating func readShortDouble() throws(CodingFailure) -> Double {
    Double(bitPattern: try readNumber().byteSwapped)
  }

  /// Reads a count of things that take at least `size` bytes each.
  @inline(__always)
  mutating func readCount(ofSize size: Int = 1) throws(CodingFailure) -> Int {
    let number = try readNumber()
    guard number <= UInt64(remaining) else { throw truncated() }
    if size > 1 { guard Int(number) <= remaining / size else { throw truncated() } }
    return Int(truncatingIfNeeded: number)
  }

  /// Reads bytes behind their number.
  @inline(__always)
  mutating func readBytes() throws(CodingFailure) -> UnsafeBufferPointer<UInt8> {
    let count = try readCount()
    let bytes = unsafe UnsafeBufferPointer(start: next, count: count)
    unsafe next += count
    return unsafe bytes
  }

  /// Reads a string, which must be valid UTF-8.
  @inline(__always)
  mutating func readString() throws(CodingFailure) -> String {
    let start = self
    let bytes = try unsafe readBytes()
    let string = unsafe String(decoding: bytes, as: UTF8.self)
    // Decoding repairs what is not valid: then the bytes are not the same. (The initializer that validates asks the
    // runtime for two generic types each time, which takes longer than all this.)
    if unsafe !Self.isASCII(bytes) && !Self.holds(string, bytes) {
      throw start.corrupt("a string is not valid UTF-8")
    }
    return string
  }

  /// Whether bytes are valid UTF-8.
  static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe isASCII(bytes) || holds(String(decoding: bytes, as: UTF8.self), bytes)
  }

  /// Whether a string has the same bytes.
  private static func holds(_ string: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var string = string
    return string.withUTF8 { utf8 in
      guard utf8.count == bytes.count, let one = unsafe UnsafeRawPointer(utf8.baseAddress),
        let other = unsafe UnsafeRawPointer(bytes.baseAddress)
      else { return utf8.count == bytes.count }
      var index = 0
      while index &+ 8 <= bytes.count {
        let word = unsafe one.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if unsafe word != other.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
        index &+= 8
      }
      while index < bytes.count {
        if unsafe utf8[index] != bytes[index] { return false }
        index &+= 1
      }
      return true
    }
  }

  @inline(__always)
  private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = unsafe UnsafeRawPointer(bytes.baseAddress) else { return true }
    var all: UInt64 = 0
    var index = 0
    while index &+ 8 <= bytes.count {
      unsafe all |= start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < bytes.count {
      unsafe all |= UInt64(bytes[index])
      index &+= 1
    }
    return all & 0x8080_8080_8080_8080 == 0
  }

  /// Reads an integer of 1 to 8 bytes.
  @inline(__always)
  mutating func readBits(width: Int) throws(CodingFailure) -> UInt64 {
    guard remaining >= width else { throw truncated() }
    var bits: UInt64
    if remaining >= 8 {
      bits = unsafe UInt64(littleEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
      bits &= UInt64.max &>> UInt64(64 &- 8 &* width)
    } else {
      bits = 0
      for index in 0..<width { unsafe bits |= UInt64(next[index]) &<< UInt64(8 &* index) }
    }
    unsafe next += width
    return bits
  }

  /// Passes over bytes.
  @inline(__always)
  mutating func skip(_ count: Int) throws(CodingFailure) {
    guard remaining >= count else { throw truncated() }
    unsafe next += count
  }
}
