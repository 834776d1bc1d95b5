// Unsafe memory, 3 of 6: reading.
//
// Relies on: the bytes are lent for as long as the cursor is used: a cursor lives in one call, and none is stored. Every
// read is checked against the end before it is made.

/// A place in borrowed bytes; every read is checked against their end.
@safe struct ByteCursor {
  private let start: UnsafePointer<UInt8>?
  /// The offset of the first byte, from which errors count.
  private let origin: Int
  /// The number of all bytes.
  let end: Int
  /// The number of bytes before the next one.
  private(set) var offset: Int

  /// A cursor at a place in bytes.
  @inline(__always)
  init(_ bytes: Borrowed<UInt8>, at offset: Int = 0, origin: Int = 0) {
    precondition(UInt(bitPattern: offset) <= UInt(bitPattern: bytes.count))
    unsafe start = bytes.buffer.baseAddress
    end = bytes.count
    self.offset = offset
    self.origin = origin
  }

  /// Where the next byte is in whatever errors count from.
  var place: Int { origin + offset }

  /// The next byte, of which there must be one.
  @inline(__always)
  private var next: UnsafePointer<UInt8> { unsafe start.unsafelyUnwrapped + offset }

  /// The number of bytes left.
  @inline(__always)
  var remaining: Int { end &- offset }

  /// Goes to a place.
  @inline(__always)
  mutating func move(to offset: Int) {
    precondition(UInt(bitPattern: offset) <= UInt(bitPattern: end))
    self.offset = offset
  }

  /// The failure of bytes that end too early.
  @inline(never)
  func truncated() -> ArchiveError { ArchiveError(.truncated, "it ends too early", offset: place) }

  /// The failure of bytes that mean nothing.
  @inline(never)
  func corrupt(_ message: String) -> ArchiveError { ArchiveError(.corrupt, message, offset: place) }

  /// The next byte, which is not passed; nil at the end.
  @inline(__always)
  var peek: UInt8? { remaining >= 1 ? unsafe next.pointee : nil }

  /// Reads a byte.
  @inline(__always)
  mutating func readByte() throws(ArchiveError) -> UInt8 {
    guard remaining >= 1 else { throw truncated() }
    let byte = unsafe next.pointee
    offset &+= 1
    return byte
  }

  /// Reads a tag that may stand before a value; `absent` only means something where a shape says `any`.
  @inline(__always)
  mutating func readTag() throws(ArchiveError) -> UInt8 {
    let tag = try readByte()
    guard ValueTag.isValueTag(tag) else { throw corrupt("\(tag) is not the tag of a value") }
    return tag
  }

  /// Reads an integer of a fixed width, lowest byte first.
  @inline(__always)
  mutating func readFixed<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) throws(ArchiveError) -> T {
    guard remaining >= MemoryLayout<T>.size else { throw truncated() }
    let value = unsafe UnsafeRawPointer(next).loadUnaligned(as: T.self)
    offset &+= MemoryLayout<T>.size
    return T(littleEndian: value)
  }

  /// Reads the sixteen bytes of a UUID as they lie.
  @inline(__always)
  mutating func readBytes16<T: BitwiseCopyable>(_ type: T.Type) throws(ArchiveError) -> T {
    precondition(MemoryLayout<T>.size == 16)
    guard remaining >= 16 else { throw truncated() }
    let value = unsafe UnsafeRawPointer(next).loadUnaligned(as: T.self)
    offset &+= 16
    return value
  }

  /// Reads a number of the form that ``ByteWriter/writeNumber(_:)`` writes.
  @inline(__always)
  mutating func readNumber() throws(ArchiveError) -> UInt64 {
    if let first = peek, first < 240 {
      offset &+= 1
      return UInt64(first)
    }
    return try readLongNumber()
  }

  @inline(never)
  private mutating func readLongNumber() throws(ArchiveError) -> UInt64 {
    let first = try readByte()
    if first >= TwoByteNumber.firstByte {
      return TwoByteNumber.first &+ UInt64(first &- TwoByteNumber.firstByte) &<< 8 &+ UInt64(try readByte())
    }
    guard first < 248 else {
      offset &-= 1
      throw corrupt("\(first) does not begin a number")
    }
    return try readBits(width: Int(first) - 239)
  }

  /// Reads an integer whose number has a byte or two; nil, without reading, when it has another form.
  @inline(__always)
  mutating func readShortInteger() -> Int? {
    guard remaining >= 2 else { return nil }
    let first = unsafe next.pointee
    let number: Int
    if first < 240 {
      number = Int(first)
      offset &+= 1
    } else if first >= TwoByteNumber.firstByte {
      let high = Int(first &- TwoByteNumber.firstByte) &<< 8
      number = unsafe Int(TwoByteNumber.first) &+ high &+ Int(next[1])
      offset &+= 2
    } else {
      return nil
    }
    return number &>> 1 ^ -(number & 1)
  }

  /// Reads the payload of a short double; nil, without reading, near the end of the bytes or when it is damaged.
  @inline(__always)
  mutating func readShortDouble() -> Double? {
    guard remaining >= 9 else { return nil }
    let first = unsafe next.pointee
    guard first < 248 else { return nil }
    // Eight more bytes are there, whatever the number's width: those that are not its own are masked out.
    let width = first < 240 ? 0 : UInt64(first &- 239)
    let bits = unsafe UInt64(littleEndian: UnsafeRawPointer(next + 1).loadUnaligned(as: UInt64.self))
    let number = first < 240 ? UInt64(first) : bits & (UInt64.max &>> (64 &- 8 &* width))
    offset &+= 1 &+ Int(truncatingIfNeeded: width)
    return Double(bitPattern: number.byteSwapped)
  }

  /// Reads a count of things that take at least `size` bytes each.
  @inline(__always)
  mutating func readCount(ofSize size: Int = 1) throws(ArchiveError) -> Int {
    let number = try readNumber()
    guard number <= UInt64(remaining) else { throw truncated() }
    if size > 1 { guard Int(number) <= remaining / size else { throw truncated() } }
    return Int(truncatingIfNeeded: number)
  }

  /// Reads bytes behind their number.
  @inline(__always)
  mutating func readBytes() throws(ArchiveError) -> Borrowed<UInt8> {
    let count = try readCount()
    let bytes = unsafe Borrowed(UnsafeBufferPointer(start: start.map { unsafe $0 + offset }, count: count))
    offset &+= count
    return bytes
  }

  /// The bytes of a range, which is checked.
  func bytes(in range: Range<Int>) -> Borrowed<UInt8> {
    unsafe Borrowed(UnsafeBufferPointer(start: start, count: end))[range]
  }

  /// Reads a string, which must be valid UTF-8.
  @inline(__always)
  mutating func readString() throws(ArchiveError) -> String {
    let before = self
    let bytes = try readBytes()
    let string = bytes.text
    // The initializer that validates asks the runtime for two generic types each time, which takes longer than all this.
    if !bytes.isASCII && !bytes.isRepairedNowhere(in: string) {
      throw before.corrupt("a string is not valid UTF-8")
    }
    return string
  }

  /// Reads an integer of 1 to 8 bytes.
  @inline(__always)
  mutating func readBits(width: Int) throws(ArchiveError) -> UInt64 {
    guard remaining >= width else { throw truncated() }
    var bits: UInt64 = 0
    if remaining >= 8 {
      bits = unsafe UInt64(littleEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
      bits &= UInt64.max &>> UInt64(64 &- 8 &* width)
    } else {
      for index in 0..<width { unsafe bits |= UInt64(next[index]) &<< UInt64(8 &* index) }
    }
    offset &+= width
    return bits
  }

  /// Passes over bytes.
  @inline(__always)
  mutating func skip(_ count: Int) throws(ArchiveError) {
    guard count >= 0 && remaining >= count else { throw truncated() }
    offset &+= count
  }
}
