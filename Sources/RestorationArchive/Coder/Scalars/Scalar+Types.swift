import FoundationShim

// The table of scalars: a row a type.

/// The rows by their types: the runtime would search every conformance of the program for each type that has none.
enum ScalarTable {
  private static let rows: [ObjectIdentifier: any Scalar.Type] = {
    let types: [any Scalar.Type] = [
      Bool.self, String.self, Double.self, Float.self, Float16.self, Data.self, Date.self, UUID.self, Int.self,
      Int8.self,
      Int16.self, Int32.self, Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
      UInt128.self,
    ]
    return Dictionary(uniqueKeysWithValues: types.map { (ObjectIdentifier($0), $0) })
  }()

  /// The row of a type; nil when it is no scalar.
  static func row(of type: Any.Type) -> (any Scalar.Type)? { rows[ObjectIdentifier(type)] }
}

extension Bool: Scalar {
  static var tag: UInt8 { ValueTag.bool }
  func write(to writer: inout ByteWriter) { writer.writeByte(self ? 1 : 0) }
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Bool {
    guard tag == ValueTag.bool else { throw frame.mismatch(Bool.self, found: tag) }
    do throws(ArchiveError) {
      let byte = try cursor.readByte()
      guard byte <= 1 else { throw cursor.corrupt("\(byte) is not a Boolean") }
      return byte == 1
    } catch { throw frame.corrupt(error) }
  }
}

extension String: Scalar {
  static var tag: UInt8 { ValueTag.string }
  func write(to writer: inout ByteWriter) { writer.writeString(self) }
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> String {
    guard tag == ValueTag.string else { throw frame.mismatch(String.self, found: tag) }
    do throws(ArchiveError) {
      return try cursor.readString()
    } catch { throw frame.corrupt(error) }
  }
  static func readArray(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> [String]? {
    tag == ValueTag.packed && cursor.peek == ValueTag.string ? try frame.readStrings(&cursor) : nil
  }
}

extension Double: Scalar {
  static var tag: UInt8 { ValueTag.short }
  @inline(__always)
  func write(to writer: inout ByteWriter) { writer.writeNumber(bitPattern.byteSwapped) }
  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Double {
    if tag == ValueTag.short, let value = cursor.readShortDouble() { return value }
    return try frame.readNumber(Double.self, tag, &cursor)
  }
  /// Each has its eight bytes, so that a list can be taken as it is.
  static func writeArray(_ elements: [Double], to writer: inout ByteWriter) -> UInt8 {
    writer.writeByte(ValueTag.double)
    writer.writeNumber(UInt64(elements.count))
    writer.writeNumbers(elements, width: 8) { $0.bitPattern }
    return ValueTag.packed
  }
  static func readArray(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> [Double]? {
    tag == ValueTag.packed && cursor.peek == ValueTag.double ? try frame.readDoubles(&cursor) : nil
  }
}

extension Float: Scalar {
  static var tag: UInt8 { ValueTag.float }
  func write(to writer: inout ByteWriter) { writer.writeFixed(bitPattern) }
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Float {
    if tag == ValueTag.float, let bits = try? cursor.readFixed(UInt32.self) { return Float(bitPattern: bits) }
    return try frame.narrow(try frame.readNumber(Float.self, tag, &cursor)) { Float($0) }
  }
}

#if !(os(macOS) && arch(x86_64))
extension Float16: Scalar {
  static var tag: UInt8 { ValueTag.half }
  func write(to writer: inout ByteWriter) { writer.writeFixed(bitPattern) }
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Float16 {
    if tag == ValueTag.half, let bits = try? cursor.readFixed(UInt16.self) { return Float16(bitPattern: bits) }
    return try frame.narrow(try frame.readNumber(Float16.self, tag, &cursor)) { Float16($0) }
  }
}
#endif

extension Data: Scalar {
  static var tag: UInt8 { ValueTag.data }
  func write(to writer: inout ByteWriter) {
    // One check for exclusivity; lent by `withUnsafeBytes`, the bytes would cost three.
    bytes.withBytes { writer.writeCounted($0) }
  }
  /// Reads data, or an array of bytes that was stored as integers.
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Data {
    if tag == ValueTag.data {
      do throws(ArchiveError) { return try cursor.readBytes().data } catch { throw frame.corrupt(error) }
    }
    guard tag == ValueTag.integers || tag == ValueTag.array || tag == ValueTag.packed else {
      throw frame.mismatch(Data.self, found: tag)
    }
    return Data(try frame.read([UInt8].self, tag, &cursor))
  }
}

extension Date: Scalar {
  static var tag: UInt8 { ValueTag.date }
  func write(to writer: inout ByteWriter) { writer.writeFixed(timeIntervalSinceReferenceDate.bitPattern) }
  /// Reads a date, or a number of seconds since the reference date.
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Date {
    if tag == ValueTag.date {
      do throws(ArchiveError) {
        return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try cursor.readFixed(UInt64.self)))
      } catch { throw frame.corrupt(error) }
    }
    return Date(timeIntervalSinceReferenceDate: try frame.readNumber(Date.self, tag, &cursor))
  }
}

extension UUID: Scalar {
  static var tag: UInt8 { ValueTag.uuid }
  func write(to writer: inout ByteWriter) { writer.writeTrivial(uuid) }
  /// Reads a UUID, or its text.
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> UUID {
    if tag == ValueTag.uuid {
      do throws(ArchiveError) { return UUID(uuid: try cursor.readBytes16(uuid_t.self)) } catch {
        throw frame.corrupt(error)
      }
    }
    guard tag == ValueTag.string else { throw frame.mismatch(UUID.self, found: tag) }
    guard let uuid = UUID(uuidString: try String.read(frame, tag, &cursor)) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: frame.pathInside(), debugDescription: "Attempted to decode UUID from invalid UUID string."))
    }
    return uuid
  }
}

// MARK: Integers

extension Scalar where Self: FixedWidthInteger {
  @inline(__always)
  static var tag: UInt8 { ValueTag.integer }

  /// Writes an integer so that it can be read as any type that holds it.
  @inline(__always)
  func write(to writer: inout ByteWriter) {
    if let value = Int64(exactly: self) {
      writer.writeNumber(value.zigzag)
    } else if let value = UInt64(exactly: self) {
      writer.writeByte(248)
      writer.writeFixed(value)
    } else if let value = Int128(exactly: self) {
      writer.writeByte(249)
      writer.writeFixed(value)
    } else {
      writer.writeByte(250)
      writer.writeFixed(UInt128(truncatingIfNeeded: self))
    }
  }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Self {
    if tag == ValueTag.integer, let value = cursor.readShortInteger() {
      if let result = Self(exactly: value) { return result }
      throw frame.unfit(value, Self.self)
    }
    return try frame.readWideInteger(Self.self, tag, &cursor)
  }
}

extension Scalar where Self: FixedWidthInteger {
  /// All of them in the fewest bytes that the greatest needs; those of 128 bits one by one.
  static func writeArray(_ elements: [Self], to writer: inout ByteWriter) -> UInt8 {
    if Self.bitWidth > 64 { return writePacked(elements, to: &writer) }
    var all: UInt64 = 1
    if isSigned {
      for element in elements { all |= Int64(truncatingIfNeeded: element).zigzag }
    } else {
      for element in elements { all |= UInt64(truncatingIfNeeded: element) }
    }
    let width = (71 &- all.leadingZeroBitCount) &>> 3
    writer.writeByte(UInt8(truncatingIfNeeded: width) | (isSigned ? 0 : 128))
    writer.writeNumber(UInt64(elements.count))
    if isSigned {
      writer.writeNumbers(elements, width: width) { Int64(truncatingIfNeeded: $0).zigzag }
    } else {
      writer.writeNumbers(elements, width: width) { UInt64(truncatingIfNeeded: $0) }
    }
    return ValueTag.integers
  }

  private static func writePacked(_ elements: [Self], to writer: inout ByteWriter) -> UInt8 {
    writer.writeByte(tag)
    writer.writeNumber(UInt64(elements.count))
    for element in elements { element.write(to: &writer) }
    return ValueTag.packed
  }

  static func readArray(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> [Self]? {
    if tag == ValueTag.integers && bitWidth <= 64 { return try frame.readIntegers(Self.self, &cursor) }
    if Self.self == UInt8.self && tag == ValueTag.data {
      do throws(ArchiveError) { return sameType(try cursor.readBytes().array, as: [Self].self) } catch {
        throw frame.corrupt(error)
      }
    }
    return nil
  }
}

extension Int64 {
  /// The number that stands for it: small for small ones of either sign.
  @inline(__always)
  var zigzag: UInt64 { UInt64(bitPattern: (self &<< 1) ^ (self &>> 63)) }

  /// The integer that a number stands for.
  @inline(__always)
  init(zigzag number: UInt64) { self = Int64(bitPattern: number &>> 1) ^ -Int64(bitPattern: number & 1) }
}

extension Int: Scalar {}
extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension Int128: Scalar {}
extension UInt: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}
extension UInt128: Scalar {}
