extension RestorationArchive.Reader {
  /// A node that was found once, with what lies below it and its state: for walks over a whole archive.
  package struct Visit: Sendable {
    /// What the node is called among its siblings.
    package let identifier: RestorationIdentifier
    /// What the object was and how its state is to be treated.
    package let attributes: RestorationArchive.Attributes
    /// The number of bytes of the node's state.
    package var byteCount: Int { located.block.payload.count }
    /// The numbers of its children, in order.
    package let children: [NodeID]
    private let core: ReaderCore
    private let located: ReaderCore.Located

    init(_ core: ReaderCore, _ located: ReaderCore.Located) throws(ArchiveError) {
      self.core = core
      self.located = located
      identifier = RestorationIdentifier(try core.name(of: located))
      attributes = try core.attributes(of: located)
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
