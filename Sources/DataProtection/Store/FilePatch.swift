import FoundationShim

/// A change of a protected file: bytes that stand at an offset from now on, within the content or at its end.
///
/// A frame behind the sealed content holds one: the offset (8 bytes, little-endian), then the bytes.
struct FilePatch: Sendable {
  /// So many bytes of a frame are the offset.
  static let offsetByteCount = 8

  let offset: Int
  let bytes: Data

  /// Reads a frame that was authenticated; nil for one that can't be of a content of so many bytes.
  init?(_ frame: Data, contentByteCount: Int) {
    guard frame.count >= Self.offsetByteCount else { return nil }
    let value = frame.prefix(Self.offsetByteCount).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let offset = Int(exactly: value), offset <= contentByteCount else { return nil }
    self.offset = offset
    bytes = frame.dropFirst(Self.offsetByteCount)
  }

  /// The frame of a change.
  static func frame(_ bytes: Data, at offset: Int) -> Data {
    unsafe Data.filled(byteCount: offsetByteCount + bytes.count) { target in
      for index in 0..<offsetByteCount { unsafe target[index] = UInt8(truncatingIfNeeded: offset >> (8 * index)) }
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[offsetByteCount...]).copyBytes(from: bytes)
    }
  }
}
