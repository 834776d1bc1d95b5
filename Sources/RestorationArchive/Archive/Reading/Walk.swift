extension RestorationArchive {
  /// A look at every node of an archive, one by one: what all of them need is looked up once.
  package struct Walk: Sendable {
    /// The class tags, by index.
    package let tags: [RestorationClass]
    private let core: ReaderCore
    /// Damaged tables are a matter of the nodes that need them.
    private let tables: Result<ReaderCore.Tables, ArchiveError>

    /// Begins a walk; reads the tables.
    package init(_ reader: Reader) {
      core = reader.core
      tables = Result { [core] () throws(ArchiveError) in try core.tables() }
      tags = (try? tables.get())?.tags ?? []
    }

    /// Looks a node up, with its subtree; nil when there is none of that number.
    package func visit(_ id: NodeID) throws(ArchiveError) -> Visit? {
      guard let node = try core.node(id.rawValue) else { return nil }
      let children = try core.children(of: node)
      return Visit(
        identifier: RestorationIdentifier(node.name),
        attributes: try core.attributes(of: node, tags: node.tag == nil ? [] : tables.get().tags),
        tag: node.tag.map(Int.init), children: children.map(NodeID.init(rawValue:)),
        byteCount: node.state.range.count, state: node.state)
    }

    /// What decodes a node's state; nil when it has none.
    package func decoder(of visit: Visit) throws(ArchiveError) -> RecordDecoder? {
      guard !visit.state.range.isEmpty else { return nil }
      return try RecordDecoder(
        core.payload(at: visit.state), tables: tables.get().decoding, depthLimit: core.limits.valueDepth)
    }
  }

  /// A node that a walk came to.
  package struct Visit: Sendable {
    /// What the node is called among its siblings.
    package let identifier: RestorationIdentifier
    /// What the object was and how its state is to be treated.
    package let attributes: Attributes
    /// The index of its class tag; nil when it has none.
    package let tag: Int?
    /// The numbers of its children, in order.
    package let children: [NodeID]
    /// The number of bytes of the node's state.
    package let byteCount: Int
    fileprivate let state: StatePlace
  }
}
