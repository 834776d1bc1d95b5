import FoundationShim
import Synchronization

/// The shared part of a reader's copies: the base, its deltas, and the parsed parts of them.
final class ReaderCore: Sendable {
  /// The tables of keys and shapes, and the class tags: those of the base and what deltas added.
  struct Tables: Sendable {
    /// The keys and shapes that records are coded against.
    var coding = CodingTables()
    /// The same for decoding.
    var decoding = CodingTables().pinned()
    /// The class tags, by index.
    var tags: [RestorationClass] = []

    /// Adds the tables and tags of a part, given its bytes from there to its end.
    fileprivate mutating func append(_ bytes: Data, of part: PartHeader) throws(ArchiveError) {
      let tagsStart = Int(part.tags - part.tables)
      if tagsStart > 0 { try coding.append(parsing: bytes.part(0..<tagsStart)) }
      guard bytes.count > tagsStart else { return }
      try bytes.parse(tagsStart..<bytes.count, origin: Int(part.tags)) { (parser) throws(ArchiveError) in
        for _ in 0..<(try parser.readCount()) { self.tags.append(RestorationClass(try parser.readString())) }
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

  /// The header of the newest part: what there is now.
  var newest: PartHeader { deltas.newest ?? base.header }
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

  /// The node at a path; nil when there is none.
  func node(at path: RestorationPath) throws(ArchiveError) -> NodeBlock? {
    guard path.components.count <= limits.depth else { return nil }
    var node: NodeBlock?
    for component in path.components {
      node = try child(of: node?.id ?? PartHeader.rootID, named: component.rawValue)
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

  /// The path of a node; `noSuchNode` when there is none of that number.
  func path(of id: UInt32) throws(ArchiveError) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next = id
    while next != PartHeader.rootID {
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
      next = node.parent
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
    of node: NodeBlock, tags: [RestorationClass]
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

  /// The numbers of a node's children; those of the roots for ``PartHeader/rootID``.
  func children(of id: UInt32) throws(ArchiveError) -> [UInt32] {
    if let children = try deltas.children(of: id) { return children }
    if id == PartHeader.rootID { return try base.roots() }
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
