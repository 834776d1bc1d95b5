import FoundationEssentials

/// One node as it stands in a base or a delta: its facts, then its state, which is not looked into.
struct NodeBlock: Sendable {
  /// Where the name is: in the block, or in the table of branches of a base.
  enum Name: Hashable, Sendable {
    /// In the block, at these bytes from its first.
    case inline(Range<Int>)
    /// In the branch of this index.
    case branch(UInt32)
  }

  private enum Mark {
    static let priority: UInt64 = 0b11
    static let branch: UInt64 = 1 << 2
    static let tag: UInt64 = 1 << 3
    static let version: UInt64 = 1 << 4
    static let savedAt: UInt64 = 1 << 5
    static let model: UInt64 = 1 << 6
    static let flagShift: UInt64 = 7
  }

  /// The node's number.
  var id: UInt32
  /// In a base the index of the parent's branch; in a delta one more than the parent's number, zero for a root.
  var parent: UInt32
  /// Where the name is.
  var name: Name
  /// The index of the class tag; nil for none.
  var tag: UInt32?
  /// Version, priority, flags and time; neither tag nor model.
  var attributes: RestorationArchive.Attributes
  /// Where the model identifier is, from the block's first byte.
  var model: Range<Int>?
  /// Where the state is, from the block's first byte.
  var payload: Range<Int>

  /// The number of bytes of the state; none when it was left out, whatever stays of it.
  var stateByteCount: Int { attributes.flags.contains(.shed) ? 0 : payload.count }

  /// Reads the length of a block: the number of bytes after it.
  static func length(_ parser: inout ByteCursor) throws(ArchiveError) -> Int {
    Int(try parser.readNumber32())
  }

  /// Reads a block from a parser that ends where the block does.
  init(parsing parser: inout ByteCursor) throws(ArchiveError) {
    id = try parser.readNumber32()
    parent = try parser.readNumber32()
    let head = try parser.readNumber()
    guard head >> Mark.flagShift <= UInt64(UInt16.max) else { throw parser.corrupt("a node has unknown marks") }
    name =
      if head & Mark.branch != 0 {
        .branch(try parser.readNumber32())
      } else {
        .inline(try parser.readRun())
      }
    tag = head & Mark.tag != 0 ? try parser.readNumber32() : nil
    attributes = RestorationArchive.Attributes(
      version: StateVersion(rawValue: head & Mark.version != 0 ? try parser.readNumber32() : 1),
      priority: PreservationPriority(rawValue: UInt8(head & Mark.priority)) ?? .normal,
      flags: RestorationArchive.NodeFlags(rawValue: UInt16(head >> Mark.flagShift)))
    if head & Mark.savedAt != 0 {
      attributes.savedAt = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try parser.readFixed()))
    }
    model = head & Mark.model != 0 ? try parser.readRun() : nil
    payload = parser.offset..<parser.end
  }

  /// Writes a block but for its state, which must follow; the block's own length comes first.
  static func encodeHead(
    id: UInt32, parent: UInt32, name: String, branch: UInt32?, tag: UInt32?,
    attributes: RestorationArchive.Attributes, before payloadBytes: Int, into buffer: inout ByteWriter
  ) {
    let start = buffer.count
    buffer.writeByte(0)
    var head = UInt64(attributes.priority.rawValue) | UInt64(attributes.flags.rawValue) << Mark.flagShift
    if branch != nil { head |= Mark.branch }
    if tag != nil { head |= Mark.tag }
    if attributes.version != 1 { head |= Mark.version }
    if attributes.savedAt != nil { head |= Mark.savedAt }
    if attributes.model != nil { head |= Mark.model }
    buffer.writeNumber(UInt64(id))
    buffer.writeNumber(UInt64(parent))
    buffer.writeNumber(head)
    if let branch {
      buffer.writeNumber(UInt64(branch))
    } else {
      buffer.writeString(name)
    }
    if let tag { buffer.writeNumber(UInt64(tag)) }
    if attributes.version != 1 { buffer.writeNumber(UInt64(attributes.version.rawValue)) }
    if let savedAt = attributes.savedAt {
      buffer.writeFixed(savedAt.timeIntervalSinceReferenceDate.bitPattern)
    }
    if let model = attributes.model { buffer.writeString(model.rawValue) }
    buffer.patchNumber(UInt64(buffer.count - start - 1 + payloadBytes), at: start)
  }
}
