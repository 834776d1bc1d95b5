import FoundationShim
import Synchronization

/// What copies of a reader share: the base, its deltas, and what was parsed of them.
final class ReaderCore: Sendable {
  /// The tables of keys and shapes, and the class tags: those of the base and what deltas added.
  struct Tables: Sendable {
    /// The keys and shapes that records are coded against.
    var coding = CodingTables()
    /// The same for decoding.
    var decoding = CodingTables().pinned()
    /// The class tags, by index.
    var tags: [RestorationArchive.ClassTag] = []

    /// Adds the tables and tags of a base or a delta, given its bytes from there to its end.
    fileprivate mutating func append(_ bytes: Data, of header: ArchiveHeader) throws(ArchiveError) {
      let tagsStart = Int(header.tags - header.tables)
      if tagsStart > 0 { try coding.append(parsing: bytes.part(0..<tagsStart)) }
      guard bytes.count > tagsStart else { return }
      try bytes.parse(tagsStart..<bytes.count, origin: Int(header.tags)) { (parser) throws(ArchiveError) in
        for _ in 0..<(try parser.readCount()) { self.tags.append(RestorationArchive.ClassTag(try parser.readString())) }
        guard parser.remaining == 0 else { throw parser.corrupt("there are more bytes than the class tags have") }
      }
    }
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
    self.deltas = try Deltas(deltas, base: base.header, limits: limits)
    self.limits = limits
  }

  /// The same archive with its base in another place; nil for another base.
  func rebased(on source: RestorationArchive.Source) throws(ArchiveError) -> ReaderCore? {
    let other = try Base(source, limits: limits)
    guard other.header == base.header else { return nil }
    return ReaderCore(base: other, deltas: deltas, limits: limits)
  }

  private init(base: Base, deltas: Deltas, limits: RestorationArchive.Limits) {
    self.base = base
    self.deltas = deltas
    self.limits = limits
  }

  /// The header of the newest delta, or of the base: what there is now.
  var newest: ArchiveHeader { deltas.newest ?? base.header }
  /// The number of the part that the archive is.
  var part: UInt32 { NodeNumber.part(of: base.header.nextID) }
  /// The number of nodes.
  var nodeCount: Int { Int(newest.nodeCount) }
  /// The bytes of all nodes' states.
  var liveBytes: Int { Int(clamping: newest.liveBytes) }

  // MARK: Context and tables

  /// The context of the newest save.
  func context() throws(ArchiveError) -> RestorationArchive.Context {
    let timeSaved = Date(timeIntervalSinceReferenceDate: Double(bitPattern: newest.timeSaved))
    let bootSeconds = newest.bootSeconds
    let parse = { (parser: inout ByteCursor) throws(ArchiveError) in
      try RestorationArchive.Context(
        parsing: &parser, timeSaved: timeSaved, bootSeconds: bootSeconds)
    }
    if let (header, data) = deltas.additions.last(where: { $0.header.tables > $0.header.context }) {
      return try data.parse(Int(header.context)..<Int(header.tables), origin: Int(header.context), parse)
    }
    return try base.cache.parse(Int(base.header.context)..<Int(base.header.tables), parse)
  }

  /// The tables, parsed when they are first needed.
  func tables() throws(ArchiveError) -> Tables {
    if let tables = parsedTables.withLock({ $0 }) { return tables }
    var tables = Tables()
    try tables.append(base.cache.bytes(Int(base.header.tables)..<Int(base.header.end)), of: base.header)
    for (header, data) in deltas.additions {
      try tables.append(data.part(Int(header.tables)..<Int(header.end)), of: header)
    }
    tables.decoding = tables.coding.pinned()
    parsedTables.withLock { $0 = tables }
    return tables
  }

  // MARK: Nodes

  /// The newest block of a node; nil when there is none of that number.
  func node(_ id: UInt32) throws(ArchiveError) -> NodeBlock? {
    if let changed = deltas.node(id) { return changed }
    return try base.node(of: id)
  }

  /// The boundaries and holes, in order.
  func crossings() throws(ArchiveError) -> [Crossing] {
    try Crossing.merge(base.crossings(), changed: deltas.crossings)
  }

  /// The node at a path; nil when there is none.
  func node(at path: RestorationPath) throws(ArchiveError) -> NodeBlock? {
    guard path.components.count <= limits.depth else { return nil }
    var node: NodeBlock?
    for component in path.components {
      node = try child(of: node?.id ?? ArchiveHeader.rootID, named: component.rawValue)
      if node == nil { return nil }
    }
    return node
  }

  /// The child of a node, or a root, that has a name; nil when there is none.
  func child(of id: UInt32, named name: String) throws(ArchiveError) -> NodeBlock? {
    if let linked = deltas.child(of: id, named: name), let node = try node(linked), node.isChild(of: id, named: name) {
      return node
    }
    guard let node = try base.child(of: id, named: name) else { return nil }
    guard let changed = deltas.node(node.id) else { return node }
    return changed.flatMap { $0.isChild(of: id, named: name) ? $0 : nil }
  }

  /// The path of a node, from the topmost one above it in this part; `noSuchNode` when there is none of that number.
  func path(of id: UInt32) throws(ArchiveError) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next = id
    while next != ArchiveHeader.rootID {
      guard components.count < limits.depth else {
        throw ArchiveError(
          .limitExceeded, "node \(id) lies deeper than \(limits.depth) levels, or its ancestors form a circle")
      }
      guard let node = try node(next) else {
        throw next == id
          ? ArchiveError(.noSuchNode, "there is no node \(id)")
          : ArchiveError(.corrupt, "node \(id) lies below node \(next), which is not there")
      }
      components.append(RestorationIdentifier(node.name))
      next = NodeNumber.isBoundary(next, of: part) ? ArchiveHeader.rootID : node.parent
    }
    return RestorationPath(components.reversed())
  }

  /// The bytes of a state.
  func payload(at place: StatePlace) throws(ArchiveError) -> Data {
    if let delta = place.delta { return delta.part(place.range) }
    return try base.cache.bytes(place.range)
  }

  /// A node's attributes with its class tag.
  func attributes(of node: NodeBlock) throws(ArchiveError) -> RestorationArchive.Attributes {
    try attributes(of: node, tags: node.tag == nil ? [] : tables().tags)
  }

  /// A node's attributes with its class tag, among those given.
  func attributes(
    of node: NodeBlock, tags: [RestorationArchive.ClassTag]
  ) throws(ArchiveError) -> RestorationArchive.Attributes {
    var attributes = node.attributes
    guard let index = node.tag else { return attributes }
    guard Int(index) < tags.count else {
      throw ArchiveError(
        .corrupt, "a node names class tag \(index) of \(tags.count)", offset: node.state.range.lowerBound)
    }
    attributes.classTag = tags[Int(index)]
    return attributes
  }

  /// The numbers of a node's children; those of the roots for ``ArchiveHeader/rootID``.
  func children(of id: UInt32) throws(ArchiveError) -> [UInt32] {
    if let children = try deltas.children(of: id) { return children }
    if id == ArchiveHeader.rootID { return try base.roots() }
    if let changed = deltas.node(id), changed == nil { return [] }
    guard let node = try base.node(of: id) else { return [] }
    return try base.children(of: node)
  }

  /// The numbers of a node's children.
  func children(of node: NodeBlock) throws(ArchiveError) -> [UInt32] {
    // A node that a delta changed may still have the children that the base gave it.
    if node.state.delta != nil { return try children(of: node.id) }
    if let children = try deltas.children(of: node.id) { return children }
    return try base.children(of: node)
  }

  /// Whether a node has no children, as far as can be told without looking any further.
  func isKnownLeaf(_ node: NodeBlock) -> Bool { deltas.count == 0 && node.children == nil }
}
