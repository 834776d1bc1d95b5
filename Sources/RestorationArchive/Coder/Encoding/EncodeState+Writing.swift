extension EncodeState {
  /// Makes room for bytes; afterwards ``slack`` more can be written unchecked.
  @inline(__always)
  mutating func reserve(_ bytes: Int) {
    if unsafe limit - next < bytes { grow(by: bytes) }
  }

  @inline(never)
  private mutating func grow(by bytes: Int) {
    let used = count
    let capacity = unsafe max(2 * (limit - base), used + bytes)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + Self.slack)
    unsafe moved.update(from: base, count: used)
    unsafe base.deallocate()
    unsafe base = moved
    unsafe next = moved + used
    unsafe limit = moved + capacity
  }

  /// Takes back what was written.
  mutating func truncate(to count: Int) {
    unsafe next = base + count
  }

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
    reserve(MemoryLayout<T>.size)
    unsafe UnsafeMutableRawPointer(next).storeBytes(of: value.littleEndian, as: T.self)
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

  /// Writes a double so that a round one is short: the zeroes at the end of the fraction are those of a number's start.
  @inline(__always)
  mutating func writeShort(_ value: Double) {
    writeNumber(value.bitPattern.byteSwapped)
  }

  /// Writes an integer so that it can be read as any type that holds it.
  @inline(__always)
  mutating func writeInteger(_ value: Int64) {
    writeNumber(UInt64(bitPattern: (value &<< 1) ^ (value &>> 63)))
  }

  /// Writes an integer so that it can be read as any type that holds it.
  @inline(__always)
  mutating func writeInteger(_ value: UInt64) {
    if value <= Int64.max {
      writeInteger(Int64(bitPattern: value))
    } else {
      writeByte(248)
      writeFixed(value)
    }
  }

  /// Writes an integer so that it can be read as any type that holds it.
  mutating func writeInteger(_ value: Int128) {
    if let small = Int64(exactly: value) {
      writeInteger(small)
    } else if let small = UInt64(exactly: value) {
      writeInteger(small)
    } else {
      writeByte(249)
      writeFixed(value)
    }
  }

  /// Writes an integer so that it can be read as any type that holds it.
  mutating func writeInteger(_ value: UInt128) {
    if let small = Int128(exactly: value) {
      writeInteger(small)
    } else {
      writeByte(250)
      writeFixed(value)
    }
  }

  /// Writes bytes behind their number.
  @inline(__always)
  mutating func writeBytes(_ bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    reserve(count &+ 9)
    writeNumber(UInt64(truncatingIfNeeded: count))
    if let source = bytes.baseAddress {
      unsafe UnsafeMutableRawPointer(next).copyMemory(from: source, byteCount: count)
      unsafe next += count
    }
  }

  /// Writes a string.
  @inline(__always)
  mutating func writeString(_ string: String) {
    let utf8 = string.utf8
    let done: Void? = unsafe utf8.withContiguousStorageIfAvailable { unsafe writeBytes(UnsafeRawBufferPointer($0)) }
    if done == nil {
      var copy = string
      copy.withUTF8 { unsafe writeBytes(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Writes a number in the place of the one byte that was left for it, and moves what follows if it needs more.
  @inline(__always)
  mutating func patchNumber(_ number: UInt64, at position: Int) {
    if number < 240 {
      unsafe base[position] = UInt8(truncatingIfNeeded: number)
    } else {
      patchLongNumber(number, at: position)
    }
  }

  @inline(never)
  private mutating func patchLongNumber(_ number: UInt64, at position: Int) {
    let end = count
    writeNumber(number)
    let length = count - end
    // The number now stands behind what follows: bring it before.
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: base + end, count: length))
    unsafe UnsafeMutableRawPointer(base + position + length).copyMemory(
      from: base + position + 1, byteCount: end - position - 1)
    unsafe UnsafeMutablePointer(base + position).update(from: bytes, count: length)
    unsafe next -= 1
  }
}
