/// A collection that the coder encodes without asking it: faster, and in an order that does not change.
protocol FastEncodable {
  /// Writes the payload of the value at an address inside a frame and tells its tag.
  static func encodeCollection(at value: UnsafeRawPointer, in frame: EncodeFrameRef) throws -> UInt8
}

extension Array: FastEncodable where Element: Encodable {
  static func encodeCollection(at value: UnsafeRawPointer, in frame: EncodeFrameRef) throws -> UInt8 {
    let state = unsafe frame.pointee.state
    let (kind, _) = unsafe state.pointee.kind(of: Element.self)
    return try unsafe value.assumingMemoryBound(to: Self.self).pointee.withUnsafeBufferPointer { elements in
      if kind == .general || kind == .collection { return try unsafe encodeTagged(elements, in: frame) }
      return unsafe state.pointee.writePacked(
        UnsafeRawPointer(elements.baseAddress), count: elements.count, kind: kind, stride: MemoryLayout<Element>.stride)
    }
  }

  private static func encodeTagged(
    _ elements: UnsafeBufferPointer<Element>, in frame: EncodeFrameRef
  ) throws -> UInt8 {
    let child = try unsafe frame.push()
    unsafe child.pointee.kind = .array
    unsafe child.pointee.count = 0
    unsafe child.pointee.state.pointee.writeNumber(UInt64(elements.count))
    do {
      for index in elements.indices { try unsafe child.encodeElement(elements[index]) }
    } catch {
      unsafe frame.abandon(child)
      throw error
    }
    unsafe frame.pop(child)
    return ValueTag.array
  }
}

extension EncodeState {
  /// Writes an array of elements of a well-known type.
  mutating func writePacked(_ elements: UnsafeRawPointer?, count: Int, kind: TypeKind, stride: Int) -> UInt8 {
    @inline(__always)
    func buffer<T>(_ type: T.Type) -> UnsafeBufferPointer<T> {
      unsafe UnsafeBufferPointer(start: elements?.assumingMemoryBound(to: type), count: count)
    }
    switch kind {
    case .int: return unsafe writeSigned(buffer(Int.self))
    case .int8: return unsafe writeSigned(buffer(Int8.self))
    case .int16: return unsafe writeSigned(buffer(Int16.self))
    case .int32: return unsafe writeSigned(buffer(Int32.self))
    case .int64: return unsafe writeSigned(buffer(Int64.self))
    case .uint: return unsafe writeUnsigned(buffer(UInt.self))
    case .uint8: return unsafe writeUnsigned(buffer(UInt8.self))
    case .uint16: return unsafe writeUnsigned(buffer(UInt16.self))
    case .uint32: return unsafe writeUnsigned(buffer(UInt32.self))
    case .uint64: return unsafe writeUnsigned(buffer(UInt64.self))
    default:
      // A list of doubles can be taken as it is when each has its eight bytes.
      writeByte(kind == .double ? ValueTag.double : kind.tag)
      writeNumber(UInt64(count))
      if kind == .double {
        let doubles = unsafe buffer(Double.self)
        reserve(8 * count)
        for index in 0..<count {
          unsafe UnsafeMutableRawPointer(next + 8 * index).storeBytes(
            of: doubles[index].bitPattern.littleEndian, as: UInt64.self)
        }
        unsafe next += 8 * count
      } else if kind == .string {
        let strings = unsafe buffer(String.self)
        for index in 0..<count { writeString(unsafe strings[index]) }
      } else if let elements = unsafe elements {
        for index in 0..<count { unsafe writeScalar(elements + index * stride, kind) }
      }
      return ValueTag.packed
    }
  }

  @inline(__always)
  private mutating func writeSigned<T: SignedInteger & FixedWidthInteger>(_ values: UnsafeBufferPointer<T>) -> UInt8 {
    var all: UInt64 = 0
    for index in values.indices { all |= Self.zigzag(Int64(truncatingIfNeeded: unsafe values[index])) }
    return unsafe writeWidth(all, 0, values) { Self.zigzag(Int64(truncatingIfNeeded: $0)) }
  }

  @inline(__always)
  private mutating func writeUnsigned<T: UnsignedInteger & FixedWidthInteger>(_ values: UnsafeBufferPointer<T>) -> UInt8
  {
    var all: UInt64 = 0
    for index in values.indices { all |= UInt64(truncatingIfNeeded: unsafe values[index]) }
    return unsafe writeWidth(all, 128, values) { UInt64(truncatingIfNeeded: $0) }
  }

  @inline(__always)
  private mutating func writeWidth<T>(
    _ all: UInt64, _ flag: UInt8, _ values: UnsafeBufferPointer<T>, _ bits: (T) -> UInt64
  ) -> UInt8 {
    let width = (71 &- (all | 1).leadingZeroBitCount) &>> 3
    writeByte(UInt8(truncatingIfNeeded: width) | flag)
    writeNumber(UInt64(values.count))
    reserve(width * values.count)
    for index in values.indices {
      unsafe UnsafeMutableRawPointer(next).storeBytes(of: bits(values[index]).littleEndian, as: UInt64.self)
      unsafe next += width
    }
    return ValueTag.integers
  }

  @inline(__always)
  private static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
  }
}
