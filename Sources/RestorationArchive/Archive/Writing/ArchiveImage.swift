import FoundationEssentials

/// A base archive being put together, node after node, parents first.
struct ArchiveImage: ~Copyable {
  /// A node whose children are being written.
  private struct Open {
    var branch: UInt32
    var hash: PathHash
  }

  /// The records, each a length and a block.
  private var records: ImageMemory
  private var branchEntries: [(id: UInt32, parent: UInt32, body: UInt32, count: UInt32)] = []
  private var branchBodies = ByteWriter(capacity: 4096)
  private var numbers: [UInt64] = []
  private var paths: [UInt64] = []
  private var open: [Open] = [Open(branch: 0, hash: .root)]
  private let depthLimit: Int
  private var rootChildren: [UInt32] = []

  /// Makes an image of nothing, with room for the expected bytes.
  init(nodeCount: Int, liveBytes: Int, front: Int, depthLimit: Int) {
    self.depthLimit = depthLimit
    // Damaged archives may tell of more or less than there is.
    let expected = min(max(nodeCount, 0), 1 << 20)
    records = ImageMemory(
      front: min(max(front, 0), 1 << 26) + 4096, expecting: min(max(liveBytes, 0), 1 << 28) + expected * 64)
    numbers.reserveCapacity(expected)
    paths.reserveCapacity(expected)
  }

  /// The bytes of the records so far.
  var recordBytes: Int { records.count }

  /// Writes the head of a node; its state must follow at once.
  ///
  /// - Parameter depth: 1 for a root; at most one more than that of the node before.
  mutating func begin(
    _ node: RestorationArchive.Writer.Visit, children: [UInt32], depth: Int, tag: UInt32?
  ) throws(ArchiveError) {
    guard depth <= depthLimit else {
      throw ArchiveError(.limitExceeded, "the tree is deeper than \(depthLimit) levels")
    }
    open.removeSubrange(depth...)
    let parent = open[depth - 1]
    if depth == 1 { rootChildren.append(node.id) }
    let hash = parent.hash.appending(node.name)
    var branch: UInt32?
    if !children.isEmpty {
      let index = UInt32(branchEntries.count + 1)
      branchEntries.append((node.id, parent.branch, UInt32(branchBodies.count), UInt32(children.count)))
      branchBodies.writeString(node.name)
      ChildList.encode(children, into: &branchBodies)
      open.append(Open(branch: index, hash: hash))
      branch = index
    }
    guard records.count < Int(UInt32.max / 2) else {
      throw ArchiveError(.limitExceeded, "the archive would be bigger than 2 GiB; lower its budget")
    }
    let position = UInt64(records.count)
    numbers.append(UInt64(node.id) << 32 | position)
    paths.append(UInt64(hash.key) << 32 | position)
    NodeBlock.encodeHead(
      id: node.id, parent: parent.branch, name: node.name, branch: branch, tag: tag, attributes: node.attributes,
      before: node.payload.count, into: &records.writer)
  }

  /// Writes the state of the node begun last.
  mutating func append(state: Borrowed<UInt8>) { records.writer.write(state) }

  /// Puts the sections behind each other.
  consuming func assemble(
    context: RestorationArchive.Context, tables: TableContent, tags: [RestorationClass], nextID: UInt32, nodeCount: Int,
    liveBytes: Int
  ) throws(ArchiveError) -> Data {
    var header = BaseHeader()
    header.nodeCount = UInt32(clamping: nodeCount)
    header.nextID = nextID
    header.liveBytes = UInt64(clamping: liveBytes)
    var front = ByteWriter(capacity: 4096)
    header.encode(into: &front)
    context.encode(into: &front)
    header.tables = UInt32(front.count)
    tables.write(from: .start, into: &front)
    header.tags = UInt32(front.count)
    front.writeNumber(UInt64(tags.count))
    for tag in tags { front.writeString(tag.rawValue) }
    while front.count & 15 != 0 { front.writeByte(0) }
    header.branches = UInt32(front.count)
    header.branchCount = UInt32(branchEntries.count + 1)

    var rootBody = ByteWriter(capacity: 64)
    rootBody.writeString("")
    ChildList.encode(rootChildren, into: &rootBody)
    let bodies = UInt32(header.branchBodies)
    let first = (id: BaseHeader.rootID, parent: UInt32(0), body: UInt32(0), count: UInt32(rootChildren.count))
    front.write(branch: first, body: bodies)
    for entry in branchEntries {
      front.write(branch: entry, body: bodies + UInt32(rootBody.count) + entry.body)
    }
    rootBody.withBytes { front.write($0) }
    branchBodies.withBytes { front.write($0) }
    header.records = UInt32(front.count)
    while (front.count + records.count) & 7 != 0 { records.writer.writeByte(0) }
    guard front.count + records.count + 16 * nodeCount < Int(UInt32.max) else {
      throw ArchiveError(.limitExceeded, "the archive would be bigger than 4 GiB; lower its budget")
    }
    header.numberIndex = header.records + UInt32(records.count)
    header.pathIndex = header.numberIndex + UInt32(8 * nodeCount)
    header.end = header.pathIndex + UInt32(8 * nodeCount)
    // Of those with one key the places come in rising order.
    numbers.sort()
    paths.sort()
    records.append(numbers, adding: UInt64(header.records))
    records.append(paths, adding: UInt64(header.records))
    front.withBytes { records.prepend($0) }
    precondition(records.count == Int(header.end), "The sections are not as long as the header says.")
    header.fingerprint = records.withBytes(from: BaseHeader.byteCount) { Fingerprint.of($0) }
    front.truncate(to: 0)
    header.encode(into: &front)
    front.withBytes { records.replace(with: $0) }
    return records.takeData()
  }
}

extension ByteWriter {
  /// Writes an entry of the table of branches.
  fileprivate mutating func write(
    branch: (id: UInt32, parent: UInt32, body: UInt32, count: UInt32), body: UInt32
  ) {
    for field in [branch.id, branch.parent, body, branch.count] { writeFixed(field) }
  }
}
