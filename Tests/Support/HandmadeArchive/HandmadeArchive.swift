package import FoundationEssentials

/// A base put together field by field as `Docs/ArchiveFormat.md` says, to tell lies that no writer tells.
package struct HandmadeArchive {
  /// A record.
  package struct Record {
    /// The node's number.
    package var id: UInt32
    /// The index of its parent's branch.
    package var parent: UInt32
    /// The index of its own branch; nil for a node without children.
    package var branch: UInt32?
    /// Its name, when it has no branch.
    package var name = ""
    /// The bytes of its state.
    package var state: [UInt8] = []

    /// Describes a record.
    package init(id: UInt32, parent: UInt32, branch: UInt32? = nil, name: String = "", state: [UInt8] = []) {
      self.id = id
      self.parent = parent
      self.branch = branch
      self.name = name
      self.state = state
    }
  }

  /// A branch.
  package struct Branch {
    /// The node's number; the greatest for the parent of the roots.
    package var id: UInt32
    /// The index of its parent's branch.
    package var parent: UInt32
    /// Its name.
    package var name: String
    /// The runs of its children: the zigzag difference, and the number of further ones.
    package var runs: [(step: UInt64, further: UInt64)]
    /// The number of children it tells of.
    package var count: UInt32

    /// Describes a branch.
    package init(id: UInt32, parent: UInt32, name: String, runs: [(step: UInt64, further: UInt64)], count: UInt32) {
      self.id = id
      self.parent = parent
      self.name = name
      self.runs = runs
      self.count = count
    }
  }

  /// The records, in the order of their numbers.
  package var records: [Record]
  /// The branches; the first is that of the roots.
  package var branches: [Branch]
  /// The number of nodes it tells of; that of the records when nil.
  package var nodeCount: UInt32?
  /// The bytes of states it tells of.
  package var liveBytes: UInt64 = 0
  /// The tables of keys and shapes.
  package var tables: [UInt8] = [0, 0]

  /// Puts an archive together.
  package init(records: [Record], branches: [Branch], nodeCount: UInt32? = nil, liveBytes: UInt64 = 0) {
    self.records = records
    self.branches = branches
    self.nodeCount = nodeCount
    self.liveBytes = liveBytes
  }

  /// Nodes in a chain, each of which lists all that come after it as its children.
  package static func overlapping(_ count: UInt32) -> HandmadeArchive {
    HandmadeArchive(
      records: (0..<count).map { Record(id: $0, parent: $0, branch: $0 + 1) },
      branches: (0...count).map { index in
        let first = UInt64(index)
        return Branch(
          id: index == 0 ? .max : index - 1, parent: index == 0 ? 0 : index - 1, name: "n\(index)",
          runs: index < count ? [(step: 2 * first, further: UInt64(count - index - 1))] : [], count: count - index)
      })
  }

  /// The bytes.
  package func bytes() -> Data {
    let context: [UInt8] = Array(repeating: 0, count: 8) + [1, 0, 0, 0, 0]
    let tablesStart = 80 + context.count
    let tagsStart = tablesStart + tables.count
    let branchesStart = (tagsStart + 1 + 15) / 16 * 16
    let bodiesStart = branchesStart + 16 * branches.count
    var entries: [UInt8] = []
    var bodies: [UInt8] = []
    for branch in branches {
      for field in [branch.id, branch.parent, UInt32(bodiesStart + bodies.count), branch.count] {
        entries += Self.fixed(field)
      }
      bodies += Self.text(branch.name) + Self.number(UInt64(branch.runs.count))
      for run in branch.runs { bodies += Self.number(run.step) + Self.number(run.further) }
    }
    let recordsStart = bodiesStart + bodies.count
    var blocks: [UInt8] = []
    var places: [UInt64] = []
    for record in records {
      places.append(UInt64(recordsStart + blocks.count))
      var block = Self.number(UInt64(record.id)) + Self.number(UInt64(record.parent))
      block += record.branch.map { [5] + Self.number(UInt64($0)) } ?? [1] + Self.text(record.name)
      block += record.state
      blocks += Self.number(UInt64(block.count)) + block
    }
    while (recordsStart + blocks.count) % 8 != 0 { blocks.append(0) }
    let index = recordsStart + blocks.count
    let count = Int(nodeCount ?? UInt32(records.count))
    var numbers = zip(records, places).flatMap { Self.fixed(UInt64($0.id) << 32 | $1) }
    numbers += Array(repeating: 0, count: 8 * count - numbers.count)
    var header: [UInt8] = [0x89, 0x52, 0x53, 0x41, 0x0D, 0x0A, 0x1A, 0x0A, 3, 0, 80, 0, 0, 0, 0, 0]
    header += Self.fixed(UInt64(7)) + Self.fixed(UInt32(count)) + Self.fixed(UInt32(max(count, records.count)))
    header += Self.fixed(liveBytes)
    for field in [
      tablesStart, tagsStart, branchesStart, branches.count, recordsStart, index, index + 8 * count, index + 16 * count,
    ] { header += Self.fixed(UInt32(field)) }
    header += Array(repeating: 0, count: 8)
    let front = header + context + tables + [0]
    let aligned = front + Array(repeating: 0, count: branchesStart - front.count)
    return Data(aligned + entries + bodies + blocks + numbers + Array(repeating: 0, count: 8 * count))
  }

  private static func fixed<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> T(8 * $0)) }
  }

  private static func number(_ value: UInt64) -> [UInt8] {
    if value < 240 { return [UInt8(value)] }
    if value < 1520 { return [UInt8(251 + (value - 240) / 256), UInt8((value - 240) % 256)] }
    let bytes = fixed(value).reversed().drop { $0 == 0 }.reversed()
    return [UInt8(239 + bytes.count)] + bytes
  }

  private static func text(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count)) + text.utf8 }
}
