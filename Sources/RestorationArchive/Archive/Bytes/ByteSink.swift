/// What bytes are written to: integers little-endian, lengths and counts of seven bits a byte.
protocol ByteSink: ~Copyable {
  /// Writes a byte.
  mutating func append(_ byte: UInt8)

  /// Writes bytes as they are.
  mutating func append(bytes: UnsafeRawBufferPointer)
}

extension ByteSink where Self: ~Copyable {
  /// Writes an integer of its own width.
  @inline(__always)
  mutating func append<T: FixedWidthInteger>(integer value: T) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe append(bytes: $0) }
  }

  /// Writes a number of seven bits a byte, lowest first.
  @inline(__always)
  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a text behind its length.
  @inline(__always)
  mutating func append(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      append(varint: UInt64(utf8.count))
      unsafe append(bytes: UnsafeRawBufferPointer(utf8))
    }
  }
}

/// Counts bytes instead of writing them, as a length stands before what it is the length of.
struct ByteCounter: ByteSink {
  /// The number of bytes.
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) { count += 1 }

  @inline(__always)
  mutating func append(bytes: UnsafeRawBufferPointer) { count += bytes.count }
}
