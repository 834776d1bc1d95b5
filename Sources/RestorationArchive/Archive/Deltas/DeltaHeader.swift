import FoundationEssentials

/// The fixed header of a delta: which base and which place in the order it has, and where its sections end.
struct DeltaHeader: Hashable, Sendable {
  /// The first eight bytes of every delta.
  static let magic: UInt64 = 0x0A1A_0A0D_4453_5289
  /// The number of bytes of the header.
  static let byteCount = 96
  /// The bytes of one entry of the indexes of nodes and of children.
  static let entryByteCount = 12
  /// The bytes of one entry of the index of links.
  static let linkByteCount = 8
  /// The offset that stands for a removed node.
  static let removed: UInt32 = .max

  /// The place in the order of the base's deltas, from 1.
  var number: UInt32 = 0
  /// The fingerprint of the base.
  var base: UInt64 = 0
  /// The context's time of saving, as bits: it changes with every save when nothing else of the context does.
  var timeSaved: UInt64 = 0
  /// The newest delta up to this one that holds a context; 0 when the base's still holds.
  var contextDelta: UInt32 = 0
  /// The newest delta up to this one that adds to the tables; 0 when none did.
  var tablesDelta: UInt32 = 0
  /// When this delta adds to the tables, the newest one before it that did; otherwise 0.
  var earlierTablesDelta: UInt32 = 0
  /// The number of nodes there are now.
  var nodeCount: UInt32 = 0
  /// The number that the next node will get.
  var nextID: UInt32 = 0
  /// Whether a node was added, removed, moved or renamed since the base.
  var changesTree = false
  /// The bytes of all nodes' states now.
  var liveBytes: UInt64 = 0
  /// Where the context ends and the additions to the tables begin.
  var tables: UInt32 = 0
  /// Where the additional class tags begin.
  var tags: UInt32 = 0
  /// Where the nodes and the lists of children begin.
  var blocks: UInt32 = 0
  /// Where the index of nodes begins.
  var nodeIndex: UInt32 = 0
  /// Where the index of lists of children begins.
  var childIndex: UInt32 = 0
  /// Where the index of links begins.
  var linkIndex: UInt32 = 0
  /// The number of bytes of the delta.
  var end: UInt32 = 0
  /// The number of bytes of all deltas up to this one, or the greatest number when there are more.
  var totalBytes: UInt32 = 0

  private static var counts: [WritableKeyPath<Self, UInt32>] {
    [\.contextDelta, \.tablesDelta, \.earlierTablesDelta, \.nodeCount, \.nextID]
  }

  private static var sections: [WritableKeyPath<Self, UInt32>] {
    [\.tables, \.tags, \.blocks, \.nodeIndex, \.childIndex, \.linkIndex, \.end, \.totalBytes]
  }

  /// The first delta whose changes the indexes cover: they cover as many as the lowest one bit of the number says.
  static func firstCovered(by number: Int) -> Int {
    number - (number & -number) + 1
  }

  /// The deltas whose indexes together cover all up to a number, newest first: about its logarithm.
  static func chain(to number: Int) -> [Int] {
    var chain: [Int] = []
    var next = number
    while next > 0 {
      chain.append(next)
      next -= next & -next
    }
    return chain
  }

  /// Writes the header.
  func encode(into buffer: inout [UInt8]) {
    buffer.append(integer: Self.magic)
    buffer.append(integer: BaseHeader.formatVersion)
    buffer.append(integer: UInt16(Self.byteCount))
    buffer.append(integer: number)
    buffer.append(integer: base)
    buffer.append(integer: timeSaved)
    for field in Self.counts { buffer.append(integer: self[keyPath: field]) }
    buffer.append(integer: UInt32(changesTree ? 1 : 0))
    buffer.append(integer: liveBytes)
    for field in Self.sections { buffer.append(integer: self[keyPath: field]) }
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
    let version = try parser.readFixed(UInt16.self)
    guard 1...BaseHeader.formatVersion ~= version else {
      throw ArchiveError(
        version > BaseHeader.formatVersion ? .unsupportedVersion : .corrupt,
        "delta \(expected) is of format \(version) and this program reads formats 1 to \(BaseHeader.formatVersion)",
        offset: 8)
    }
    guard try parser.readFixed(UInt16.self) == Self.byteCount else {
      throw ArchiveError(.corrupt, "delta \(expected) has a header that is not one of format \(version)", offset: 10)
    }
    number = try parser.readFixed()
    base = try parser.readFixed()
    guard number == UInt32(expected), base == fingerprint else {
      throw ArchiveError(
        .wrongBase, "delta \(expected) is number \(number) of \(base == fingerprint ? "this" : "another") base",
        offset: 12)
    }
    timeSaved = try parser.readFixed()
    for field in Self.counts { self[keyPath: field] = try parser.readFixed() }
    let marks = try parser.readFixed(UInt32.self)
    changesTree = marks == 1
    liveBytes = try parser.readFixed()
    for field in Self.sections { self[keyPath: field] = try parser.readFixed() }
    guard Int(end) == parser.end else {
      throw ArchiveError(
        Int(end) > parser.end ? .truncated : .corrupt,
        "delta \(expected) has \(parser.end) bytes instead of \(end)", offset: parser.end)
    }
    guard
      end <= totalBytes, marks <= 1, liveBytes < 1 << 40, Self.byteCount <= tables, tables <= tags, tags <= blocks,
      blocks <= nodeIndex,
      nodeIndex <= childIndex, childIndex <= linkIndex, linkIndex <= end,
      (childIndex - nodeIndex) % UInt32(Self.entryByteCount) == 0,
      (linkIndex - childIndex) % UInt32(Self.entryByteCount) == 0, (end - linkIndex) % UInt32(Self.linkByteCount) == 0,
      contextDelta <= number, tablesDelta <= number,
      tablesDelta == number ? earlierTablesDelta < number : earlierTablesDelta == 0, nodeCount <= nextID
    else {
      throw ArchiveError(.corrupt, "delta \(expected) has a header that contradicts itself", offset: 24)
    }
    guard Int(nodeCount) <= limits.nodeCount else {
      throw ArchiveError(
        .limitExceeded, "the archive has \(nodeCount) nodes and the limit is \(limits.nodeCount)", offset: 44)
    }
  }
}
