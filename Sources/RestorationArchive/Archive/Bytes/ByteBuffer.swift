import FoundationEssentials

/// Bytes being written into an array.
struct ByteBuffer: ByteSink, Sendable {
  /// What was written.
  var bytes: [UInt8] = []

  /// The number of bytes written.
  var count: Int { bytes.count }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  @inline(__always)
  mutating func append(_ other: Borrowed<UInt8>) {
    bytes.append(other)
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
