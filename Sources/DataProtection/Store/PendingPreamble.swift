import FoundationEssentials

/// What stands sealed before the content of a generation that was saved while locked: its kind, base and company.
struct PendingPreamble: Hashable, Sendable {
  /// The size before the content, without the list of others.
  static let byteCount = 120

  /// What a pending generation was made on top of.
  struct Base: Hashable, Sendable {
    /// The generation.
    var generation: UInt64
    /// What its key commits to.
    var commitment: [UInt8]
    /// The end of its journals; `nil` when the saving program had not read them, or when there were none.
    var journal: JournalMark?
    /// Whether the saving program had read the base in its run.
    var wasRead: Bool
  }

  /// The end of a generation's journals, in short.
  struct JournalMark: Hashable, Sendable {
    /// The last journal's number.
    var index: UInt32
    /// How many frames it has.
    var frameCount: UInt64
    /// What its last frame's key commits to.
    var lastCommitment: [UInt8]

    /// The mark of an end.
    init(_ end: JournalEnd) {
      index = end.index
      frameCount = end.frameCount
      lastCommitment = end.lastCommitment
    }

    /// Whether a generation whose journals end here had more frames once, up to another end.
    func isBefore(_ other: Self) -> Bool { (index, frameCount) < (other.index, other.frameCount) }

    init(index: UInt32, frameCount: UInt64, lastCommitment: [UInt8]) {
      self.index = index
      self.frameCount = frameCount
      self.lastCommitment = lastCommitment
    }
  }

  /// Whole, or touched nodes only.
  var kind: PendingArchive.Kind
  /// What it was made on top of; `nil` when there was nothing.
  var base: Base?
  /// Names the run that saved it, 16 random bytes: a later one of the same run takes its place.
  var run: [UInt8]
  /// Pending generations up to this number are included in the content; 0 for none.
  var included: UInt64 = 0
  /// The pending generations of other runs that lay there, oldest first.
  var others: [UInt64] = []
  /// Earlier pending generations of this run that others name, and that are gone because this one replaces them.
  var replaced: [UInt64] = []

  /// The numbers behind the fixed part: those of others but for the newest, then those that are replaced.
  private var list: [UInt64] { others.dropLast() + replaced }

  /// What the sealed header says about it: that it is there, and how many numbers it lists.
  var flags: UInt32 { SealedFields.pendingFlag | UInt32(list.count) << SealedFields.preambleListShift }

  /// The bytes.
  var encoded: Data {
    var bytes: [UInt8] = []
    bytes.append(kind == .whole ? 1 : 2)
    bytes.append(
      (base == nil ? 0 : 1) | (base?.wasRead == true ? 2 : 0) | (base?.journal == nil ? 0 : 4)
        | (list.isEmpty ? 0 : 8))
    bytes.append(UInt8(list.count - replaced.count))
    bytes.append(UInt8(replaced.count))
    bytes.appendInteger(base?.journal?.index ?? 0)
    bytes.appendInteger(base?.generation ?? 0)
    bytes += base?.commitment ?? JournalEnd.noCommitment
    bytes.appendInteger(base?.journal?.frameCount ?? 0)
    bytes += base?.journal?.lastCommitment ?? JournalEnd.noCommitment
    bytes.appendInteger(included)
    bytes.appendInteger(others.last ?? 0)
    bytes += run
    for number in list { bytes.appendInteger(number) }
    return Data(bytes)
  }

  /// At most so many others are listed, and so many that are replaced: more than runs may save while locked.
  static let listLimit = 127

  /// Puts a preamble together.
  init(
    kind: PendingArchive.Kind, base: Base?, run: [UInt8], included: UInt64 = 0, others: [UInt64] = [],
    replaced: [UInt64] = []
  ) {
    self.kind = kind
    self.base = base
    self.run = run
    self.included = included
    self.others = others.suffix(Self.listLimit)
    self.replaced = replaced.suffix(Self.listLimit)
  }

  /// Reads a preamble; it was authenticated, so that a wrong one is a program's mistake or a newer layout.
  init(_ bytes: Data) throws(ProtectionError) {
    let corrupt = ProtectionError(.corrupt, "A generation saved while locked has no readable beginning.")
    guard bytes.count >= PendingPreamble.byteCount else { throw corrupt }
    var reader = FieldReader(Array(bytes.prefix(PendingPreamble.byteCount))[...])
    switch reader.integer(UInt8.self) {
    case 1: kind = .whole
    case 2: kind = .touchedNodes
    default: throw corrupt
    }
    let flags = reader.integer(UInt8.self)
    let otherCount = Int(reader.integer(UInt8.self))
    let replacedCount = Int(reader.integer(UInt8.self))
    let index = reader.integer(UInt32.self)
    let generation = reader.integer(UInt64.self)
    let commitment = Array(reader.take(32))
    let frameCount = reader.integer(UInt64.self)
    let lastCommitment = Array(reader.take(32))
    included = reader.integer()
    let newestOther = reader.integer(UInt64.self)
    run = Array(reader.take(16))
    guard flags < 16 else { throw corrupt }
    if flags & 8 != 0 {
      let end = PendingPreamble.byteCount + 8 * (otherCount + replacedCount)
      guard bytes.count >= end else { throw corrupt }
      var list = FieldReader(Array(bytes.prefix(end).dropFirst(PendingPreamble.byteCount))[...])
      others = (0..<otherCount).map { _ in list.integer() }
      replaced = (0..<replacedCount).map { _ in list.integer() }
    }
    if newestOther > 0 { others.append(newestOther) }
    guard flags & 1 != 0 else { return }
    base = Base(
      generation: generation, commitment: commitment,
      journal: flags & 4 == 0
        ? nil : JournalMark(index: index, frameCount: frameCount, lastCommitment: lastCommitment),
      wasRead: flags & 2 != 0)
  }
}

extension SealedFields {
  /// Where the flags of a generation saved while locked say how many numbers its preamble lists: in their second byte.
  static let preambleListShift: UInt32 = 8

  /// The size of the preamble of a generation saved while locked.
  var preambleByteCount: Int { PendingPreamble.byteCount + 8 * Int(flags >> SealedFields.preambleListShift & 0xFF) }
}

/// The content behind a preamble.
struct ContentAfterPreamble: ArchiveContent {
  let content: any SealedContent

  var byteCount: Int { max(0, content.byteCount - content.fields.preambleByteCount) }
  var chunksOpened: Int { content.chunksOpened }

  func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    let start = content.fields.preambleByteCount
    return try content.read(range.lowerBound + start..<range.upperBound + start)
  }
}
