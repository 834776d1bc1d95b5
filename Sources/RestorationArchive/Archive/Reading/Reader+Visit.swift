extension RestorationArchive.Reader {
  /// A node that was found once, with what lies below it and its state: for walks over a whole archive.
  package struct Visit: Sendable {
    /// What is known of the node.
    package let node: RestorationArchive.Node
    /// The numbers of its children, in order.
    package let children: [NodeID]
    private let core: ReaderCore
    private let located: ReaderCore.Located

    init(_ core: ReaderCore, _ located: ReaderCore.Located) throws(ArchiveError) {
      self.core = core
      self.located = located
      node = try core.node(located)
      children = try core.children(of: located).map(NodeID.init(rawValue:))
    }

    /// The node's state.
    package func record() throws(ArchiveError) -> RestorationArchive.Record {
      try RestorationArchive.Record(core: core, node: located)
    }
  }

  /// Looks a node up for a walk; nil when there is none of that number.
  package func visit(_ id: NodeID) throws(ArchiveError) -> Visit? {
    guard let located = try core.locate(id.rawValue) else { return nil }
    return try Visit(core, located)
  }
}
