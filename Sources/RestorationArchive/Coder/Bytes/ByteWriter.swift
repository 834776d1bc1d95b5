// Unsafe memory, 4 of 6: writing.
//
// Relies on: `reserve` comes before each write, and `slack` bytes more are always there. The memory goes when no writer has it
// any more. Positions that others give are checked against the written bytes.

import FoundationShim

/// A growing buffer that values are written into.
@safe struct ByteWriter {
  /// Owns the bytes.
  @safe private final class Memory {
    let start: UnsafeMutablePointer<UInt8>

    init(capacity: Int) { unsafe start = .allocate(capacity: capacity) }

    deinit { unsafe start.deallocate() }
  }

  private var memory: Memory
  private var start: UnsafeMutablePointer<UInt8>
  private var next: UnsafeMutablePointer<UInt8>
  private var limit: UnsafeMutablePointer<UInt8>

  /// The bytes that can always be written behind the limit: the longest number, a word to compare.
  private static let slack = 32

  /// Makes an empty buffer.
  init(capacity: Int) {
    memory = Memory(capacity: capacity + Self.slack)
    unsafe start = memory.start
    unsafe next = start
    unsafe limit = start + capacity
  }

  /// The number of bytes written.
  @inline(__always)
  var count: Int { unsafe next - start }

  /// The number of bytes there is room for.
  var capacity: Int { unsafe limit - start }

  /// Makes room for bytes; afterwards ``slack`` more can be written unchecked.
  @inline(__always)
  mutating func reserve(_ bytes: Int) {
    if unsafe limit - next < bytes { grow(by: bytes) }
  }

  @inline(never)
  private mutating func grow(by bytes: Int) {
    let used = count
    let capacity = max(2 * capacity, used + bytes)
    let moved = Memory(capacity: capacity + Self.slack)
    unsafe moved.start.update(from: start, count: used)
    memory = moved
    unsafe start = moved.start
    unsafe next = start + used
    unsafe limit = start + capacity
  }

  /// Takes back the bytes behind a position.
  @inline(__always)
  mutating func truncate(to count: Int) {
    precondition(UInt(bitPattern: count) <= UInt(bitPattern: self.count))
    unsafe next = start + count
  }

  /// A byte that was written.
  @inline(__always)
  subscript(position: Int) -> UInt8 {
    get {
      precondition(UInt(bitPattern: position) < UInt(bitPattern: count))
      return unsafe start[position]
    }
    set {
      precondition(UInt(bitPattern: position) < UInt(bitPattern: count))
      unsafe start[position] = newValue
    }
  }

  /// The eight bytes from a position on, as a number that is in their order; bytes after the last one mean nothing.
  @inline(__always)
  func word(at position: Int) -> UInt64 {
    precondition(UInt(bitPattern: position) <= UInt(bitPattern: count))
    return unsafe UInt64(bigEndian: UnsafeRawPointer(start + position).loadUnaligned(as: UInt64.self))
  }

  /// Lends the bytes from a position on.
  @inline(__always)
  func withBytes<Result>(from position: Int = 0, _ body: (Borrowed<UInt8>) throws -> Result) rethrows -> Result {
    precondition(UInt(bitPattern: position) <= UInt(bitPattern: count))
    return unsafe try body(Borrowed(UnsafeBufferPointer(start: start + position, count: count - position)))
  }

  /// The written bytes.
  var array: [UInt8] { withBytes { $0.array } }

  /// Writes a byte.
  @inline(__always)
  mutating func writeByte(_ byte: UInt8) {
    reserve(1)
    unsafe next.pointee = byte
    unsafe next += 1
  }

  /// Writes an integer of a fixed width, lowest byte first.
  @inline(__always)
  mutating func writeFixed<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    writeTrivial(value.littleEndian)
  }

  /// Writes a trivial value as it lies in memory.
  @inline(__always)
  mutating func writeTrivial<T: BitwiseCopyable>(_ value: T) {
    reserve(MemoryLayout<T>.size)
    unsafe UnsafeMutableRawPointer(next).storeBytes(of: value, as: T.self)
    unsafe next += MemoryLayout<T>.size
  }

  /// Writes a number: one byte below 240, two below 1 520, else 239 + n and n bytes.
  @inline(__always)
  mutating func writeNumber(_ number: UInt64) {
    reserve(9)
    if number < TwoByteNumber.first {
      unsafe next.pointee = UInt8(truncatingIfNeeded: number)
      unsafe next += 1
    } else if number < TwoByteNumber.end {
      let rest = number &- TwoByteNumber.first
      unsafe next.pointee = TwoByteNumber.firstByte &+ UInt8(truncatingIfNeeded: rest &>> 8)
      unsafe next[1] = UInt8(truncatingIfNeeded: rest)
      unsafe next += 2
    } else {
      let length = (71 &- number.leadingZeroBitCount) &>> 3
      unsafe next.pointee = UInt8(truncatingIfNeeded: 239 &+ length)
      unsafe UnsafeMutableRawPointer(next + 1).storeBytes(of: number.littleEndian, as: UInt64.self)
      unsafe next += 1 &+ length
    }
  }

  /// Writes numbers of one width each.
  @inline(__always)
  mutating func writeNumbers<Element>(_ elements: [Element], width: Int, _ bits: (Element) -> UInt64) {
    precondition(width >= 1 && width <= 8)
    reserve(width * elements.count)
    for element in elements {
      unsafe UnsafeMutableRawPointer(next).storeBytes(of: bits(element).littleEndian, as: UInt64.self)
      unsafe next += width
    }
  }

  /// Writes lent bytes as they are.
  @inline(__always)
  mutating func write(_ bytes: Borrowed<UInt8>) {
    let count = bytes.count
    reserve(count)
    guard let source = unsafe bytes.buffer.baseAddress else { return }
    unsafe UnsafeMutableRawPointer(next).copyMemory(from: source, byteCount: count)
    unsafe next += count
  }

  /// Writes lent bytes behind their number.
  @inline(__always)
  mutating func writeCounted(_ bytes: Borrowed<UInt8>) {
    reserve(bytes.count &+ 9)
    writeNumber(UInt64(truncatingIfNeeded: bytes.count))
    write(bytes)
  }

  /// Writes a string behind its number of bytes.
  @inline(__always)
  mutating func writeString(_ string: String) {
    string.withBytes { writeCounted($0) }
  }

  /// Writes a number in the place of the one byte that was left for it, and moves the bytes after it if it needs more.
  @inline(__always)
  mutating func patchNumber(_ number: UInt64, at position: Int) {
    if number < 240 {
      self[position] = UInt8(truncatingIfNeeded: number)
    } else {
      patchLongNumber(number, at: position)
    }
  }

  @inline(never)
  private mutating func patchLongNumber(_ number: UInt64, at position: Int) {
    let end = count
    precondition(UInt(bitPattern: position) < UInt(bitPattern: end))
    writeNumber(number)
    // The number now stands behind those bytes: bring it before them.
    let length = count - end
    let words = unsafe UnsafeRawPointer(start + end).loadUnaligned(as: (UInt64, UInt64).self)
    unsafe UnsafeMutableRawPointer(start + position + length).copyMemory(
      from: start + position + 1, byteCount: end - position - 1)
    unsafe next -= 1
    unsafe withUnsafeBytes(of: words) { words in
      for index in 0..<length { self[position + index] = unsafe words[index] }
    }
  }

  /// Leaves bytes free, to be overwritten.
  mutating func skip(_ count: Int) {
    reserve(count)
    unsafe next.initialize(repeating: 0, count: count)
    unsafe next += count
  }

  /// Writes lent bytes over others.
  mutating func overwrite(at position: Int, with bytes: Borrowed<UInt8>) {
    precondition(position >= 0 && position + bytes.count <= count)
    guard let source = unsafe bytes.buffer.baseAddress else { return }
    unsafe UnsafeMutableRawPointer(start + position).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Inserts bytes at positions in ascending order, each piece behind its tag.
  mutating func insert(_ pieces: [(position: Int, tag: UInt8, bytes: ByteWriter)]) {
    var extra = pieces.reduce(0) { $0 + $1.bytes.count + 1 }
    reserve(extra)
    var end = count
    unsafe next += extra
    for piece in pieces.reversed() {
      precondition(piece.position >= 0 && piece.position <= end)
      // Bytes behind the insertion move by everything inserted up to here.
      unsafe UnsafeMutableRawPointer(start + piece.position + extra).copyMemory(
        from: start + piece.position, byteCount: end - piece.position)
      end = piece.position
      extra -= piece.bytes.count + 1
      unsafe start[end + extra] = piece.tag
      unsafe UnsafeMutableRawPointer(start + end + extra + 1).copyMemory(
        from: piece.bytes.start, byteCount: piece.bytes.count)
    }
  }

  /// Puts pieces, which are all that was written since a position, into another order.
  mutating func reorder(from first: Int, _ count: Int, _ piece: (Int) -> (start: Int, end: Int)) {
    let total = self.count - first
    // A copy is put together behind the written bytes, and then takes their place.
    reserve(total)
    var place = 0
    for index in 0..<count {
      let (begin, end) = piece(index)
      precondition(begin >= first && begin <= end && end <= first + total && place + end - begin <= total)
      if end - begin <= 16 {
        // Cheaper than a call; what is copied too much is overwritten, or lies in the slack.
        let words = unsafe UnsafeRawPointer(start + begin).loadUnaligned(as: (UInt64, UInt64).self)
        unsafe UnsafeMutableRawPointer(next + place).storeBytes(of: words, as: (UInt64, UInt64).self)
      } else {
        unsafe UnsafeMutableRawPointer(next + place).copyMemory(from: start + begin, byteCount: end - begin)
      }
      place += end - begin
    }
    precondition(place == total)
    unsafe UnsafeMutableRawPointer(start + first).copyMemory(from: next, byteCount: total)
  }

  /// Hands over the bytes as they lie: copying them once more would cost as much as writing it.
  consuming func takeData() -> Data {
    unsafe Data(
      bytesNoCopy: start, count: count,
      deallocator: .custom { [memory] _, _ in withExtendedLifetime(memory) {} })
  }
}
