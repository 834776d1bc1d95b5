import FoundationEssentials

/// Reads stored values of any kind, guided by their tags and the shapes: see ``ValueTag``.
struct StoredValueParser {
  /// The keys and shapes.
  let tables: TableContent
  private var depth = 0
  private let depthLimit = 64

  /// Makes a parser for values coded against tables.
  init(tables: TableContent) {
    self.tables = tables
  }

  /// Reads a tag and the value behind it.
  mutating func value(_ parser: inout ByteParser) throws(ArchiveError) -> RestorationArchive.StoredValue {
    let tag = try parser.byte()
    guard tag != ValueTag.absent, ValueTag.isValueTag(tag) else {
      throw parser.corrupt("\(tag) is not the tag of a value")
    }
    return try value(tag, &parser)
  }

  private mutating func value(
    _ tag: UInt8, _ parser: inout ByteParser
  ) throws(ArchiveError) -> RestorationArchive.StoredValue {
    switch tag {
    case ValueTag.null: return .null
    case ValueTag.bool: return .bool(try parser.byte() != 0)
    case ValueTag.integer: return .integer(try integer(&parser))
    case ValueTag.short: return .number(Double(bitPattern: try number(&parser).byteSwapped))
    case ValueTag.double: return .number(Double(bitPattern: try parser.integer()))
    case ValueTag.float: return .number(Double(Float(bitPattern: try parser.integer())))
    case ValueTag.half: return .number(Double(Self.half(try parser.integer())))
    case ValueTag.string: return .string(try text(&parser))
    case ValueTag.data: return .data(try data(&parser))
    case ValueTag.date:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try parser.integer())))
    case ValueTag.uuid: return .uuid(try uuid(&parser))
    default: break
    }
    guard depth < depthLimit else {
      throw ArchiveError(.limitExceeded, "values are nested more than \(depthLimit) deep", offset: parser.offset)
    }
    depth += 1
    defer { depth -= 1 }
    switch tag {
    case ValueTag.object: return try object(&parser)
    case ValueTag.map: return try map(&parser)
    case ValueTag.array:
      var elements: [RestorationArchive.StoredValue] = []
      for _ in 0..<(try count(&parser)) { elements.append(try value(&parser)) }
      return .array(elements)
    case ValueTag.packed:
      let inner = try parser.byte()
      guard ValueTag.isPackable(inner) else { throw parser.corrupt("\(inner) is not the tag of packed elements") }
      var elements: [RestorationArchive.StoredValue] = []
      for _ in 0..<(try count(&parser)) { elements.append(try value(inner, &parser)) }
      return .array(elements)
    case ValueTag.integers: return try integers(&parser)
    default: throw parser.corrupt("\(tag) is not the tag of a value")
    }
  }

  // MARK: Kinds

  private mutating func object(_ parser: inout ByteParser) throws(ArchiveError) -> RestorationArchive.StoredValue {
    let shape = try number(&parser)
    guard shape < UInt64(tables.shapeCount) else { throw parser.corrupt("there is no shape \(shape)") }
    var fields: [RestorationArchive.StoredValue.Field] = []
    for field in tables.fields[tables.fieldRange(Int(shape))] {
      var tag = UInt8(truncatingIfNeeded: field)
      if tag == ValueTag.any {
        tag = try parser.byte()
        if tag == ValueTag.absent { continue }
      }
      guard Int(field >> 8) < tables.keyCount else { throw parser.corrupt("there is no key \(field >> 8)") }
      fields.append(.init(key: tables.key(Int(field >> 8)), value: try value(tag, &parser)))
    }
    return .object(fields)
  }

  private mutating func map(_ parser: inout ByteParser) throws(ArchiveError) -> RestorationArchive.StoredValue {
    let tag = try parser.byte()
    guard ValueTag.isFieldTag(tag) else { throw parser.corrupt("\(tag) is not the tag of a map's values") }
    var fields: [RestorationArchive.StoredValue.Field] = []
    for _ in 0..<(try count(&parser)) {
      let key = try text(&parser)
      fields.append(.init(key: key, value: tag == ValueTag.any ? try value(&parser) : try value(tag, &parser)))
    }
    return .object(fields)
  }

  private func integers(_ parser: inout ByteParser) throws(ArchiveError) -> RestorationArchive.StoredValue {
    let form = try parser.byte()
    let width = Int(form & 127)
    guard (1...8).contains(width) else { throw parser.corrupt("integers cannot be \(width) bytes wide") }
    var elements: [RestorationArchive.StoredValue] = []
    for _ in 0..<(try count(&parser)) {
      let bits = try bits(width, &parser)
      elements.append(.integer(form >= 128 ? String(bits) : String(Self.unzigzag(bits))))
    }
    return .array(elements)
  }

  private func integer(_ parser: inout ByteParser) throws(ArchiveError) -> String {
    let first = try parser.byte()
    switch first {
    case ..<240: return String(Self.unzigzag(UInt64(first)))
    case ..<248: return String(Self.unzigzag(try bits(Int(first) - 239, &parser)))
    case 248: return String(try bits(8, &parser))
    case 249: return String(try parser.integer(Int128.self))
    case 250: return String(try parser.integer(UInt128.self))
    case TwoByteNumber.firstByte...: return String(Self.unzigzag(try twoByteNumber(first, &parser)))
    default: throw parser.corrupt("\(first) does not begin an integer")
    }
  }

  // MARK: Parts

  private func number(_ parser: inout ByteParser) throws(ArchiveError) -> UInt64 {
    let first = try parser.byte()
    if first < 240 { return UInt64(first) }
    if first >= TwoByteNumber.firstByte { return try twoByteNumber(first, &parser) }
    guard first < 248 else { throw parser.corrupt("\(first) does not begin a number") }
    return try bits(Int(first) - 239, &parser)
  }

  private func twoByteNumber(_ first: UInt8, _ parser: inout ByteParser) throws(ArchiveError) -> UInt64 {
    TwoByteNumber.first + UInt64(first - TwoByteNumber.firstByte) << 8 + UInt64(try parser.byte())
  }

  private func count(_ parser: inout ByteParser) throws(ArchiveError) -> Int {
    let count = try number(&parser)
    guard count <= UInt64(parser.remaining) else { throw parser.truncated("a list") }
    return Int(count)
  }

  private func bits(_ width: Int, _ parser: inout ByteParser) throws(ArchiveError) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<width { value |= UInt64(try parser.byte()) << UInt64(8 * index) }
    return value
  }

  private func text(_ parser: inout ByteParser) throws(ArchiveError) -> String {
    let start = try skip(&parser)
    return try parser.string(in: start..<parser.position)
  }

  private func data(_ parser: inout ByteParser) throws(ArchiveError) -> Data {
    let start = try skip(&parser)
    return parser.data(in: start..<parser.position)
  }

  private func skip(_ parser: inout ByteParser) throws(ArchiveError) -> Int {
    let count = try count(&parser)
    let start = parser.position
    try parser.seek(to: start + count)
    return start
  }

  private func uuid(_ parser: inout ByteParser) throws(ArchiveError) -> String {
    var text = ""
    for index in 0..<16 {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let byte = try parser.byte()
      text += String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
    }
    return text
  }

  private static func unzigzag(_ bits: UInt64) -> Int64 {
    Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)
  }

  /// The value of a half-precision bit pattern, for platforms without the type.
  private static func half(_ bits: UInt16) -> Float {
    let sign: Float = bits >> 15 == 0 ? 1 : -1
    let exponent = Int(bits >> 10 & 31)
    let fraction = Float(bits & 1023) / 1024
    switch exponent {
    case 0: return sign * fraction * 0x1p-14
    case 31: return fraction == 0 ? sign * .infinity : .nan
    default: return sign * (1 + fraction) * Float(sign: .plus, exponent: exponent - 15, significand: 1)
    }
  }
}
