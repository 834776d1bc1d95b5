/// The tables of an archive as borrowed memory.
@safe
struct TableView {
  let keyText: UnsafePointer<UInt8>?
  let keyEnds: UnsafePointer<UInt32>?
  let fields: UnsafePointer<UInt32>?
  let shapeEnds: UnsafePointer<UInt32>?
  let keyCount: Int
  let shapeCount: Int

  /// The fields of a shape, which must exist.
  @inline(__always)
  func shape(_ number: Int) -> UnsafeBufferPointer<UInt32> {
    let start = unsafe number == 0 ? 0 : Int(shapeEnds.unsafelyUnwrapped[number - 1])
    let end = unsafe Int(shapeEnds.unsafelyUnwrapped[number])
    return unsafe UnsafeBufferPointer(start: fields.map { unsafe $0 + start }, count: end - start)
  }

  /// The text of a key, which must exist.
  @inline(__always)
  func key(_ number: Int) -> UnsafeBufferPointer<UInt8> {
    let start = unsafe number == 0 ? 0 : Int(keyEnds.unsafelyUnwrapped[number - 1])
    let end = unsafe Int(keyEnds.unsafelyUnwrapped[number])
    return unsafe UnsafeBufferPointer(start: keyText.map { unsafe $0 + start }, count: end - start)
  }
}

extension TableContent {
  /// Lends the tables as memory.
  @inline(__always)
  func withView<Result>(_ body: (TableView) throws -> Result) rethrows -> Result {
    try unsafe keyText.withUnsafeBufferPointer { text in
      try unsafe keyEnds.withUnsafeBufferPointer { keyEnds in
        try unsafe fields.withUnsafeBufferPointer { fields in
          try unsafe shapeEnds.withUnsafeBufferPointer { shapeEnds in
            try unsafe body(
              TableView(
                keyText: text.baseAddress, keyEnds: keyEnds.baseAddress, fields: fields.baseAddress,
                shapeEnds: shapeEnds.baseAddress, keyCount: keyEnds.count, shapeCount: shapeEnds.count))
          }
        }
      }
    }
  }
}

/// Finds where values end without decoding them.
@safe
struct ValueWalker {
  let base: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>
  let tables: TableView
  /// The most levels that values may be nested in each other.
  let depthLimit: Int

  /// Makes a walker over bytes, which may be empty.
  init(_ bytes: UnsafeRawBufferPointer, tables: TableView, depthLimit: Int) {
    let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    unsafe base = start.assumingMemoryBound(to: UInt8.self)
    unsafe end = base + bytes.count
    self.tables = tables
    self.depthLimit = depthLimit
  }

  /// A cursor at a position.
  func cursor(at offset: Int) -> ByteCursor { unsafe ByteCursor(next: base + offset, end: end, base: base) }

  /// Moves a cursor from the start of a payload to its end.
  func skip(_ tag: UInt8, _ cursor: inout ByteCursor) throws(CodingFailure) {
    try skip(tag, &cursor, depth: 0)
  }

  /// Moves a cursor behind a payload that has neither a tag nor values inside.
  @inline(__always)
  static func skipScalar(_ tag: UInt8, _ cursor: inout ByteCursor) throws(CodingFailure) -> Bool {
    switch tag {
    case ValueTag.null: break
    case ValueTag.bool: try cursor.skip(1)
    case ValueTag.integer: try skipInteger(&cursor)
    case ValueTag.short: _ = try cursor.readNumber()
    case ValueTag.double, ValueTag.date: try cursor.skip(8)
    case ValueTag.float: try cursor.skip(4)
    case ValueTag.half: try cursor.skip(2)
    case ValueTag.string, ValueTag.data: _ = try unsafe cursor.readBytes()
    case ValueTag.uuid: try cursor.skip(16)
    case ValueTag.integers: _ = try IntegersHeader(&cursor).skip(&cursor)
    case ValueTag.signedBits...: try cursor.skip(Int(tag & 15))
    default: return false
    }
    return true
  }

  private static func skipInteger(_ cursor: inout ByteCursor) throws(CodingFailure) {
    let first = try cursor.readByte()
    if first >= 240 {
      switch first {
      case 240..<248: try cursor.skip(Int(first) - 239)
      case 248: try cursor.skip(8)
      case 249, 250: try cursor.skip(16)
      default: try cursor.skip(1)
      }
    }
  }

  private func skip(_ tag: UInt8, _ cursor: inout ByteCursor, depth: Int) throws(CodingFailure) {
    if try Self.skipScalar(tag, &cursor) { return }
    guard depth < depthLimit else {
      throw CodingFailure("values are nested more than \(depthLimit) deep", at: cursor.offset, code: .limitExceeded)
    }
    switch tag {
    case ValueTag.object:
      let shape = try unsafe readShape(&cursor)
      for index in shape.indices { try skipField(unsafe shape[index], &cursor, depth: depth + 1) }
    case ValueTag.map:
      let valueTag = try cursor.readByte()
      guard ValueTag.isFieldTag(valueTag) else { throw cursor.corrupt("\(valueTag) is not the tag of a map's values") }
      let count = try cursor.readCount(ofSize: 2)
      for _ in 0..<count {
        _ = try unsafe cursor.readBytes()
        try skip(valueTag == ValueTag.any ? cursor.readTag() : valueTag, &cursor, depth: depth + 1)
      }
    case ValueTag.array:
      let count = try cursor.readCount()
      for _ in 0..<count { try skip(cursor.readTag(), &cursor, depth: depth + 1) }
    case ValueTag.packed:
      let elementTag = try cursor.readByte()
      guard ValueTag.isPackable(elementTag) else {
        throw cursor.corrupt("\(elementTag) is not the tag of packed elements")
      }
      let count = try cursor.readCount()
      for _ in 0..<count { _ = try Self.skipScalar(elementTag, &cursor) }
    default:
      throw cursor.corrupt("\(tag) is not the tag of a value")
    }
  }

  /// Moves a cursor behind a field of an object.
  @inline(__always)
  func skipField(_ field: UInt32, _ cursor: inout ByteCursor, depth: Int = 0) throws(CodingFailure) {
    var tag = UInt8(truncatingIfNeeded: field)
    if tag == ValueTag.any {
      tag = try cursor.readTag()
      if tag == ValueTag.absent { return }
    }
    try skip(tag, &cursor, depth: depth)
  }

  /// Reads the number of a shape and gives its fields, for which there are enough bytes left.
  @inline(__always)
  func readShape(_ cursor: inout ByteCursor) throws(CodingFailure) -> UnsafeBufferPointer<UInt32> {
    let number = try cursor.readNumber()
    guard number < UInt64(tables.shapeCount) else { throw cursor.corrupt("there is no shape \(number)") }
    let shape = unsafe tables.shape(Int(number))
    guard shape.count <= cursor.remaining else { throw cursor.truncated() }
    return unsafe shape
  }
}

/// The start of an array of integers of one width.
struct IntegersHeader {
  /// The number of bytes of each, from 1 to 8.
  let width: Int
  /// Whether they are stored as they are rather than as zigzag.
  let isUnsigned: Bool
  /// The number of integers, for which there are enough bytes left.
  let count: Int

  init(_ cursor: inout ByteCursor) throws(CodingFailure) {
    let byte = try cursor.readByte()
    width = Int(byte & 127)
    isUnsigned = byte >= 128
    guard width >= 1 && width <= 8 else { throw cursor.corrupt("integers cannot be \(width) bytes wide") }
    count = try cursor.readCount(ofSize: width)
  }

  /// Moves a cursor behind the integers.
  func skip(_ cursor: inout ByteCursor) throws(CodingFailure) { try cursor.skip(count * width) }
}

/// The start of an array of any form.
struct ArrayHeader {
  /// The tag of the elements, or `any` when each has its own.
  let innerTag: UInt8
  /// The number of elements, each of which takes a byte or more of those left.
  let count: Int

  /// Reads the start of the payload; nil when it is no array's.
  @inline(__always)
  init?(_ tag: UInt8, _ cursor: inout ByteCursor) throws(CodingFailure) {
    switch tag {
    case ValueTag.array:
      innerTag = ValueTag.any
      count = try cursor.readCount()
    case ValueTag.packed:
      innerTag = try cursor.readByte()
      guard ValueTag.isPackable(innerTag) else {
        throw cursor.corrupt("\(innerTag) is not the tag of packed elements")
      }
      count = try cursor.readCount()
    case ValueTag.integers:
      let header = try IntegersHeader(&cursor)
      innerTag = (header.isUnsigned ? ValueTag.unsignedBits : ValueTag.signedBits) + UInt8(header.width)
      count = header.count
    default:
      return nil
    }
  }

  /// The tag of the next element.
  @inline(__always)
  func openElement(_ cursor: inout ByteCursor) throws(CodingFailure) -> UInt8 {
    innerTag == ValueTag.any ? try cursor.readTag() : innerTag
  }
}
