/// What bytes are written to: integers little-endian, lengths and counts of seven bits a byte.
protocol ByteSink: ~Copyable {
  /// Writes a byte.
  mutating func append(_ byte: UInt8)

  /// Writes bytes as they are.
  mutating func append(_ bytes: Borrowed<UInt8>)
}

extension ByteSink where Self: ~Copyable {
  /// Writes an integer of its own width.
  @inline(__always)
  mutating func append<T: FixedWidthInteger>(integer value: T) {
    for index in 0..<MemoryLayout<T>.size { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
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
    text.withBytes { utf8 in
      append(varint: UInt64(utf8.count))
      append(utf8)
    }
  }
}

extension [UInt8]: ByteSink {}

/// Counts bytes instead of writing them, as a length stands before what it is the length of.
struct ByteCounter: ByteSink {
  /// The number of bytes.
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) { count += 1 }

  @inline(__always)
  mutating func append(_ bytes: Borrowed<UInt8>) { count += bytes.count }
}
