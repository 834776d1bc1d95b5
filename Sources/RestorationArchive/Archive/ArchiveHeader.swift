import FoundationShim

/// The fixed header of a base or a delta: the totals of the archive up to it, and the places of its sections.
///
/// The sections follow each other without overlap in the order of the fields, so that checking the order checks
/// everything. `Docs/ArchiveFormat.md` is the specification.
struct ArchiveHeader: Hashable, Sendable {
  /// The first eight bytes of every base and every delta.
  static let magic: UInt64 = 0x0A1A_0A0D_4153_5289
  /// The number of bytes of the header.
  static let byteCount = 72
  /// The format version that this module writes and reads.
  static let formatVersion: UInt16 = 6
  /// The number that stands for the parent of the roots.
  static let rootID: UInt32 = .max

  /// 0 for a base; for a delta its place in the order of the base's deltas.
  var number: UInt32 = 0
  /// The fingerprint of the base: of everything after its header.
  var fingerprint: UInt64 = 0
  /// The context's time of saving, as bits: it changes with every save when nothing else of the context does.
  var timeSaved: UInt64 = 0
  /// The number of nodes there are with this base or delta.
  var nodeCount: UInt32 = 0
  /// The number that the next node will get; its part is that of the whole archive.
  var nextID: UInt32 = 0
  /// The bytes of all nodes' states.
  var liveBytes: UInt64 = 0
  /// Where the nodes' blocks, or a delta's changes, end.
  ///
  /// In a base it is a multiple of 8, and two indexes and the list of the roots follow.
  var blocksEnd: UInt32 = 0
  /// Where the context begins; it is empty in a delta when the one before holds.
  var context: UInt32 = 0
  /// Where the tables of keys and shapes, or the additions to them, begin.
  var tables: UInt32 = 0
  /// Where the class tags, or the additional ones, begin.
  var tags: UInt32 = 0
  /// The number of bytes of the base or delta.
  var end: UInt32 = 0
  /// The seconds from the start of the machine to the time of saving; 0 when the program doesn't ask for ages.
  var bootSeconds: UInt32 = 0

  /// The bytes of the blocks or changes.
  var blocks: Range<Int> { Self.byteCount..<Int(blocksEnd) }
  /// The bytes of each of a base's two indexes.
  private var indexBytes: Int { Int(nodeCount) * SortedIndex.entryByteCount }
  /// Where a base's index by link begins.
  var linkIndex: Int { Int(blocksEnd) + indexBytes }
  /// The bytes of a base's list of the roots.
  var roots: Range<Int> { linkIndex + indexBytes..<Int(context) }

  /// Writes the header.
  func encode(into buffer: inout ByteWriter) {
    buffer.writeFixed(Self.magic)
    buffer.writeFixed(Self.formatVersion)
    buffer.writeFixed(UInt16(Self.byteCount))
    buffer.writeFixed(number)
    for word in [fingerprint, timeSaved] { buffer.writeFixed(word) }
    for count in [nodeCount, nextID] { buffer.writeFixed(count) }
    buffer.writeFixed(liveBytes)
    for place in [blocksEnd, context, tables, tags, end, bootSeconds] { buffer.writeFixed(place) }
  }

  /// Makes a header to be filled in.
  init() {}

  /// Reads and checks the header in `byteCount` bytes: of a base, or of the delta of a number and a base.
  init(
    parsing parser: inout ByteCursor, of byteCount: Int, delta: (number: Int, base: UInt64)? = nil,
    limits: RestorationArchive.Limits
  ) throws(ArchiveError) {
    let name = delta.map { "delta \($0.number)" } ?? "the archive"
    guard parser.remaining >= 8, try parser.readFixed(UInt64.self) == Self.magic else {
      throw ArchiveError(.notAnArchive, "the bytes of \(name) do not begin as an archive does", offset: 0)
    }
    let version = try parser.readFixed(UInt16.self)
    guard version == Self.formatVersion else {
      throw ArchiveError(
        version == 0 ? .corrupt : .unsupportedVersion,
        "\(name) is of format \(version) and this program reads format \(Self.formatVersion)", offset: 8)
    }
    guard try parser.readFixed(UInt16.self) == Self.byteCount else {
      throw ArchiveError(.corrupt, "\(name) has a header of another length", offset: 10)
    }
    number = try parser.readFixed()
    fingerprint = try parser.readFixed()
    let isOfBase = delta.map { $0.base == fingerprint } ?? true
    guard Int(number) == delta?.number ?? 0, isOfBase else {
      let base = delta == nil ? "a" : isOfBase ? "this" : "another"
      let found = number == 0 ? "a base" : "delta \(number) of \(base) base"
      throw ArchiveError(.wrongBase, "\(found) stands in the place of \(name)", offset: 12)
    }
    timeSaved = try parser.readFixed()
    nodeCount = try parser.readFixed()
    nextID = try parser.readFixed()
    liveBytes = try parser.readFixed()
    blocksEnd = try parser.readFixed()
    context = try parser.readFixed()
    tables = try parser.readFixed()
    tags = try parser.readFixed()
    end = try parser.readFixed()
    bootSeconds = try parser.readFixed()
    guard Int(end) == byteCount else {
      throw ArchiveError(
        Int(end) > byteCount ? .truncated : .corrupt, "\(name) has \(byteCount) bytes of \(end); take another copy",
        offset: byteCount)
    }
    guard Int(nodeCount) <= limits.nodeCount else {
      throw ArchiveError(
        .limitExceeded, "the archive has \(nodeCount) nodes and the limit is \(limits.nodeCount)", offset: 32)
    }
    let isBase = delta == nil
    guard Self.byteCount <= blocksEnd, context <= tables, tables <= tags, tags <= end,
      nodeCount <= NodeNumber.count(below: nextID), NodeNumber.count(below: nextID) <= NodeNumber.countLimit,
      isBase ? linkIndex + indexBytes <= context && blocksEnd % 8 == 0 : blocksEnd == context,
      liveBytes <= (isBase ? UInt64(blocks.count) : 1 << 40)
    else {
      throw ArchiveError(.corrupt, "the header of \(name) contradicts itself", offset: 32)
    }
  }
}
