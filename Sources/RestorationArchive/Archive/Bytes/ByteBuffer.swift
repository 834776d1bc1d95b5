import FoundationEssentials

/// Bytes being written: integers little-endian, lengths and counts of seven bits a byte.
struct ByteBuffer: Sendable {
  /// What was written.
  var bytes: [UInt8] = []

  /// The number of bytes written.
  var count: Int { bytes.count }

  /// Writes a byte.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  /// Writes an integer of its own width.
  @inline(__always)
  mutating func append<T: FixedWidthInteger>(integer value: T) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Writes a number of seven bits a byte, lowest first.
  @inline(__always)
  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a text behind its length.
  mutating func append(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      append(varint: UInt64(utf8.count))
      unsafe bytes.append(contentsOf: utf8)
    }
  }

  /// Writes bytes as they are.
  mutating func append(_ data: Data) {
    bytes.append(contentsOf: data)
  }

  /// Writes zeroes up to a multiple of a power of two, counted from `origin` before the first byte.
  mutating func align(to alignment: Int, origin: Int = 0) {
    while (origin + count) & (alignment - 1) != 0 { bytes.append(0) }
  }

  /// Overwrites a 32-bit integer.
  mutating func replace(at offset: Int, with value: UInt32) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
    }
  }

  /// The number of bytes that a number takes.
  static func size(ofVarint value: UInt64) -> Int {
    max(1, (70 - (value | 1).leadingZeroBitCount) / 7)
  }
}
