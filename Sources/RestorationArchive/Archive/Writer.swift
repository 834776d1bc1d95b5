public import FoundationEssentials

extension RestorationArchive {
  /// Makes archives and deltas from changed nodes only; what is not touched is carried over byte for byte.
  ///
  /// The numbers it gives out stay good through every archive and delta it makes and in every reader of them. When
  /// something it made could not be stored, make an archive next: a delta only fits on everything made before it.
  public struct Writer: Sendable {
    /// Begins a new archive with nothing in it.
    public init(context: Context, limits: Limits = .default) {}

    /// Continues an archive: every node is there, and none of its bytes are read until they are needed.
    ///
    /// The reader's source must stay readable until the next ``makeArchive()`` returned.
    public init(continuing reader: Reader, limits: Limits = .default) throws(ArchiveError) {}

    /// The circumstances that the next archive or delta will tell of.
    public var context: Context {
      get { Context(timeSaved: Date(timeIntervalSinceReferenceDate: 0)) }
      set {}
    }

    /// The number of nodes.
    public var nodeCount: Int { 0 }

    /// The bytes of all nodes as they are now: what the next whole archive will be, but for its tables and index.
    public var liveBytes: Int { 0 }

    /// The bytes of the deltas made since the base.
    public var deltaBytes: Int { 0 }

    /// Whether anything changed since the last archive or delta.
    public var hasChanges: Bool { false }

    /// The nodes without a parent, in order.
    public var roots: [NodeID] {
      get throws(ArchiveError) { [] }
    }

    /// What is known of a node; nil when there is none of that number.
    public func node(_ id: NodeID) throws(ArchiveError) -> Node? { nil }

    /// The children of a node, in order.
    public func children(of id: NodeID) throws(ArchiveError) -> [NodeID] { [] }

    /// The child of a node, or a root, that has an identifier; nil when there is none.
    public func child(
      of parent: NodeID?, identifier: RestorationIdentifier
    ) throws(ArchiveError) -> NodeID? { nil }

    /// Adds a node without state: `duplicateIdentifier` when a sibling has its identifier.
    ///
    /// - Parameter index: the place among its siblings; nil for the last. A place past the end is the last.
    public mutating func insert(
      _ identifier: RestorationIdentifier, parent: NodeID? = nil, at index: Int? = nil, attributes: Attributes = .init()
    ) throws(ArchiveError) -> NodeID {
      throw ArchiveError(.noSuchNode, "")
    }

    /// Gives a node another parent or another place: `invalidTree` when it would lie below itself.
    ///
    /// - Parameter index: the place among its new siblings, itself not counted; nil for the last.
    public mutating func move(_ id: NodeID, to parent: NodeID?, at index: Int? = nil) throws(ArchiveError) {}

    /// Puts a node's children in another order, which must be of the same children.
    public mutating func setChildren(_ children: [NodeID], of parent: NodeID?) throws(ArchiveError) {}

    /// Gives a node another identifier: `duplicateIdentifier` when a sibling has it.
    public mutating func rename(_ id: NodeID, to identifier: RestorationIdentifier) throws(ArchiveError) {}

    /// Removes a node and everything below it.
    public mutating func remove(_ id: NodeID) throws(ArchiveError) {}

    /// Encodes and stores a node's state, in the place of what it had, and its attributes.
    ///
    /// Encoding happens now, on the caller's thread. When it throws (`encodingFailed`, with the node's path) the node
    /// keeps what it had. Values of the same bytes as before leave the node unchanged.
    public mutating func setRecord(
      of id: NodeID, entries: [Entry], attributes: Attributes, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ArchiveError) {}

    /// Changes a node's attributes and leaves its state alone.
    public mutating func setAttributes(_ attributes: Attributes, of id: NodeID) throws(ArchiveError) {}

    /// Makes a whole archive of what there is now; it is the base of the deltas that follow.
    ///
    /// The same calls on a new writer give the same bytes in every process. When it throws, nothing has changed.
    public mutating func makeArchive() throws(ArchiveError) -> Data { Data() }

    /// Makes a delta of what changed since the last archive or delta; nil when nothing did.
    ///
    /// Its cost goes with the changes, not with the nodes. A new writer has no base yet: make an archive first
    /// (`wrongBase`).
    public mutating func makeDelta() throws(ArchiveError) -> Data? { nil }

    /// Takes what was over a budget since the last call.
    public mutating func takeSheddings() -> [Shedding] { [] }
  }
}
