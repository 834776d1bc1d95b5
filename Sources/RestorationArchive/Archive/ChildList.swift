/// A list of node numbers as it is stored: runs of consecutive numbers.
///
/// Children that were inserted one after another, or a whole list with one child more, take a few bytes.
enum ChildList {
  /// Writes a list behind the number of its bytes.
  static func encode(_ children: [UInt32], into buffer: inout ByteWriter) {
    var runs = 0
    var body = ByteWriter(capacity: 64)
    body.writeByte(0)
    var previousEnd: Int64 = 0
    var index = 0
    while index < children.count {
      let start = index
      while index + 1 < children.count, children[index + 1] &- children[index] == 1 { index += 1 }
      let step = Int64(children[start]) - previousEnd
      body.writeNumber(step.zigzag)
      body.writeNumber(UInt64(index - start))
      previousEnd = Int64(children[index]) + 1
      runs += 1
      index += 1
    }
    body.patchNumber(UInt64(runs), at: 0)
    body.withBytes { buffer.writeCounted($0) }
  }

  /// Reads a list of at most `limit` numbers that nodes can have, from a parser that ends where the list does.
  static func parse(
    _ parser: inout ByteCursor, limit: Int, nextID: UInt32
  ) throws(ArchiveError) -> [UInt32] {
    var children: [UInt32] = []
    var previousEnd: Int64 = 0
    for _ in 0..<(try parser.readCount(ofSize: 2)) {
      let step = Int64(zigzag: try parser.readNumber())
      let extra = try parser.readNumber32()
      let (start, overflow) = previousEnd.addingReportingOverflow(step)
      // Compared one by one: a sum could be more than a number holds.
      guard !overflow, let first = UInt32(exactly: start), let end = NodeNumber.end(behind: first, nextID: nextID),
        extra < end - first
      else {
        throw parser.corrupt("a list of children names a node that cannot be")
      }
      guard children.count + Int(extra) < limit else { throw parser.corrupt("a list of children is too long") }
      children.append(contentsOf: first...first + extra)
      previousEnd = start + Int64(extra) + 1
    }
    guard parser.remaining == 0 else { throw parser.corrupt("a list of children has bytes too many") }
    return children
  }
}
