package import FoundationShim

extension RestorationArchive {
  /// Reads an archive: a base and the deltas made since, fetching only the bytes it is asked about.
  ///
  /// Opening reads the first block of the base and goes through the deltas, which are in memory. Each step of a path mostly
  /// fetches two blocks more. Readers are cheap to copy and can be used from several threads at once.
  ///
  /// Damaged bytes throw; they never trap, loop, or allocate more than a small multiple of the bytes read.
  package struct Reader: Sendable {
    /// What copies share.
    let core: ReaderCore

    /// Opens an archive with its deltas, oldest first.
    ///
    /// Throws `notAnArchive`, `unsupportedVersion`, `truncated`, `corrupt`, `wrongBase` for deltas of another base or in
    /// another order, `limitExceeded`, and `sourceFailed` with the source's error as its cause.
    package init(base: Source, deltas: [Data] = [], limits: Limits = .default) throws(ArchiveError) {
      core = try ReaderCore(base: base, deltas: deltas, limits: limits)
    }

    /// The circumstances of the newest save in the archive.
    package var context: Context {
      get throws(ArchiveError) { try core.context() }
    }

    /// The number of nodes.
    package var nodeCount: Int { core.nodeCount }

    /// The bytes of all nodes' states.
    package var liveBytes: Int { core.liveBytes }

    /// The nodes without a parent, in order.
    package var roots: [NodeID] {
      get throws(ArchiveError) { try core.children(of: ArchiveHeader.rootID).map(NodeID.init(rawValue:)) }
    }

    /// The facts about a node; nil when there is none of that number.
    package func node(_ id: NodeID) throws(ArchiveError) -> Node? {
      try core.node(id.rawValue).map(core.facts)
    }

    /// The node at a path; nil when there is none.
    package func node(at path: RestorationPath) throws(ArchiveError) -> Node? {
      try core.node(at: path).map(core.facts)
    }

    /// The number of the node at a path; nil when there is none.
    ///
    /// Cheaper than ``node(at:)``.
    package func id(at path: RestorationPath) throws(ArchiveError) -> NodeID? {
      try core.node(at: path).map { NodeID(rawValue: $0.id) }
    }

    /// The child of a node, or a root, that has an identifier; nil when there is none.
    package func child(of parent: NodeID?, identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID? {
      try core.child(of: parent?.rawValue ?? ArchiveHeader.rootID, named: identifier.rawValue).map {
        NodeID(rawValue: $0.id)
      }
    }

    /// The children of a node, in order; none for a number that no node has.
    package func children(of id: NodeID) throws(ArchiveError) -> [NodeID] {
      guard id.rawValue != ArchiveHeader.rootID else { return [] }
      return try core.children(of: id.rawValue).map(NodeID.init(rawValue:))
    }

    /// The path of a node; `noSuchNode` when there is none of that number.
    package func path(of id: NodeID) throws(ArchiveError) -> RestorationPath {
      guard id.rawValue != ArchiveHeader.rootID else { throw ArchiveError.noSuchNode(id) }
      return try core.path(of: id.rawValue)
    }

    /// The state of a node; `noSuchNode` when there is none of that number.
    ///
    /// Only the node's own bytes are fetched, and the tables the first time. Values are decoded when asked for.
    package func record(of id: NodeID) throws(ArchiveError) -> Record {
      guard let node = try core.node(id.rawValue) else { throw ArchiveError.noSuchNode(id) }
      return try Record(core: core, node: node)
    }

    /// The state of the node at a path; nil when there is none.
    package func record(at path: RestorationPath) throws(ArchiveError) -> Record? {
      guard let node = try core.node(at: path) else { return nil }
      return try Record(core: core, node: node)
    }
  }
}

extension ReaderCore {
  /// The facts about a node.
  fileprivate func facts(_ node: NodeBlock) throws(ArchiveError) -> RestorationArchive.Node {
    RestorationArchive.Node(
      id: NodeID(rawValue: node.id), parent: NodeID(unlessRoot: node.parent),
      identifier: RestorationIdentifier(node.name), attributes: try attributes(of: node),
      byteCount: node.state.range.count)
  }
}
