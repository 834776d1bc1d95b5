/// Appends fixed-width integers, little-endian, as all formats of the store have them.
extension [UInt8] {
  /// Appends an integer.
  mutating func appendInteger(_ value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends so many zeroes.
  mutating func appendZeroes(_ count: Int) {
    append(contentsOf: repeatElement(0, count: count))
  }
}

/// Reads fields one after another from bytes whose length was checked before.
struct FieldReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  /// Begins at the first byte.
  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Takes an integer.
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type = T.self) -> T {
    unsafe take(MemoryLayout<T>.size).withUnsafeBytes { bytes in
      // As many bytes as were taken, which traps when there are fewer.
      unsafe T(littleEndian: bytes.loadUnaligned(as: T.self))
    }
  }

  /// Takes so many bytes.
  mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { position += count }
    return bytes[position..<position + count]
  }
}
