/// A collection that the coder decodes without asking it.
///
/// Each is one word in memory.
protocol FastDecodable {
  /// Decodes a value into uninitialised memory, inside a frame, and moves the cursor behind the payload.
  static func decodeCollection(
    into place: UnsafeMutableRawPointer, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef) throws
}

extension Array: FastDecodable where Element: Decodable {
  static func decodeCollection(
    into place: UnsafeMutableRawPointer, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws {
    let (kind, _) = unsafe frame.pointee.state.pointee.kind(of: Element.self)
    if kind != .general {
      if try unsafe frame.readPlainArray(into: place, kind, tag, &cursor) { return }
    }
    let result: [Element] = try unsafe frame.readElements(tag, &cursor) { child, header, cursor in
      var result: [Element] = []
      unsafe result.reserveCapacity(child.affordable(header.count, stride: MemoryLayout<Element>.stride))
      for index in 0..<header.count {
        unsafe child.pointee.currentIndex = index
        let tag = try unsafe child.openElement(header, &cursor)
        result.append(try unsafe child.read(Element.self, tag, &cursor))
      }
      return result
    }
    unsafe place.initializeMemory(as: Self.self, to: result)
  }
}

extension Set: FastDecodable where Element: Decodable {
  static func decodeCollection(
    into place: UnsafeMutableRawPointer, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws {
    let result: Set<Element> = try unsafe frame.readElements(tag, &cursor) { child, header, cursor in
      var result = unsafe Set<Element>(
        minimumCapacity: child.affordable(header.count, stride: 2 * MemoryLayout<Element>.stride))
      for index in 0..<header.count {
        unsafe child.pointee.currentIndex = index
        let tag = try unsafe child.openElement(header, &cursor)
        result.insert(try unsafe child.read(Element.self, tag, &cursor))
      }
      return result
    }
    unsafe place.initializeMemory(as: Self.self, to: result)
  }
}

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// How many elements may be given memory before they were read.
  ///
  /// All collections that are being decoded inside each other share one allowance, twice the bytes of the input and some;
  /// each takes half of what is left at most. Else each of many levels could claim to hold all the bytes there are.
  func affordable(_ count: Int, stride: Int) -> Int {
    let stride = Swift.max(1, stride)
    let affordable = unsafe min(count, pointee.state.pointee.allowance / 2 / stride)
    unsafe pointee.state.pointee.allowance -= affordable * stride
    return affordable
  }

  /// The tag of the next element.
  @inline(__always)
  func openElement(_ header: ArrayHeader, _ cursor: inout ByteCursor) throws -> UInt8 {
    do throws(CodingFailure) {
      return try header.openElement(&cursor)
    } catch { throw unsafe corrupt(error) }
  }

  /// Reads an array of any form inside this value.
  @inline(__always)
  func readElements<Value>(
    _ tag: UInt8, _ cursor: inout ByteCursor,
    _ body: (DecodeFrameRef, ArrayHeader, inout ByteCursor) throws -> Value
  ) throws -> Value {
    let start = unsafe cursor.next
    let header: ArrayHeader?
    do throws(CodingFailure) {
      header = try ArrayHeader(tag, &cursor)
    } catch { throw unsafe corrupt(error) }
    guard let header else { throw unsafe mismatch([Any].self, found: tag) }
    let child = try unsafe push(tag, at: start)
    let allowance = unsafe pointee.state.pointee.allowance
    defer {
      unsafe pointee.state.pointee.allowance = allowance
      unsafe pop(child)
    }
    unsafe child.pointee.pathKind = .index
    return try unsafe body(child, header, &cursor)
  }

  /// Reads an array of a well-known type whose bytes can be taken as they are; false when they cannot.
  @inline(__always)
  func readPlainArray(
    into place: UnsafeMutableRawPointer, _ kind: TypeKind, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> Bool {
    @inline(__always)
    func put<T>(_ array: [T]) -> Bool {
      unsafe place.initializeMemory(as: [T].self, to: array)
      return true
    }
    switch (tag, kind) {
    // By name, so that the compiler makes code for the one that is common.
    case (ValueTag.integers, .int): return put(try unsafe readEachInteger(Int.self, &cursor))
    case (ValueTag.integers, .int8): return put(try unsafe readIntegers(Int8.self, &cursor))
    case (ValueTag.integers, .int16): return put(try unsafe readIntegers(Int16.self, &cursor))
    case (ValueTag.integers, .int32): return put(try unsafe readIntegers(Int32.self, &cursor))
    case (ValueTag.integers, .int64): return put(try unsafe readIntegers(Int64.self, &cursor))
    case (ValueTag.integers, .uint): return put(try unsafe readIntegers(UInt.self, &cursor))
    case (ValueTag.integers, .uint8): return put(try unsafe readIntegers(UInt8.self, &cursor))
    case (ValueTag.integers, .uint16): return put(try unsafe readIntegers(UInt16.self, &cursor))
    case (ValueTag.integers, .uint32): return put(try unsafe readIntegers(UInt32.self, &cursor))
    case (ValueTag.integers, .uint64): return put(try unsafe readIntegers(UInt64.self, &cursor))
    case (ValueTag.data, .uint8): return put([UInt8](try unsafe readData(tag, &cursor)))
    case (ValueTag.packed, .double) where unsafe cursor.remaining > 0 && cursor.next.pointee == ValueTag.double:
      return put(try unsafe readDoubles(&cursor))
    case (ValueTag.packed, .string) where unsafe cursor.remaining > 0 && cursor.next.pointee == ValueTag.string:
      return put(try unsafe readStrings(&cursor))
    default: return false
    }
  }

  private func readIntegers<T: FixedWidthInteger>(_ type: T.Type, _ cursor: inout ByteCursor) throws -> [T] {
    try unsafe readEachInteger(type, &cursor)
  }

  @inline(__always)
  private func readEachInteger<T: FixedWidthInteger>(_ type: T.Type, _ cursor: inout ByteCursor) throws -> [T] {
    var index = 0
    do {
      let header = try IntegersHeader(&cursor)
      return try unsafe [T](unsafeUninitializedCapacity: header.count) { buffer, count in
        while index < header.count {
          let bits = try cursor.readBits(width: header.width)
          let value: T?
          if header.isUnsigned {
            value = T(exactly: bits)
          } else {
            value = T(exactly: Int64(bitPattern: bits &>> 1) ^ -Int64(bitPattern: bits & 1))
          }
          guard let value else { throw CodingFailure("", at: 0) }
          unsafe buffer.initializeElement(at: index, to: value)
          index += 1
          count = index
        }
      }
    } catch let failure as CodingFailure {
      guard failure.message.isEmpty else { throw unsafe corrupt(failure) }
      throw unsafe DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: pathInside() + [AnyCodingKey(intValue: index)],
          debugDescription: "A number does not fit in \(type)."))
    }
  }

  private func readDoubles(_ cursor: inout ByteCursor) throws -> [Double] {
    do throws(CodingFailure) {
      _ = try cursor.readByte()
      let count = try cursor.readCount(ofSize: 8)
      let start = unsafe UnsafeRawPointer(cursor.next)
      try cursor.skip(8 * count)
      return unsafe [Double](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
          let bits = unsafe start.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
          unsafe buffer.initializeElement(at: index, to: Double(bitPattern: UInt64(littleEndian: bits)))
        }
        initialized = count
      }
    } catch { throw unsafe corrupt(error) }
  }

  private func readStrings(_ cursor: inout ByteCursor) throws -> [String] {
    var result: [String] = []
    do throws(CodingFailure) {
      _ = try cursor.readByte()
      let count = try cursor.readCount()
      let allowance = unsafe pointee.state.pointee.allowance
      defer { unsafe pointee.state.pointee.allowance = allowance }
      unsafe result.reserveCapacity(affordable(count, stride: MemoryLayout<String>.stride))
      for _ in 0..<count { result.append(try cursor.readString()) }
      return result
    } catch {
      throw unsafe error.decodingError(pathInside() + [AnyCodingKey(intValue: result.count)])
    }
  }
}
