import FoundationShim

/// One node as it stands in a base or a delta: its facts, and where its children and its state are.
struct NodeBlock: Sendable {
  private enum Mark {
    static let priority: UInt64 = 0b11
    static let children: UInt64 = 1 << 2
    static let tag: UInt64 = 1 << 3
    static let version: UInt64 = 1 << 4
    static let savedAt: UInt64 = 1 << 5
    static let model: UInt64 = 1 << 6
    static let role: UInt64 = 1 << 7
    static let save: UInt64 = 1 << 8
    static let flagShift: UInt64 = 9
  }

  /// The node's number.
  var id: UInt32
  /// The parent's number; ``ArchiveHeader/rootID`` for a root.
  var parent: UInt32
  /// The identifier.
  var name: String
  /// The index of the class tag; nil for none.
  var tag: UInt32?
  /// Everything but the class tag.
  var attributes: RestorationArchive.Attributes
  /// Where the list of the children is in the base, as a delta has lists of its own; nil for none.
  var children: Range<Int>?
  /// Where the state is.
  var state: StatePlace

  /// Whether the node has a parent and a name.
  func isChild(of parent: UInt32, named name: String) -> Bool {
    self.parent == parent && self.name.hasSameBytes(as: name)
  }

  /// Whether it is a hole just if its number is that of another part.
  func fits(_ part: UInt32) -> Bool { attributes.flags.contains(.hole) == (NodeNumber.part(of: id) != part) }

  /// Reads a block from a parser that ends where the block does, of the base or of a delta.
  init(parsing parser: inout ByteCursor, delta: Data? = nil) throws(ArchiveError) {
    id = try parser.readNumber32()
    parent = try parser.readNumber32() &- 1
    let head = try parser.readNumber()
    guard head >> Mark.flagShift <= UInt64(RestorationArchive.NodeFlags.known.rawValue) else {
      throw parser.corrupt("a node has unknown marks")
    }
    name = try parser.readString()
    tag = head & Mark.tag != 0 ? try parser.readNumber32() : nil
    attributes = RestorationArchive.Attributes(
      version: StateVersion(rawValue: head & Mark.version != 0 ? try parser.readNumber32() : 1),
      priority: RestorationArchive.Priority(rawValue: UInt8(head & Mark.priority)) ?? .normal,
      flags: RestorationArchive.NodeFlags(rawValue: UInt16(head >> Mark.flagShift)))
    if head & Mark.savedAt != 0 {
      attributes.savedAt = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try parser.readFixed()))
    }
    if head & Mark.model != 0 { attributes.model = ModelIdentifier(try parser.readString()) }
    if head & Mark.role != 0 { attributes.role = RestorationArchive.Role(try parser.readString()) }
    if head & Mark.save != 0 { attributes.save = try parser.readNumber32() }
    children = head & Mark.children != 0 ? try parser.readRun() : nil
    state = StatePlace(range: parser.place..<parser.place + parser.remaining, delta: delta)
  }

  /// Writes a block but for its state, which must follow; the block's own length comes first.
  static func encodeHead(
    of node: RestorationArchive.Writer.Slot, children: [UInt32] = [], tag: UInt32?, into buffer: inout ByteWriter
  ) {
    let start = buffer.count
    let attributes = node.attributes
    buffer.writeByte(0)
    var head = UInt64(attributes.priority.rawValue) | UInt64(attributes.flags.rawValue) << Mark.flagShift
    if !children.isEmpty { head |= Mark.children }
    if tag != nil { head |= Mark.tag }
    if attributes.version != 1 { head |= Mark.version }
    if attributes.savedAt != nil { head |= Mark.savedAt }
    if attributes.model != nil { head |= Mark.model }
    if attributes.role != nil { head |= Mark.role }
    if attributes.save != 0 { head |= Mark.save }
    buffer.writeNumber(UInt64(node.id))
    buffer.writeNumber(UInt64(node.parent &+ 1))
    buffer.writeNumber(head)
    buffer.writeString(node.name)
    if let tag { buffer.writeNumber(UInt64(tag)) }
    if attributes.version != 1 { buffer.writeNumber(UInt64(attributes.version.rawValue)) }
    if let savedAt = attributes.savedAt {
      buffer.writeFixed(savedAt.timeIntervalSinceReferenceDate.bitPattern)
    }
    if let model = attributes.model { buffer.writeString(model.rawValue) }
    if let role = attributes.role { buffer.writeString(role.rawValue) }
    if attributes.save != 0 { buffer.writeNumber(UInt64(attributes.save)) }
    if !children.isEmpty { ChildList.encode(children, into: &buffer) }
    buffer.patchNumber(UInt64(buffer.count - start - 1 + node.payload.count), at: start)
  }
}
