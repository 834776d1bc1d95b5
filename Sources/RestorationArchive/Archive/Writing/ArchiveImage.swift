import FoundationShim

/// A base archive being put together, node after node.
struct ArchiveImage: ~Copyable {
  private var writer: ByteWriter
  private var numbers: [UInt64] = []
  private var links: [UInt64] = []

  /// Makes an image of nothing, with room for the expected bytes.
  init(nodeCount: Int, liveBytes: Int) {
    let expected = min(max(nodeCount, 0), 1 << 20)
    writer = ByteWriter(capacity: min(max(liveBytes, 0), 1 << 28) + expected * 80 + 4096)
    writer.skip(ArchiveHeader.byteCount)
    numbers.reserveCapacity(expected)
    links.reserveCapacity(expected)
  }

  /// The bytes so far.
  var byteCount: Int { writer.count }

  /// Writes the head of a node's block; its state must follow at once.
  mutating func begin(
    _ node: RestorationArchive.Writer.Slot, children: [UInt32], tag: UInt32?
  ) throws(ArchiveError) {
    guard byteCount < Int(UInt32.max / 2) else {
      throw ArchiveError(.limitExceeded, "the archive would be bigger than 2 GiB; lower its budget")
    }
    let place = UInt64(byteCount)
    numbers.append(UInt64(node.id) << 32 | place)
    links.append(UInt64(LinkHash.key(of: node.name, under: node.parent)) << 32 | place)
    NodeBlock.encodeHead(of: node, children: children, tag: tag, into: &writer)
  }

  /// Writes the state of the node begun last.
  mutating func append(state: Borrowed<UInt8>) { writer.write(state) }

  /// Writes the indexes and the list of the roots, and hands over the bytes.
  consuming func writeIndexes(_ header: inout ArchiveHeader, roots: [UInt32]) -> ByteWriter {
    while byteCount & 7 != 0 { writer.writeByte(0) }
    header.blocksEnd = UInt32(byteCount)
    numbers.sort()
    links.sort()
    writer.writeNumbers(numbers, width: 8) { $0 }
    writer.writeNumbers(links, width: 8) { $0 }
    ChildList.encode(roots, into: &writer)
    return writer
  }
}
