// Unsafe memory, 2 of 6: bytes that `Data`, `String` and arrays lend.
//
// Relies on: lent bytes are used within the closure that gets them, and nowhere else. Every load is checked against the
// number of bytes.

import FoundationShim

extension Borrowed where Element == UInt8 {
  /// Takes lent memory as raw bytes.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(bytes.assumingMemoryBound(to: UInt8.self))
  }

  /// The little-endian integer at an offset, which is checked.
  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
    precondition(offset >= 0 && offset &+ MemoryLayout<T>.size <= count)
    return unsafe T(littleEndian: UnsafeRawBufferPointer(buffer).loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// The bytes as text; invalid UTF-8 is repaired.
  @inline(__always)
  var text: String { unsafe String(decoding: buffer, as: UTF8.self) }

  /// The bytes as data.
  var data: Data { unsafe Data(buffer: buffer) }

  /// The bytes as an array.
  var array: [UInt8] { unsafe [UInt8](buffer) }

  /// Whether no byte has its highest bit set; looks at eight at a time, at some of the last ones twice.
  @inline(__always)
  var isASCII: Bool {
    var all: UInt64 = 0
    var index = 0
    if count >= 8 {
      while index &+ 8 < count {
        all |= load(UInt64.self, at: index)
        index &+= 8
      }
      all |= load(UInt64.self, at: count &- 8)
    } else {
      while index < count {
        all |= UInt64(self[index])
        index &+= 1
      }
    }
    return all & 0x8080_8080_8080_8080 == 0
  }

  /// Whether the bytes are valid UTF-8.
  var isText: Bool { isASCII || isRepairedNowhere(in: text) }

  /// Whether a text made of the bytes has the same bytes: none was repaired.
  @inline(__always)
  func isRepairedNowhere(in text: String) -> Bool { text.withBytes { $0.hasSameBytes(as: self) } }

  /// Whether there are the same bytes in another place; compares eight at a time.
  @inline(__always)
  func hasSameBytes(as other: Borrowed) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index &+ 8 <= count {
      if load(UInt64.self, at: index) != other.load(UInt64.self, at: index) { return false }
      index &+= 8
    }
    while index < count {
      if self[index] != other[index] { return false }
      index &+= 1
    }
    return true
  }

  /// Compares bytes one by one: negative, zero or positive.
  func compare(_ other: Borrowed) -> Int {
    for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
      return Int(self[index]) - Int(other[index])
    }
    return count - other.count
  }
}

extension String {
  /// Lends the text's UTF-8.
  @inline(__always)
  func withBytes<Result>(_ body: (Borrowed<UInt8>) throws -> Result) rethrows -> Result {
    // By way of the span: `withContiguousStorageIfAvailable` would retain the text.
    let span = utf8.span
    return try unsafe span.withUnsafeBufferPointer { unsafe try body(Borrowed($0)) }
  }

  /// Whether two texts have the same bytes; those that Unicode merely calls equivalent have not.
  func hasSameBytes(as other: String) -> Bool {
    withBytes { left in other.withBytes { left.hasSameBytes(as: $0) } }
  }
}

extension Data {
  /// Appends lent bytes.
  mutating func append(_ bytes: Borrowed<UInt8>) { unsafe append(bytes.buffer) }

  /// Lends the bytes.
  ///
  /// Not by way of a span: asking `Data` for one costs several checks of exclusive access.
  @inline(__always)
  func withBytes<Result>(_ body: (Borrowed<UInt8>) throws -> Result) rethrows -> Result {
    try unsafe withUnsafeBytes { unsafe try body(Borrowed($0)) }
  }
}

extension RawSpan {
  /// Lends the bytes.
  func withBytes<Result>(_ body: (Borrowed<UInt8>) throws -> Result) rethrows -> Result {
    try unsafe withUnsafeBytes { unsafe try body(Borrowed($0)) }
  }

  /// The little-endian number at an offset; traps when it is not all within the span.
  func word(at offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension Array where Element: BitwiseCopyable {
  /// Lends the elements.
  @inline(__always)
  func withBorrowed<Result>(_ body: (Borrowed<Element>) throws -> Result) rethrows -> Result {
    try unsafe withUnsafeBufferPointer { unsafe try body(Borrowed($0)) }
  }

  /// Appends lent elements.
  @inline(__always)
  mutating func append(_ elements: Borrowed<Element>) { unsafe append(contentsOf: elements.buffer) }
}
