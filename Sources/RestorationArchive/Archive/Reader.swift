public import FoundationEssentials

extension RestorationArchive {
  /// Reads an archive: a base and the deltas made since, fetching only the bytes it is asked about.
  ///
  /// Opening reads one block. Readers are cheap to copy and can be used from several threads at once. Damaged bytes
  /// throw; they never trap, loop, or allocate more than a small multiple of what was read.
  public struct Reader: Sendable {
    /// Opens an archive.
    public init(base: Source, deltas: DeltaSource, limits: Limits = .default) throws(ArchiveError) {
      throw ArchiveError(.notAnArchive, "")
    }

    /// Opens an archive with its deltas in memory.
    public init(base: Source, deltas: [Data] = [], limits: Limits = .default) throws(ArchiveError) {
      try self.init(base: base, deltas: DeltaSource(deltas), limits: limits)
    }

    /// The circumstances of the newest save in the archive.
    public var context: Context {
      get throws(ArchiveError) { throw ArchiveError(.notAnArchive, "") }
    }

    /// The number of nodes.
    public var nodeCount: Int { 0 }

    /// The nodes without a parent, in order.
    public var roots: [NodeID] {
      get throws(ArchiveError) { [] }
    }

    /// What is known of a node; nil when there is none of that number.
    public func node(_ id: NodeID) throws(ArchiveError) -> Node? { nil }

    /// The node at a path; nil when there is none.
    public func node(at path: RestorationPath) throws(ArchiveError) -> Node? { nil }

    /// The children of a node, in order; none for a number that no node has.
    public func children(of id: NodeID) throws(ArchiveError) -> [NodeID] { [] }

    /// The path of a node; `noSuchNode` when there is none of that number.
    public func path(of id: NodeID) throws(ArchiveError) -> RestorationPath { [] }

    /// The state of a node; `noSuchNode` when there is none of that number.
    public func record(of id: NodeID) throws(ArchiveError) -> Record { Record(path: []) }
  }
}
