import FoundationEssentials

/// Rewrites encoded records so that they fit other tables, bit for bit but for the numbers of their shapes.
struct RecordTranscoder {
  /// The keys and shapes that the records were encoded against.
  let tables: TableContent
  /// The number of each shape in the other tables.
  let shapes: [UInt32]
  private var output: [UInt8] = []
  private var depth = 0
  private let depthLimit = 64

  /// Prepares for records against tables whose shapes have new numbers.
  init(tables: TableContent, shapes: [UInt32]) {
    self.tables = tables
    self.shapes = shapes
  }

  /// The bytes of a record against the other tables; hostile bytes throw.
  mutating func transcode(_ record: Data) throws(ArchiveError) -> [UInt8] {
    output = []
    depth = 0
    output.reserveCapacity(record.count)
    return try record.parse { (parser) throws(ArchiveError) in
      try tagged(&parser)
      guard parser.remaining == 0 else { throw parser.corrupt("a node's state has bytes too many") }
      return output
    }
  }

  private mutating func tagged(_ parser: inout ByteParser) throws(ArchiveError) {
    let tag = try copyByte(&parser)
    guard tag != ValueTag.absent, tag != ValueTag.any else { throw parser.corrupt("\(tag) is not the tag of a value") }
    try value(tag, &parser)
  }

  private mutating func value(_ tag: UInt8, _ parser: inout ByteParser) throws(ArchiveError) {
    switch tag {
    case ValueTag.null: return
    case ValueTag.bool: return try copy(1, &parser)
    case ValueTag.integer: return try integer(&parser)
    case ValueTag.short: return write(try number(&parser))
    case ValueTag.double, ValueTag.date: return try copy(8, &parser)
    case ValueTag.float: return try copy(4, &parser)
    case ValueTag.half: return try copy(2, &parser)
    case ValueTag.string, ValueTag.data: return try copy(try count(&parser), &parser)
    case ValueTag.uuid: return try copy(16, &parser)
    case ValueTag.integers:
      let width = Int(try copyByte(&parser) & 127)
      guard (1...8).contains(width) else { throw parser.corrupt("integers cannot be \(width) bytes wide") }
      return try copy(try count(&parser) * width, &parser)
    default: break
    }
    guard depth < depthLimit else {
      throw ArchiveError(.limitExceeded, "values are nested more than \(depthLimit) deep", offset: parser.offset)
    }
    depth += 1
    defer { depth -= 1 }
    switch tag {
    case ValueTag.object: try object(&parser)
    case ValueTag.map:
      let tag = try copyByte(&parser)
      guard ValueTag.isFieldTag(tag) else { throw parser.corrupt("\(tag) is not the tag of a map's values") }
      for _ in 0..<(try count(&parser)) {
        try copy(try count(&parser), &parser)
        if tag == ValueTag.any { try tagged(&parser) } else { try value(tag, &parser) }
      }
    case ValueTag.array:
      for _ in 0..<(try count(&parser)) { try tagged(&parser) }
    case ValueTag.packed:
      let inner = try copyByte(&parser)
      guard ValueTag.isPackable(inner) else { throw parser.corrupt("\(inner) is not the tag of packed elements") }
      for _ in 0..<(try count(&parser)) { try value(inner, &parser) }
    default: throw parser.corrupt("\(tag) is not the tag of a value")
    }
  }

  /// The one thing that changes: the number of the shape.
  private mutating func object(_ parser: inout ByteParser) throws(ArchiveError) {
    let shape = try number(&parser)
    guard shape < UInt64(shapes.count) else { throw parser.corrupt("there is no shape \(shape)") }
    write(UInt64(shapes[Int(shape)]))
    for field in tables.fields[tables.fieldRange(Int(shape))] {
      var tag = UInt8(truncatingIfNeeded: field)
      if tag == ValueTag.any {
        tag = try copyByte(&parser)
        if tag == ValueTag.absent { continue }
      }
      try value(tag, &parser)
    }
  }

  private mutating func integer(_ parser: inout ByteParser) throws(ArchiveError) {
    let first = try copyByte(&parser)
    switch first {
    case ..<240: break
    case ..<248: try copy(Int(first) - 239, &parser)
    case 248: try copy(8, &parser)
    case 249, 250: try copy(16, &parser)
    case TwoByteNumber.firstByte...: try copy(1, &parser)
    default: throw parser.corrupt("\(first) does not begin an integer")
    }
  }

  // MARK: Parts

  /// Reads a count, which the bytes left must allow, and writes it as it stood.
  private mutating func count(_ parser: inout ByteParser) throws(ArchiveError) -> Int {
    let count = try number(&parser)
    guard count <= UInt64(parser.remaining) else { throw parser.truncated("a list") }
    write(count)
    return Int(count)
  }

  private func number(_ parser: inout ByteParser) throws(ArchiveError) -> UInt64 {
    let first = try parser.byte()
    if first < 240 { return UInt64(first) }
    if first >= TwoByteNumber.firstByte {
      return TwoByteNumber.first + UInt64(first - TwoByteNumber.firstByte) << 8 + UInt64(try parser.byte())
    }
    guard first < 248 else { throw parser.corrupt("\(first) does not begin a number") }
    var value: UInt64 = 0
    for index in 0..<(Int(first) - 239) { value |= UInt64(try parser.byte()) << UInt64(8 * index) }
    return value
  }

  private mutating func write(_ number: UInt64) {
    guard number >= TwoByteNumber.first else { return output.append(UInt8(number)) }
    if number < TwoByteNumber.end {
      let rest = number - TwoByteNumber.first
      output.append(TwoByteNumber.firstByte + UInt8(rest >> 8))
      return output.append(UInt8(truncatingIfNeeded: rest))
    }
    let width = (64 - number.leadingZeroBitCount + 7) / 8
    output.append(UInt8(239 + width))
    for index in 0..<width { output.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }

  private mutating func copyByte(_ parser: inout ByteParser) throws(ArchiveError) -> UInt8 {
    let byte = try parser.byte()
    output.append(byte)
    return byte
  }

  private mutating func copy(_ length: Int, _ parser: inout ByteParser) throws(ArchiveError) {
    guard length <= parser.remaining else { throw parser.truncated("a value") }
    let start = parser.position
    try parser.seek(to: start + length)
    output.append(contentsOf: parser.data(in: start..<parser.position))
  }
}

extension CodingTables {
  /// Adds the keys and shapes of other tables that these lack; returns the number in these of each of their shapes.
  ///
  /// Throws `limitExceeded` when there would be too many; then these stay as they are.
  mutating func merge(_ other: TableContent) throws(ArchiveError) -> [UInt32] {
    var merged = content
    var keys: [KeyText: UInt32] = [:]
    for key in 0..<merged.keyCount {
      let text = KeyText(rawValue: merged.key(key))
      if keys[text] == nil { keys[text] = UInt32(key) }
    }
    var known: [[UInt32]: UInt32] = [:]
    for shape in 0..<merged.shapeCount {
      let fields = Array(merged.fields[merged.fieldRange(shape)])
      if known[fields] == nil { known[fields] = UInt32(shape) }
    }
    var numbers: [UInt32] = []
    for shape in 0..<other.shapeCount {
      let fields = other.fields[other.fieldRange(shape)].map { field in
        let text = KeyText(rawValue: other.key(Int(field >> 8)))
        let key = keys[text] ?? merged.appendKey(text.rawValue)
        keys[text] = key
        return key << 8 | field & 0xFF
      }
      if let number = known[fields] {
        numbers.append(number)
        continue
      }
      merged.fields += fields
      merged.shapeEnds.append(UInt32(merged.fields.count))
      known[fields] = UInt32(merged.shapeCount - 1)
      numbers.append(UInt32(merged.shapeCount - 1))
    }
    guard merged.keyCount <= CodingLimits.tableEntries, merged.shapeCount <= CodingLimits.tableEntries else {
      throw ArchiveError(.limitExceeded, "the archives have too many keys and kinds of state together")
    }
    replace(merged)
    return numbers
  }
}
