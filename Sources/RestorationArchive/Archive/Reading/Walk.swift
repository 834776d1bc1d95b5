extension RestorationArchive {
  /// A look at every node of an archive, one by one: what all of them need is looked up once.
  package struct Walk: Sendable {
    /// The class tags, by index.
    package let tags: [RestorationArchive.ClassTag]
    private let core: ReaderCore
    private let tables: PinnedTables?
    /// Damaged tables are a matter of the nodes that need them.
    private let damage: ArchiveError?

    /// Begins a walk; reads the tables.
    package init(_ reader: Reader) {
      core = reader.core
      do throws(ArchiveError) {
        let all = try core.tables()
        (tables, tags, damage) = (all.decoding, all.tags, nil)
      } catch {
        (tables, tags, damage) = (nil, [], error)
      }
    }

    /// Looks a node up, with its subtree; nil when there is none of that number.
    package func visit(_ id: NodeID) throws(ArchiveError) -> Visit? {
      guard let node = try core.node(id.rawValue) else { return nil }
      let children = try core.children(of: node)
      if node.tag != nil, let damage { throw damage }
      return Visit(
        identifier: RestorationIdentifier(node.name),
        attributes: try core.attributes(of: node, tags: tags),
        tag: node.tag.map(Int.init), children: children.map(NodeID.init(rawValue:)),
        byteCount: node.state.range.count, state: node.state)
    }

    /// What decodes a node's state; nil when it has none.
    package func decoder(of visit: Visit) throws(ArchiveError) -> RecordDecoder? {
      guard !visit.state.range.isEmpty else { return nil }
      let payload = try core.payload(at: visit.state)
      guard let tables else { throw damage ?? ArchiveError(.corrupt, "the archive has no tables") }
      return try RecordDecoder(payload, tables: tables, depthLimit: core.limits.valueDepth)
    }
  }

  /// A node that a walk came to.
  package struct Visit: Sendable {
    /// What the node is called among its siblings.
    package let identifier: RestorationIdentifier
    /// What the object was and how its state is to be treated.
    package let attributes: Attributes
    /// The index of its class tag; nil when it has none.
    package internal(set) var tag: Int?
    /// The numbers of its children, in order.
    package internal(set) var children: [NodeID]
    /// The number of bytes of the node's state.
    package let byteCount: Int
    /// The part that it is in.
    var part = Part.first
    fileprivate let state: StatePlace
  }
}

extension RestorationArchive.Visit {
  /// A look at a hole: it has neither children nor state.
  init(holeOf id: NodeID) {
    self.init(
      identifier: NodeNumber.holeName(id.rawValue), attributes: .hole, tag: nil, children: [], byteCount: 0,
      state: StatePlace(range: 0..<0))
  }
}
