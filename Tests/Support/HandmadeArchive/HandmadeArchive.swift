package import FoundationEssentials

/// A base put together field by field as `Docs/ArchiveFormat.md` says, to tell lies that no writer tells.
package struct HandmadeArchive {
  /// The runs of a list of children: the zigzag difference, and the number of further ones.
  package typealias Runs = [(step: UInt64, further: UInt64)]

  /// A node's block.
  package struct Block {
    /// The node's number.
    package var id: UInt32
    /// Its parent's number; nil for a root.
    package var parent: UInt32?
    /// Its name.
    package var name: String
    /// Its children; no list when there are none.
    package var children: Runs = []
    /// The bytes of its state.
    package var state: [UInt8] = []
    /// Its flags.
    package var flags: UInt64 = 0

    /// Describes a block.
    package init(
      id: UInt32, parent: UInt32? = nil, name: String, children: Runs = [], state: [UInt8] = [], flags: UInt64 = 0
    ) {
      self.id = id
      self.parent = parent
      self.name = name
      self.children = children
      self.state = state
      self.flags = flags
    }
  }

  /// The blocks, in the order of their numbers.
  package var blocks: [Block]
  /// The list of the roots.
  package var roots: Runs
  /// The number of nodes it tells of; that of the blocks when nil.
  package var nodeCount: UInt32?
  /// The bytes of states it tells of.
  package var liveBytes: UInt64 = 0
  /// The tables of keys and shapes.
  package var tables: [UInt8] = []
  /// The class tags.
  package var tags: [UInt8] = []
  /// Bytes behind the runs of the list of the roots, and counted with them.
  package var behindRoots: [UInt8] = []

  /// Puts an archive together.
  package init(blocks: [Block], roots: Runs, nodeCount: UInt32? = nil, liveBytes: UInt64 = 0) {
    self.blocks = blocks
    self.roots = roots
    self.nodeCount = nodeCount
    self.liveBytes = liveBytes
  }

  /// Nodes in a chain, each of which lists all that come after it as its children.
  package static func overlapping(_ count: UInt32) -> HandmadeArchive {
    func after(_ first: UInt32) -> Runs {
      first < count ? [(step: 2 * UInt64(first), further: UInt64(count - first - 1))] : []
    }
    return HandmadeArchive(
      blocks: (0..<count).map {
        Block(id: $0, parent: $0 == 0 ? nil : $0 - 1, name: "n\($0)", children: after($0 + 1))
      },
      roots: after(0))
  }

  /// The bytes.
  package func bytes() -> Data {
    var body: [UInt8] = []
    var places: [UInt64] = []
    for block in blocks {
      places.append(UInt64(72 + body.count))
      var bytes = Self.number(UInt64(block.id)) + Self.number(block.parent.map { UInt64($0) + 1 } ?? 0)
      bytes += Self.number((block.children.isEmpty ? 1 : 5) | block.flags << 9) + Self.text(block.name)
      if !block.children.isEmpty { bytes += Self.list(block.children) }
      bytes += block.state
      body += Self.number(UInt64(bytes.count)) + bytes
    }
    while body.count % 8 != 0 { body.append(0) }
    let blocksEnd = 72 + body.count
    let count = Int(nodeCount ?? UInt32(blocks.count))
    var numbers = zip(blocks, places).flatMap { Self.fixed(UInt64($0.id) << 32 | $1) }
    numbers += Array(repeating: 0, count: 8 * count - numbers.count)
    body += numbers + Array(repeating: 0, count: 8 * count) + Self.list(roots, behindRoots)
    let context = 72 + body.count
    body += [1, 0, 0, 0, 0, 0]
    let tablesStart = 72 + body.count
    body += tables
    let tagsStart = 72 + body.count
    body += tags
    var header: [UInt8] = [0x89, 0x52, 0x53, 0x41, 0x0D, 0x0A, 0x1A, 0x0A, 6, 0, 72, 0, 0, 0, 0, 0]
    header += Self.fixed(UInt64(7)) + Self.fixed(UInt64(0))
    header += Self.fixed(UInt32(count)) + Self.fixed(UInt32(max(count, blocks.count))) + Self.fixed(liveBytes)
    let end = 72 + body.count
    for place in [blocksEnd, context, tablesStart, tagsStart, end, 0] { header += Self.fixed(UInt32(place)) }
    return Data(header + body)
  }

  private static func list(_ runs: Runs, _ behind: [UInt8] = []) -> [UInt8] {
    let list = number(UInt64(runs.count)) + runs.flatMap { number($0.step) + number($0.further) } + behind
    return number(UInt64(list.count)) + list
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
