import FoundationEssentials

/// Rewrites encoded records so that they fit other tables, bit for bit but for the numbers of their shapes.
struct RecordTranscoder {
  /// The keys and shapes that the records were encoded against.
  let tables: TableContent
  /// The number of each shape in the other tables.
  let shapes: [UInt32]

  /// The bytes of a record against the other tables; hostile bytes throw.
  func transcode(_ record: Data) throws(ArchiveError) -> [UInt8] {
    try record.copyRecord(tables) { Int(shapes[$0]) }
  }
}

/// Finds the keys and shapes that records use, and rewrites the records so that they fit tables of those alone.
struct TableCollector {
  /// The keys and shapes that were used so far, in the order of first use.
  private(set) var collected = TableContent()
  private let tables: TableContent
  private var keys: [UInt32?]
  private var shapes: [UInt32?]

  /// Prepares for records against tables.
  init(_ tables: TableContent) {
    self.tables = tables
    keys = Array(repeating: nil, count: tables.keyCount)
    shapes = Array(repeating: nil, count: tables.shapeCount)
  }

  /// The bytes of a record against the collected tables; hostile bytes throw.
  mutating func transcode(_ record: Data) throws(ArchiveError) -> [UInt8] {
    try record.copyRecord(tables) { Int(collect($0)) }
  }

  private mutating func collect(_ shape: Int) -> UInt32 {
    if let known = shapes[shape] { return known }
    for field in tables.fields[tables.fieldRange(shape)] {
      let old = Int(field >> 8)
      let key = keys[old] ?? collected.appendKey(tables.key(old))
      keys[old] = key
      collected.fields.append(key << 8 | field & 0xFF)
    }
    collected.shapeEnds.append(UInt32(collected.fields.count))
    let number = UInt32(collected.shapeCount - 1)
    shapes[shape] = number
    return number
  }
}

extension Data {
  /// The bytes of a record with other numbers of shapes.
  fileprivate func copyRecord(
    _ tables: TableContent, _ number: (Int) -> Int
  ) throws(ArchiveError) -> [UInt8] {
    // Found first, copied then: the walk's visitor cannot hold a closure that does not escape.
    let result: Result<[UInt8], CodingFailure> = withBytes { bytes in
      Result { () throws(CodingFailure) in
        var found = FoundShapes()
        try bytes.walk(tables, &found)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var copied = 0
        for (shape, range) in found.shapes {
          output.append(bytes[copied..<range.lowerBound])
          output.append(number: number(shape))
          copied = range.upperBound
        }
        output.append(bytes[copied..<bytes.count])
        return output
      }
    }
    do throws(CodingFailure) { return try result.get() } catch { throw error.archiveError }
  }
}

/// The shapes that a walk came by, in order.
private struct FoundShapes: ValueVisitor {
  var shapes: [(shape: Int, range: Range<Int>)] = []

  mutating func visit(shape: Int, at range: Range<Int>) { shapes.append((shape, range)) }
}

extension Borrowed where Element == UInt8 {
  /// Walks through a record, which must be whole and nothing more.
  func walk(_ tables: TableContent, _ visitor: inout some ValueVisitor) throws(CodingFailure) {
    var cursor = ByteCursor(self)
    let tag = try cursor.readTag()
    let result: Result<Void, CodingFailure> = tables.withView { view in
      Result { () throws(CodingFailure) in
        try ValueWalker(tables: view, depthLimit: CodingLimits.depth).walk(tag, &cursor, &visitor)
      }
    }
    try result.get()
    guard cursor.remaining == 0 else { throw cursor.corrupt("a node's state has bytes too many") }
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
