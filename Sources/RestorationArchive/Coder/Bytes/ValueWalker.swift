/// Told of the values that a walk passes.
protocol ValueVisitor {
  /// Whether it wants to be told of the entries of the outermost value.
  static var seesEntries: Bool { get }

  /// An object: the number of its shape, and where that number stands.
  mutating func visit(shape: Int, at range: Range<Int>)

  /// An entry of the outermost value, which was passed: `absent` when the key was given no value.
  mutating func visit(_ entry: ValueEntry)
}

extension ValueVisitor {
  static var seesEntries: Bool { false }
  @inline(__always)
  mutating func visit(shape: Int, at range: Range<Int>) {}
  @inline(__always)
  mutating func visit(_ entry: ValueEntry) {}
}

/// A visitor who only wants to know where values end.
struct NoVisitor: ValueVisitor {}

/// An entry of an object or a map.
struct ValueEntry {
  let key: Borrowed<UInt8>
  let tag: UInt8
  let payload: Range<Int>
}

/// Lists the entries of an object or a map, as far as they can be walked through.
struct EntryList: ValueVisitor {
  static var seesEntries: Bool { true }
  private(set) var entries: [ValueEntry] = []
  mutating func visit(_ entry: ValueEntry) { entries.append(entry) }
}

/// Walks through values without decoding them: the one place that knows the grammar besides the decoder.
struct ValueWalker {
  /// The keys and shapes.
  let tables: TableView
  /// The most levels that values may be nested in each other.
  let depthLimit: Int

  /// Moves a cursor from the start of a payload to its end.
  func skip(_ tag: UInt8, _ cursor: inout ByteCursor) throws(ArchiveError) {
    var visitor = NoVisitor()
    try walk(tag, &cursor, depth: 0, &visitor)
  }

  /// Walks through a payload and tells a visitor of it.
  func walk<Visitor: ValueVisitor>(
    _ tag: UInt8, _ cursor: inout ByteCursor, depth: Int = 0, _ visitor: inout Visitor
  ) throws(ArchiveError) {
    if try Self.skipScalar(tag, &cursor) { return }
    guard depth < depthLimit else {
      throw ArchiveError.tooDeep(limit: depthLimit, at: cursor.offset)
    }
    switch tag {
    case ValueTag.object:
      let start = cursor.offset
      let (number, fields) = try readShape(&cursor)
      visitor.visit(shape: number, at: start..<cursor.offset)
      for index in 0..<fields.count {
        let tag = try cursor.openTag(UInt8(truncatingIfNeeded: fields[index]))
        let start = cursor.offset
        if tag != ValueTag.absent { try walk(tag, &cursor, depth: depth + 1, &visitor) }
        guard Visitor.seesEntries, depth == 0 else { continue }
        visitor.visit(ValueEntry(key: tables.key(Int(fields[index] >> 8)), tag: tag, payload: start..<cursor.offset))
      }
    case ValueTag.map:
      let header = try MapHeader(&cursor)
      for _ in 0..<header.count {
        let key = try cursor.readBytes()
        let tag = try cursor.openValueTag(header.innerTag)
        let start = cursor.offset
        try walk(tag, &cursor, depth: depth + 1, &visitor)
        guard Visitor.seesEntries, depth == 0 else { continue }
        visitor.visit(ValueEntry(key: key, tag: tag, payload: start..<cursor.offset))
      }
    default:
      guard let header = try ArrayHeader(tag, &cursor) else { throw cursor.corrupt("\(tag) is not the tag of a value") }
      for _ in 0..<header.count {
        try walk(cursor.openValueTag(header.innerTag), &cursor, depth: depth + 1, &visitor)
      }
    }
  }

  /// Moves a cursor behind a payload that has neither a tag nor values inside.
  @inline(__always)
  static func skipScalar(_ tag: UInt8, _ cursor: inout ByteCursor) throws(ArchiveError) -> Bool {
    switch tag {
    case ValueTag.null: break
    case ValueTag.bool: try cursor.skip(1)
    case ValueTag.integer: try skipInteger(&cursor)
    case ValueTag.short: _ = try cursor.readNumber()
    case ValueTag.double, ValueTag.date: try cursor.skip(8)
    case ValueTag.float: try cursor.skip(4)
    case ValueTag.half: try cursor.skip(2)
    case ValueTag.string, ValueTag.data: _ = try cursor.readBytes()
    case ValueTag.uuid: try cursor.skip(16)
    case ValueTag.integers:
      let header = try ArrayHeader(integers: &cursor)
      try cursor.skip(header.count * header.width)
    case ValueTag.signedBits...: try cursor.skip(Int(tag & 15))
    default: return false
    }
    return true
  }

  private static func skipInteger(_ cursor: inout ByteCursor) throws(ArchiveError) {
    switch cursor.peek {
    case 248: try cursor.skip(9)
    case 249, 250: try cursor.skip(17)
    default: _ = try cursor.readNumber()
    }
  }

  /// Reads the number of a shape and gives its fields, for which there are enough bytes left.
  @inline(__always)
  func readShape(_ cursor: inout ByteCursor) throws(ArchiveError) -> (number: Int, fields: Borrowed<UInt32>) {
    let number = try cursor.readNumber()
    guard number < UInt64(tables.shapeCount) else { throw cursor.corrupt("there is no shape \(number)") }
    let fields = tables.shape(Int(number))
    guard fields.count <= cursor.remaining else { throw cursor.truncated() }
    return (Int(number), fields)
  }
}

extension ByteCursor {
  /// The tag of the next field, when a shape tells one; `absent` when it was given no value.
  @inline(__always)
  mutating func openTag(_ tag: UInt8) throws(ArchiveError) -> UInt8 { tag == ValueTag.any ? try readTag() : tag }

  /// The tag of the next entry or element, when a map or an array tells one.
  @inline(__always)
  mutating func openValueTag(_ tag: UInt8) throws(ArchiveError) -> UInt8 {
    let tag = try openTag(tag)
    guard tag != ValueTag.absent else { throw corrupt("\(tag) is not the tag of a value") }
    return tag
  }
}

/// The start of a map.
struct MapHeader {
  /// The tag of the values, or `any` when each has its own.
  let innerTag: UInt8
  /// The number of entries, each of which takes two bytes or more of those left.
  let count: Int

  init(_ cursor: inout ByteCursor) throws(ArchiveError) {
    innerTag = try cursor.readByte()
    guard ValueTag.isFieldTag(innerTag) else { throw cursor.corrupt("\(innerTag) is not the tag of a map's values") }
    count = try cursor.readCount(ofSize: 2)
  }
}

/// The start of an array of any form.
struct ArrayHeader {
  /// The tag of the elements, or `any` when each has its own.
  let innerTag: UInt8
  /// The number of elements, each of which takes a byte or more of those left.
  let count: Int

  /// Reads the start of the payload; nil when it is no array's.
  @inline(__always)
  init?(_ tag: UInt8, _ cursor: inout ByteCursor) throws(ArchiveError) {
    switch tag {
    case ValueTag.array:
      innerTag = ValueTag.any
      count = try cursor.readCount()
    case ValueTag.packed: self = try ArrayHeader(packed: &cursor)
    case ValueTag.integers: self = try ArrayHeader(integers: &cursor)
    default: return nil
    }
  }

  /// Reads the start of an array whose elements have one tag.
  init(packed cursor: inout ByteCursor) throws(ArchiveError) {
    innerTag = try cursor.readByte()
    guard ValueTag.isPackable(innerTag) else { throw cursor.corrupt("\(innerTag) is not the tag of packed elements") }
    count = try cursor.readCount()
  }

  /// Reads the start of an array of integers of one width, for which there are enough bytes left.
  init(integers cursor: inout ByteCursor) throws(ArchiveError) {
    let byte = try cursor.readByte()
    let width = byte & 127
    guard width >= 1 && width <= 8 else { throw cursor.corrupt("integers cannot be \(width) bytes wide") }
    innerTag = (byte >= 128 ? ValueTag.unsignedBits : ValueTag.signedBits) + width
    count = try cursor.readCount(ofSize: Int(width))
  }

  /// The number of bytes of each integer.
  var width: Int { Int(innerTag & 15) }
}
