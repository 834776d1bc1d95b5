/// A value of the standard library that the coder writes and reads without asking it, in containers of every kind.
protocol Scalar {
  /// The tag of the payload.
  static var tag: UInt8 { get }

  /// Writes the payload.
  func write(to state: EncodeStateRef)

  /// Reads the value from a payload with a tag, its own or another one that can stand for it.
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Self
}

extension Bool: Scalar {
  @inline(__always)
  static var tag: UInt8 { ValueTag.bool }

  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeByte(self ? 1 : 0) }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Bool {
    try unsafe frame.readBool(tag, &cursor)
  }
}

extension String: Scalar {
  @inline(__always)
  static var tag: UInt8 { ValueTag.string }

  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeString(self) }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> String {
    try unsafe frame.readString(tag, &cursor)
  }
}

extension Double: Scalar {
  @inline(__always)
  static var tag: UInt8 { ValueTag.short }

  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeShort(self) }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Double {
    try unsafe frame.readDouble(tag, &cursor)
  }
}

extension Float: Scalar {
  @inline(__always)
  static var tag: UInt8 { ValueTag.float }

  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeFixed(bitPattern) }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Float {
    try unsafe frame.readFloat(tag, &cursor)
  }
}

// MARK: Integers

extension Scalar where Self: FixedWidthInteger {
  @inline(__always)
  static var tag: UInt8 { ValueTag.integer }

  @inline(__always)
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Self {
    try unsafe frame.readInteger(Self.self, tag, &cursor)
  }

  /// For the types whose values all fit; the others have their own.
  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeInteger(Int64(self)) }
}

extension Int: Scalar {}
extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}

extension UInt: Scalar {
  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeInteger(UInt64(self)) }
}

extension UInt64: Scalar {
  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeInteger(self) }
}

extension Int128: Scalar {
  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeInteger(self) }
}

extension UInt128: Scalar {
  @inline(__always)
  func write(to state: EncodeStateRef) { unsafe state.pointee.writeInteger(self) }
}
