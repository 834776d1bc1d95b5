import FoundationEssentials
import Synchronization

/// The shared part of a reader's copies: the base, its deltas, and the parsed parts of them.
final class ReaderCore: Sendable {
  /// A node's block and where it is.
  struct Located: Sendable {
    /// What the block says.
    var block: NodeBlock
    /// The block's bytes, in the base or in the delta.
    var range: Range<Int>
    /// The delta's bytes; nil for a node of the base.
    var delta: Data?
  }

  /// Where a node's state is.
  struct State: Sendable {
    /// Its bytes, in the base or in the delta.
    var range: Range<Int>
    /// The delta's bytes; nil for a node of the base.
    var delta: Data?
  }

  /// The tables of keys and shapes, and the class tags: those of the base and what deltas added.
  struct Tables: Sendable {
    /// The keys and shapes that records are coded against.
    var coding = CodingTables()
    /// The same for decoding.
    var decoding = CodingTables().pinned()
    /// The class tags, by index.
    var tags: [RestorationClass] = []
  }

  /// The base.
  let base: Base
  /// The deltas.
  let deltas: Deltas
  /// The bounds that reading keeps.
  let limits: RestorationArchive.Limits
  private let parsedTables = Mutex<Tables?>(nil)

  /// Opens an archive: reads the base's header and the changes of the deltas.
  init(
    base source: RestorationArchive.Source, deltas: [Data] = [], limits: RestorationArchive.Limits
  ) throws(ArchiveError) {
    base = try Base(source, limits: limits)
    self.deltas = try Deltas(deltas, base: base, limits: limits)
    self.limits = limits
  }

  /// The number of nodes.
  var nodeCount: Int { Int(deltas.newest?.nodeCount ?? base.header.nodeCount) }
  /// The number that the next node will get.
  var nextID: UInt32 { deltas.newest?.nextID ?? base.header.nextID }
  /// The bytes of all nodes' states.
  var liveBytes: Int { Int(clamping: deltas.newest?.liveBytes ?? base.header.liveBytes) }

  // MARK: Context and tables

  /// The context of the newest save.
  func context() throws(ArchiveError) -> RestorationArchive.Context {
    guard let newest = deltas.newest else { return try baseContext() }
    var context: RestorationArchive.Context
    if let (range, data) = deltas.context {
      context = try data.parse(range, origin: range.lowerBound) {
        (parser) throws(ArchiveError) in try RestorationArchive.Context(parsing: &parser)
      }
    } else {
      context = try baseContext()
    }
    context.timeSaved = Date(timeIntervalSinceReferenceDate: Double(bitPattern: newest.timeSaved))
    return context
  }

  private func baseContext() throws(ArchiveError) -> RestorationArchive.Context {
    try base.cache.parse(base.header.context..<Int(base.header.tables)) { (parser) throws(ArchiveError) in
      try RestorationArchive.Context(parsing: &parser)
    }
  }

  /// The tables, parsed when they are first needed.
  func tables() throws(ArchiveError) -> Tables {
    if let tables = parsedTables.withLock({ $0 }) { return tables }
    var tables = Tables()
    let header = base.header
    try tables.coding.append(parsing: try base.cache.bytes(Int(header.tables)..<Int(header.tags)))
    try base.cache.parse(Int(header.tags)..<Int(header.branches)) { (parser) throws(ArchiveError) in
      try Self.parseTags(&parser, into: &tables.tags)
    }
    for (header, data) in deltas.tableAdditions {
      if header.tags > header.tables {
        try tables.coding.append(parsing: data.part(Int(header.tables)..<Int(header.tags)))
      }
      guard header.changes > header.tags else { continue }
      try data.parse(Int(header.tags)..<Int(header.changes), origin: Int(header.tags)) {
        (parser) throws(ArchiveError) in try Self.parseTags(&parser, into: &tables.tags)
      }
    }
    tables.decoding = tables.coding.pinned()
    parsedTables.withLock { $0 = tables }
    return tables
  }

  private static func parseTags(
    _ parser: inout ByteCursor, into tags: inout [RestorationClass]
  ) throws(ArchiveError) {
    for _ in 0..<(try parser.readCount()) { tags.append(RestorationClass(try parser.readString())) }
  }

  // MARK: Nodes

  /// The newest block of a node; nil when there is none of that number.
  func locate(_ id: UInt32) throws(ArchiveError) -> Located? {
    if let changed = deltas.node(id) { return changed }
    guard let (place, block) = try base.node(of: id) else { return nil }
    return Located(block: block, range: place.range, delta: nil)
  }

  /// The newest block of a node, and its name, in one go where that can be; nil when there is none of that number.
  func locateNamed(_ id: UInt32) throws(ArchiveError) -> (node: Located, name: String)? {
    if deltas.newest == nil, let (place, block, name) = try base.plainNode(of: id) {
      return (Located(block: block, range: place.range, delta: nil), name)
    }
    guard let located = try locate(id) else { return nil }
    return (located, try name(of: located))
  }

  /// The number of a node's parent; ``BaseHeader/rootID`` for a root.
  func parent(of node: Located) throws(ArchiveError) -> UInt32 {
    if node.delta != nil { return node.block.parentInDelta }
    return try base.branch(node.block.parent).id
  }

  /// Lends a parser of a node's block.
  func parse<Result>(
    _ node: Located, _ body: (inout ByteCursor) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    if let delta = node.delta { return try delta.parse(node.range, origin: node.range.lowerBound, body) }
    return try base.cache.parse(node.range, body)
  }

  /// A node's name.
  func name(of node: Located) throws(ArchiveError) -> String {
    try parse(node) { (parser) throws(ArchiveError) in try self.base.name(of: node.block, &parser) }
  }

  /// The bytes of a node's state.
  func payload(of node: Located) throws(ArchiveError) -> Data { try payload(at: node.state) }

  /// The bytes of a state.
  func payload(at state: State) throws(ArchiveError) -> Data {
    if let delta = state.delta { return delta.part(state.range) }
    return try base.cache.bytes(state.range)
  }

  /// A node's attributes, its tag and model with them.
  func attributes(of node: Located) throws(ArchiveError) -> RestorationArchive.Attributes {
    try attributes(of: node, tags: node.block.tag == nil ? [] : tables().tags)
  }

  /// A node's attributes, its tag among those given.
  func attributes(
    of node: Located, tags: [RestorationClass]
  ) throws(ArchiveError) -> RestorationArchive.Attributes {
    var attributes = node.block.attributes
    if let index = node.block.tag {
      guard Int(index) < tags.count else {
        throw ArchiveError(.corrupt, "a node names class tag \(index) of \(tags.count)", offset: node.range.lowerBound)
      }
      attributes.classTag = tags[Int(index)]
    }
    if let model = node.block.model {
      attributes.model = ModelIdentifier(
        try parse(node) { (parser) throws(ArchiveError) in try parser.text(in: model) })
    }
    return attributes
  }

  /// The numbers of a node's children; those of the roots for ``BaseHeader/rootID``.
  func children(of id: UInt32) throws(ArchiveError) -> [UInt32] {
    if let children = try deltas.children(of: id) { return children }
    if id == BaseHeader.rootID { return try base.children(of: base.branch(0)) }
    if let changed = deltas.node(id), changed == nil { return [] }
    guard let (place, block) = try base.node(of: id) else { return [] }
    return try baseChildren(of: block, at: place.range)
  }

  /// The numbers of a node's children.
  func children(of node: Located) throws(ArchiveError) -> [UInt32] {
    // A node that a delta changed may still have the children that the base gave it.
    guard node.delta == nil else { return try children(of: node.block.id) }
    if let children = try deltas.children(of: node.block.id) { return children }
    return try baseChildren(of: node.block, at: node.range)
  }

  /// Whether a node has no children, as far as can be told without looking any further.
  func isKnownLeaf(_ node: Located) -> Bool {
    guard deltas.newest == nil, case .inline = node.block.name else { return false }
    return true
  }

  private func baseChildren(of block: NodeBlock, at range: Range<Int>) throws(ArchiveError) -> [UInt32] {
    guard case .branch(let index) = block.name else { return [] }
    let branch = try base.branch(index)
    guard branch.id == block.id else {
      throw ArchiveError(.corrupt, "a node names the branch of another", offset: range.lowerBound)
    }
    return try base.children(of: branch)
  }
}

extension ReaderCore.Located {
  /// Where the node's state is.
  var state: ReaderCore.State {
    ReaderCore.State(range: range.lowerBound + block.payload.lowerBound..<range.upperBound, delta: delta)
  }
}
