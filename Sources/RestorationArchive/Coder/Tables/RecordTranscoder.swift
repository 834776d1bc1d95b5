import FoundationShim

/// Rewrites encoded records so that they fit other tables, bit for bit but for the numbers of their shapes.
///
/// The other tables get those keys and shapes that the records use and they lack.
struct RecordTranscoder {
  /// The other tables, which go on from what they were.
  private(set) var target: TableContent
  private let source: TableContent
  /// The keys and the shapes of the other tables.
  private var keys: [KeyText: UInt32] = [:]
  private var known: [[UInt32]: UInt32] = [:]
  /// By shape of the source: its number in the other tables.
  private var numbers: [UInt32?]

  /// Prepares for records against tables.
  init(from source: TableContent, to target: TableContent = TableContent()) {
    self.source = source
    self.target = target
    numbers = Array(repeating: nil, count: source.shapeCount)
    for key in (0..<target.keyCount).reversed() { keys[KeyText(rawValue: target.key(key))] = UInt32(key) }
    for shape in (0..<target.shapeCount).reversed() {
      known[Array(target.fields[target.fieldRange(shape)])] = UInt32(shape)
    }
  }

  /// The bytes of a record against the other tables; hostile bytes throw.
  ///
  /// Throws `limitExceeded` when those would hold too much.
  mutating func transcode(_ record: Data) throws(ArchiveError) -> [UInt8] {
    let found = try record.parse { (cursor) throws(ArchiveError) in
      let tag = try cursor.readTag()
      var found = FoundShapes()
      let result: Result<Void, ArchiveError> = source.withView { view in
        Result { () throws(ArchiveError) in
          try ValueWalker(tables: view, depthLimit: CodingLimits.depth).walk(tag, &cursor, &found)
        }
      }
      try result.get()
      guard cursor.remaining == 0 else { throw cursor.corrupt("a node's state has bytes too many") }
      return found.shapes
    }
    var output = ByteWriter(capacity: record.count + 16)
    var copied = 0
    for (shape, range) in found {
      let number = try number(of: shape)
      record.withBytes { output.write($0[copied..<range.lowerBound]) }
      output.writeNumber(UInt64(number))
      copied = range.upperBound
    }
    record.withBytes { output.write($0[copied..<$0.count]) }
    return output.array
  }

  private mutating func number(of shape: Int) throws(ArchiveError) -> UInt32 {
    if let number = numbers[shape] { return number }
    let range = source.fieldRange(shape)
    guard target.keyCount + range.count <= CodingLimits.tableEntries, target.shapeCount < CodingLimits.tableEntries
    else {
      throw ArchiveError(.limitExceeded, "the archives have too many keys and kinds of state together")
    }
    let fields = source.fields[range].map { field in
      let text = source.key(Int(field >> 8))
      let key = keys[KeyText(rawValue: text)] ?? target.appendKey(text)
      keys[KeyText(rawValue: text)] = key
      return key << 8 | field & 0xFF
    }
    let number = known[fields] ?? UInt32(target.shapeCount)
    if number == target.shapeCount {
      target.fields += fields
      target.shapeEnds.append(UInt32(target.fields.count))
      known[fields] = number
    }
    numbers[shape] = number
    return number
  }
}

/// The shapes that a walk came by, in order.
private struct FoundShapes: ValueVisitor {
  var shapes: [(shape: Int, range: Range<Int>)] = []

  mutating func visit(shape: Int, at range: Range<Int>) { shapes.append((shape, range)) }
}
