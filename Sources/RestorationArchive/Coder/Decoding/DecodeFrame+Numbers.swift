extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// Reads an integer of any width.
  @inline(__always)
  func readInteger<T: FixedWidthInteger>(_ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> T {
    if tag == ValueTag.integer && cursor.remaining >= 1 {
      let first = unsafe cursor.next.pointee
      if first < 240 {
        unsafe cursor.next += 1
        let value = Int(first &>> 1) ^ -Int(first & 1)
        if let result = T(exactly: value) { return result }
        throw unsafe unfit("\(value)", type)
      }
      if let bits = cursor.readTwoByteNumber(first) {
        let value = Int(truncatingIfNeeded: bits &>> 1) ^ -Int(truncatingIfNeeded: bits & 1)
        if let result = T(exactly: value) { return result }
        throw unsafe unfit("\(value)", type)
      }
    }
    return try unsafe readWideInteger(type, tag, &cursor)
  }

  @inline(never)
  private func readWideInteger<T: FixedWidthInteger>(
    _ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> T {
    do {
      switch tag {
      case ValueTag.integer:
        let first = unsafe cursor.remaining > 0 ? cursor.next.pointee : 0
        if first < 248 {
          let bits = try cursor.readNumber()
          let value = Int64(bitPattern: bits &>> 1) ^ -Int64(bitPattern: bits & 1)
          if let result = T(exactly: value) { return result }
          throw unsafe unfit("\(value)", type)
        }
        _ = try cursor.readByte()
        switch first {
        case 248:
          let value = try cursor.readFixed(UInt64.self)
          if let result = T(exactly: value) { return result }
          throw unsafe unfit("\(value)", type)
        case 249:
          let value = try cursor.readFixed(Int128.self)
          if let result = T(exactly: value) { return result }
          throw unsafe unfit("\(value)", type)
        case 250:
          let value = try cursor.readFixed(UInt128.self)
          if let result = T(exactly: value) { return result }
          throw unsafe unfit("\(value)", type)
        default:
          // Two bytes, of which the second is missing.
          throw cursor.truncated()
        }
      case ValueTag.signedBits...:
        let bits = try cursor.readBits(width: Int(tag & 15))
        if tag >= ValueTag.unsignedBits {
          if let result = T(exactly: bits) { return result }
          throw unsafe unfit("\(bits)", type)
        }
        let value = Int64(bitPattern: bits &>> 1) ^ -Int64(bitPattern: bits & 1)
        if let result = T(exactly: value) { return result }
        throw unsafe unfit("\(value)", type)
      case ValueTag.double, ValueTag.float, ValueTag.half, ValueTag.short:
        let value = try unsafe readDouble(tag, &cursor)
        if let result = T(exactly: value) { return result }
        throw unsafe unfit("\(value)", type)
      default:
        throw unsafe mismatch(type, found: tag)
      }
    } catch let failure as CodingFailure {
      throw unsafe corrupt(failure)
    }
  }

  /// Reads a floating-point number of any width, or an integer that a `Double` holds.
  @inline(__always)
  func readDouble(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> Double {
    if tag == ValueTag.short && cursor.remaining >= 9 {
      let first = unsafe cursor.next.pointee
      if first < 248 {
        // Eight more bytes are there, whatever the number's width: those that are not its own are masked out.
        let width = first < 240 ? 0 : UInt64(first &- 239)
        let bits = unsafe UInt64(littleEndian: UnsafeRawPointer(cursor.next + 1).loadUnaligned(as: UInt64.self))
        let number = first < 240 ? UInt64(first) : bits & (UInt64.max &>> (64 &- 8 &* width))
        unsafe cursor.next += 1 &+ Int(truncatingIfNeeded: width)
        return Double(bitPattern: number.byteSwapped)
      }
    }
    return try unsafe readOtherDouble(Double.self, tag, &cursor)
  }

  /// Reads a floating-point number in whatever way it was stored; an error names the type that was asked for.
  @inline(never)
  func readOtherDouble(_ type: Any.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Double {
    do {
      switch tag {
      case ValueTag.short: return try cursor.readShortDouble()
      case ValueTag.double: return Double(bitPattern: try cursor.readFixed(UInt64.self))
      case ValueTag.float: return Double(Float(bitPattern: try cursor.readFixed(UInt32.self)))
      case ValueTag.half:
        let bits = try cursor.readFixed(UInt16.self)
        #if os(macOS) && arch(x86_64)
        throw cursor.corrupt("this platform has no half-precision numbers (\(bits))")
        #else
        return Double(Float16(bitPattern: bits))
        #endif
      case ValueTag.integer, ValueTag.signedBits...:
        let value = try unsafe readInteger(Int128.self, tag, &cursor)
        if let result = Double(exactly: value) { return result }
        throw unsafe unfit("\(value)", type)
      default: throw unsafe mismatch(type, found: tag)
      }
    } catch let failure as CodingFailure {
      throw unsafe corrupt(failure)
    }
  }

  /// Reads a floating-point number; a finite one that is too large for a `Float` does not fit.
  func readFloat(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> Float {
    if tag == ValueTag.float && cursor.remaining >= 4 {
      let bits = unsafe UnsafeRawPointer(cursor.next).loadUnaligned(as: UInt32.self)
      unsafe cursor.next += 4
      return Float(bitPattern: UInt32(littleEndian: bits))
    }
    let value = try unsafe readOtherDouble(Float.self, tag, &cursor)
    let result = Float(value)
    if value.isFinite && !result.isFinite { throw unsafe unfit("\(value)", Float.self) }
    return result
  }

  /// Reads the bits of a `Float16`.
  func readHalf(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> UInt16 {
    #if os(macOS) && arch(x86_64)
    throw unsafe mismatch(Float.self, found: tag)
    #else
    if tag == ValueTag.half && cursor.remaining >= 2 {
      let bits = unsafe UnsafeRawPointer(cursor.next).loadUnaligned(as: UInt16.self)
      unsafe cursor.next += 2
      return UInt16(littleEndian: bits)
    }
    let value = try unsafe readOtherDouble(Float16.self, tag, &cursor)
    let result = Float16(value)
    if value.isFinite && !result.isFinite { throw unsafe unfit("\(value)", Float16.self) }
    return result.bitPattern
    #endif
  }

  @inline(never)
  private func unfit(_ number: String, _ type: Any.Type) -> any Error {
    unsafe DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: pathInside(), debugDescription: "Number \(number) does not fit in \(type)."))
  }
}
