extension DecodeFrameRef {
  /// Reads an integer of a form that is not the commonest.
  @inline(never)
  func readWideInteger<T: FixedWidthInteger>(
    _ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> T {
    func fit<Stored: BinaryInteger>(_ value: Stored) throws -> T {
      guard let result = T(exactly: value) else { throw unfit(value, type) }
      return result
    }
    do {
      switch tag {
      case ValueTag.integer:
        let form = cursor.peek
        guard let form, (248...250).contains(form) else { return try fit(Int64(zigzag: try cursor.readNumber())) }
        _ = try cursor.readByte()
        switch form {
        case 248: return try fit(try cursor.readFixed(UInt64.self))
        case 249: return try fit(try cursor.readFixed(Int128.self))
        default: return try fit(try cursor.readFixed(UInt128.self))
        }
      case ValueTag.signedBits...:
        let bits = try cursor.readBits(width: Int(tag & 15))
        return tag >= ValueTag.unsignedBits ? try fit(bits) : try fit(Int64(zigzag: bits))
      case ValueTag.double, ValueTag.float, ValueTag.half, ValueTag.short:
        let value = try readNumber(Double.self, tag, &cursor)
        guard let result = T(exactly: value) else { throw unfit(value, type) }
        return result
      default:
        throw mismatch(type, found: tag)
      }
    } catch let failure as ArchiveError {
      throw corrupt(failure)
    }
  }

  /// Reads a floating-point number of any width, or an integer that a `Double` holds; an error names the type that was
  /// asked for.
  @inline(never)
  func readNumber(_ type: Any.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Double {
    do {
      switch tag {
      case ValueTag.short: return Double(bitPattern: try cursor.readNumber().byteSwapped)
      case ValueTag.double: return Double(bitPattern: try cursor.readFixed(UInt64.self))
      case ValueTag.float: return Double(Float(bitPattern: try cursor.readFixed(UInt32.self)))
      case ValueTag.half: return Double(HalfPrecision.float(of: try cursor.readFixed(UInt16.self)))
      case ValueTag.integer, ValueTag.signedBits...:
        let value = try readWideInteger(Int128.self, tag, &cursor)
        if let result = Double(exactly: value) { return result }
        throw unfit(value, type)
      default: throw mismatch(type, found: tag)
      }
    } catch let failure as ArchiveError {
      throw corrupt(failure)
    }
  }

  /// A number as a narrower type; a finite one that is too large for it does not fit.
  func narrow<T: BinaryFloatingPoint>(_ value: Double, _ convert: (Double) -> T) throws -> T {
    let result = convert(value)
    if value.isFinite && !result.isFinite { throw unfit(value, T.self) }
    return result
  }

  /// The error of a number that a type cannot hold.
  @inline(never)
  func unfit(_ number: some Any, _ type: Any.Type) -> any Error {
    DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: pathInside(), debugDescription: "Number \(number) does not fit in \(type)."))
  }
}

/// Half-precision numbers, also for platforms without the type.
enum HalfPrecision {
  /// The value of a bit pattern.
  static func float(of bits: UInt16) -> Float {
    let sign: Float = bits >> 15 == 0 ? 1 : -1
    let exponent = Int(bits >> 10 & 31)
    let fraction = Float(bits & 1023) / 1024
    switch exponent {
    case 0: return sign * fraction * 0x1p-14
    case 31: return Float(bitPattern: UInt32(bits >> 15) << 31 | 0x7F80_0000 | UInt32(bits & 1023) << 13)
    default: return sign * (1 + fraction) * Float(sign: .plus, exponent: exponent - 15, significand: 1)
    }
  }
}
