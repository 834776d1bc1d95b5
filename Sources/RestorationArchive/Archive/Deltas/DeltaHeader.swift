import FoundationEssentials

/// The fixed header of a delta: which base and which place in the order it has, and where its sections end.
struct DeltaHeader: Hashable, Sendable {
  /// The first eight bytes of every delta.
  static let magic: UInt64 = 0x0A1A_0A0D_4453_5289
  /// The number of bytes of the header.
  static let byteCount = 64

  /// The place in the order of the base's deltas, from 1.
  var number: UInt32 = 0
  /// The fingerprint of the base.
  var base: UInt64 = 0
  /// The context's time of saving, as bits: it changes with every save when nothing else of the context does.
  var timeSaved: UInt64 = 0
  /// The number of nodes there are now.
  var nodeCount: UInt32 = 0
  /// The number that the next node will get.
  var nextID: UInt32 = 0
  /// The bytes of all nodes' states now.
  var liveBytes: UInt64 = 0
  /// Where the context ends, if there is one, and the additions to the tables begin.
  var tables: UInt32 = 0
  /// Where the additional class tags begin.
  var tags: UInt32 = 0
  /// Where the changes begin.
  var changes: UInt32 = 0
  /// The number of bytes of the delta.
  var end: UInt32 = 0

  /// Where the context is; nil when the one before holds.
  var context: Range<Int>? { Int(tables) > Self.byteCount ? Self.byteCount..<Int(tables) : nil }

  /// Writes the header.
  func encode(into buffer: inout ByteWriter) {
    buffer.writeFixed(Self.magic)
    buffer.writeFixed(BaseHeader.formatVersion)
    buffer.writeFixed(UInt16(Self.byteCount))
    buffer.writeFixed(number)
    for word in [base, timeSaved] { buffer.writeFixed(word) }
    for count in [nodeCount, nextID] { buffer.writeFixed(count) }
    buffer.writeFixed(liveBytes)
    for place in [tables, tags, changes, end] { buffer.writeFixed(place) }
  }

  /// Makes a header to be filled in.
  init() {}

  /// Reads and checks the header of the delta that should have a number and a base.
  init(
    parsing parser: inout ByteCursor, number expected: Int, base fingerprint: UInt64,
    limits: RestorationArchive.Limits
  ) throws(ArchiveError) {
    guard parser.remaining >= 8, try parser.readFixed(UInt64.self) == Self.magic else {
      throw ArchiveError(.notAnArchive, "delta \(expected) does not begin as a delta does", offset: 0)
    }
    try BaseHeader.checkVersion(&parser, of: "delta \(expected)")
    guard try parser.readFixed(UInt16.self) == Self.byteCount else {
      throw ArchiveError(.corrupt, "delta \(expected) has a header of another length", offset: 10)
    }
    number = try parser.readFixed()
    base = try parser.readFixed()
    guard number == UInt32(expected), base == fingerprint else {
      throw ArchiveError(
        .wrongBase, "delta \(expected) is number \(number) of \(base == fingerprint ? "this" : "another") base",
        offset: 12)
    }
    timeSaved = try parser.readFixed()
    nodeCount = try parser.readFixed()
    nextID = try parser.readFixed()
    liveBytes = try parser.readFixed()
    tables = try parser.readFixed()
    tags = try parser.readFixed()
    changes = try parser.readFixed()
    end = try parser.readFixed()
    guard Int(end) == parser.end else {
      throw ArchiveError(
        Int(end) > parser.end ? .truncated : .corrupt,
        "delta \(expected) has \(parser.end) bytes instead of \(end)", offset: parser.end)
    }
    guard liveBytes < 1 << 40, Self.byteCount <= tables, tables <= tags, tags <= changes, changes <= end,
      nodeCount <= nextID
    else {
      throw ArchiveError(.corrupt, "delta \(expected) has a header that contradicts itself", offset: 24)
    }
    guard Int(nodeCount) <= limits.nodeCount else {
      throw ArchiveError(
        .limitExceeded, "the archive has \(nodeCount) nodes and the limit is \(limits.nodeCount)", offset: 32)
    }
  }
}
