import FoundationEssentials

/// The fixed header of a base archive: where its sections are and how much is in them.
///
/// The sections follow each other without overlap in the order of the fields, so that checking the order checks
/// everything. `Docs/ArchiveFormat.md` is the specification.
struct BaseHeader: Hashable, Sendable {
  /// The first eight bytes of every base archive.
  static let magic: UInt64 = 0x0A1A_0A0D_4153_5289
  /// The number of bytes of the header.
  static let byteCount = 80
  /// The format version that this module writes and reads.
  static let formatVersion: UInt16 = 3
  /// The bytes of one entry of the table of branches.
  static let branchByteCount = 16
  /// The bytes of one entry of each index.
  static let indexEntryByteCount = 8
  /// The number that stands for the parent of the roots.
  static let rootID: UInt32 = .max

  /// The fingerprint of everything after it.
  var fingerprint: UInt64 = 0
  /// The number of nodes.
  var nodeCount: UInt32 = 0
  /// The number that the next node will get.
  var nextID: UInt32 = 0
  /// The bytes of all nodes' states.
  var liveBytes: UInt64 = 0
  /// Where the tables of keys and shapes begin; the context ends there.
  var tables: UInt32 = 0
  /// Where the class tags begin.
  var tags: UInt32 = 0
  /// Where the table of branches begins; a multiple of 16.
  var branches: UInt32 = 0
  /// The number of branches: the nodes that have children, and the parent of the roots.
  var branchCount: UInt32 = 0
  /// Where the records begin; the branches' names and children are before them.
  var records: UInt32 = 0
  /// Where the index by number begins; a multiple of 8.
  var numberIndex: UInt32 = 0
  /// Where the index by path begins.
  var pathIndex: UInt32 = 0
  /// The number of bytes of the archive.
  var end: UInt32 = 0

  /// The fields that stand one after the other in the header.
  private static var fields: [WritableKeyPath<Self, UInt32>] {
    [\.tables, \.tags, \.branches, \.branchCount, \.records, \.numberIndex, \.pathIndex, \.end]
  }

  /// Where the context begins.
  var context: Int { Self.byteCount }

  /// Where the branches' names and children begin.
  var branchBodies: Int { Int(branches) + Int(branchCount) * Self.branchByteCount }

  /// Writes the header.
  func encode(into buffer: inout ByteWriter) {
    buffer.writeFixed(Self.magic)
    buffer.writeFixed(Self.formatVersion)
    buffer.writeFixed(UInt16(Self.byteCount))
    buffer.writeFixed(UInt32(0))
    buffer.writeFixed(fingerprint)
    buffer.writeFixed(nodeCount)
    buffer.writeFixed(nextID)
    buffer.writeFixed(liveBytes)
    for field in Self.fields { buffer.writeFixed(self[keyPath: field]) }
    buffer.writeFixed(UInt64(0))
  }

  /// Reads and checks the header of an archive of `byteCount` bytes.
  init(parsing parser: inout ByteCursor, byteCount: Int, limits: RestorationArchive.Limits) throws(ArchiveError) {
    guard parser.remaining >= 8, try parser.readFixed(UInt64.self) == Self.magic else {
      throw ArchiveError(.notAnArchive, "these bytes do not begin as an archive does", offset: 0)
    }
    try Self.checkVersion(&parser, of: "the archive")
    guard try parser.readFixed(UInt16.self) == Self.byteCount, try parser.readFixed(UInt32.self) == 0 else {
      throw ArchiveError(.corrupt, "the archive has a header of another length", offset: 10)
    }
    fingerprint = try parser.readFixed()
    nodeCount = try parser.readFixed()
    nextID = try parser.readFixed()
    liveBytes = try parser.readFixed()
    for field in Self.fields { self[keyPath: field] = try parser.readFixed() }
    guard try parser.readFixed(UInt64.self) == 0 else { throw parser.corrupt("reserved bytes are not zero") }
    guard Int(end) <= byteCount else {
      throw ArchiveError(
        .truncated, "the archive has \(byteCount) bytes of \(end); take another copy", offset: byteCount)
    }
    let indexBytes = Int(nodeCount) * Self.indexEntryByteCount
    guard
      Int(end) == byteCount, context <= tables, tables <= tags, tags <= branches, branches % 16 == 0, branchCount >= 1,
      branchBodies <= Int(records), records <= numberIndex, numberIndex % 8 == 0,
      Int(pathIndex) == Int(numberIndex) + indexBytes, Int(end) == Int(pathIndex) + indexBytes,
      Int(branchCount) <= Int(nodeCount) + 1, nodeCount <= nextID, liveBytes <= UInt64(numberIndex - records)
    else {
      throw ArchiveError(.corrupt, "the archive's header contradicts itself", offset: 24)
    }
    guard Int(nodeCount) <= limits.nodeCount else {
      throw ArchiveError(
        .limitExceeded, "the archive has \(nodeCount) nodes and the limit is \(limits.nodeCount)", offset: 24)
    }
  }

  /// Refuses every format version but this module's own.
  static func checkVersion(_ parser: inout ByteCursor, of whose: String) throws(ArchiveError) {
    let version = try parser.readFixed(UInt16.self)
    guard version != formatVersion else { return }
    throw ArchiveError(
      version == 0 ? .corrupt : .unsupportedVersion,
      "\(whose) is of format \(version) and this program reads format \(formatVersion)", offset: 8)
  }

  /// Makes a header to be filled in.
  init() {}
}
