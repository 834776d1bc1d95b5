import FoundationShim

extension RestorationArchive {
  /// Makes archives and deltas from changed nodes only; the others are carried over byte for byte.
  ///
  /// The numbers it gives out stay good through every archive and delta it makes and in every reader of them. When
  /// something it made could not be stored, make an archive next: a delta only fits on everything made before it.
  package struct Writer: Sendable {
    /// The circumstances that the next archive or delta will tell of.
    ///
    /// A new time of saving alone is no change worth writing.
    package var context: Context

    let limits: Limits
    /// The number of the part that the archive is.
    let part: UInt32
    /// The base and the deltas that untouched nodes are in; nil before the first archive of a new writer.
    var reader: ReaderCore?
    /// The base's bytes when this writer made it: the states in them are lent instead of read.
    var baseBytes: Data?
    var slots: [Slot]
    /// The position in `slots` of each node that has one.
    var slotOfNode: [UInt32: Int]
    /// The names of the nodes that have slots.
    var links: [Link: UInt32]
    /// The positions in `slots` of what the next delta must hold.
    var dirty: [Int] = []
    var nextID: UInt32
    var tables: CodingTables
    var tags: [RestorationArchive.ClassTag]
    var tagIndex: [RestorationArchive.ClassTag: UInt32]
    /// The numbers of the nodes whose states are left out of the archive.
    var leftOut: Set<UInt32> = []
    /// The states over the budget in the last archive or delta, if nobody was told yet.
    var sheddings: [Shedding] = []
    /// The nodes whose states are over the budget of a node, if nobody was told yet.
    var oversized: [NodeID: Shedding] = [:]
    /// The size of the tables when they were last collected: they are not again before they have doubled.
    var collectedTableBytes = 0
    /// The context, the tables and the deltas as last written.
    var written: Written
    /// Whether something left for another part: its keys, shapes and class tags go with the next archive.
    var isToBeRemade = false
    /// The number of boundaries; kept by whoever knows the other parts.
    var boundaryCount = 0

    /// The number of nodes.
    package internal(set) var nodeCount: Int

    /// The bytes of all nodes' states that are written, as they are now: about what the next whole archive will be.
    package internal(set) var liveBytes: Int

    /// The number of deltas made since the base, those that were read included: that of the newest one.
    package var deltaCount: Int { written.deltaCount }

    /// The bytes of the deltas made since the base, those that were read included.
    package internal(set) var deltaBytes: Int

    /// The contents of the base and its deltas besides nodes, so that a delta holds only new ones.
    struct Written: Sendable {
      var context: Context
      var tables: CodingTables.Mark
      var tagCount: Int
      var deltaCount = 0
      /// A rank that no state written is below; nil when none is known.
      var lowestRank: SheddingRank?
    }

    /// Begins a new archive with nothing in it.
    ///
    /// - Parameters:
    ///   - context: What the archive says of itself.
    ///   - limits: The limits of nodes and archive.
    ///   - part: The part that it is of an archive of several.
    package init(context: Context, limits: Limits = .default, part: Part = .first) {
      self.context = context
      self.limits = limits
      self.part = UInt32(part.rawValue)
      slots = [Self.rootSlot(children: [])]
      slotOfNode = [ArchiveHeader.rootID: 0]
      links = [:]
      nextID = NodeNumber.first(of: UInt32(part.rawValue))
      tables = CodingTables()
      tags = []
      tagIndex = [:]
      nodeCount = 0
      liveBytes = 0
      deltaBytes = 0
      written = Written(context: context, tables: tables.mark, tagCount: 0)
    }

    /// Continues an archive: every node is there, and none of its bytes are read until they are needed.
    ///
    /// The reader's source must stay readable until the next ``makeArchive()`` has returned.
    ///
    /// - Parameters:
    ///   - reader: The archive that is continued.
    ///   - limits: The limits of nodes and archive.
    package init(continuing reader: Reader, limits: Limits = .default) throws(ArchiveError) {
      let core = reader.core
      let tables = try core.tables()
      let context = try core.context()
      self.context = context
      self.limits = limits
      self.reader = core
      part = core.part
      slots = []
      slotOfNode = [:]
      links = [:]
      nextID = core.newest.nextID
      self.tables = tables.coding
      tags = tables.tags
      tagIndex = Dictionary(
        zip(tables.tags, tables.tags.indices.map { UInt32($0) }), uniquingKeysWith: { first, _ in first })
      nodeCount = core.nodeCount
      liveBytes = core.liveBytes
      deltaBytes = core.deltas.byteCount
      written = Written(
        context: context, tables: self.tables.mark, tagCount: tags.count, deltaCount: core.deltas.count)
    }

    /// How much of the base is in memory, in bytes: its own bytes, or blocks that were read ahead.
    package var heldByteCount: Int {
      guard let cache = reader?.base.cache else { return 0 }
      return cache.memory?.count ?? cache.byteCount
    }

    /// Reads the base from a source from now on, instead of holding all its bytes; what was read ahead is forgotten.
    ///
    /// - Parameter source: The base that was made last, or is continued, wherever it lies now; anything else is not taken.
    package mutating func release(to source: Source?) {
      reader?.base.cache.removeAll()
      guard let held = reader?.base.cache.memory, let source, source.byteCount == held.count,
        let lean = try? reader?.rebased(on: source)
      else { return }
      reader = lean
      baseBytes = nil
    }

    /// Whether the next delta would hold anything.
    package var hasChanges: Bool { !dirty.isEmpty || hasNewContext }

    /// Whether the context says something new besides the times.
    var hasNewContext: Bool {
      var timeless = context
      timeless.timeSaved = written.context.timeSaved
      timeless.bootSeconds = written.context.bootSeconds
      return timeless != written.context
    }

    /// The number that the next node gets.
    package var nextNumber: UInt32 { nextID }

    /// The nodes without a parent, in order.
    package var roots: [NodeID] {
      get throws(ArchiveError) { try childNumbers(of: ArchiveHeader.rootID).map(NodeID.init(rawValue:)) }
    }

    /// The facts about a node; nil when there is none of that number.
    package func node(_ id: NodeID) throws(ArchiveError) -> Node? {
      guard id.rawValue != ArchiveHeader.rootID else { return nil }
      guard let slot = try slot(of: id.rawValue) else { return nil }
      return Node(
        id: id, parent: NodeID(unlessRoot: slot.parent),
        identifier: RestorationIdentifier(slot.name), attributes: slot.attributes,
        byteCount: slot.payload.count)
    }

    /// The children of a node, in order; none for a number that no node has.
    package func children(of id: NodeID) throws(ArchiveError) -> [NodeID] {
      guard id.rawValue != ArchiveHeader.rootID else { return [] }
      return try childNumbers(of: id.rawValue).map(NodeID.init(rawValue:))
    }

    /// The child of a node, or a root, that has an identifier; nil when there is none.
    package func child(of parent: NodeID?, identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID? {
      let parent = parent?.rawValue ?? ArchiveHeader.rootID
      if let known = links[Link(parent: parent, name: identifier)] { return NodeID(rawValue: known) }
      guard let found = try reader?.child(of: parent, named: identifier.rawValue) else { return nil }
      // A node with a slot would have been found by its link, were it still here.
      return slotOfNode[found.id] == nil ? NodeID(rawValue: found.id) : nil
    }

    /// The path of a node, from the topmost one above it in this part; `noSuchNode` when there is none of that number.
    package func path(of id: NodeID) throws(ArchiveError) -> RestorationPath {
      var components: [RestorationIdentifier] = []
      var next: NodeID? = id
      while let current = next {
        guard let node = try node(current), components.count < limits.depth else {
          throw ArchiveError.noSuchNode(current)
        }
        components.append(node.identifier)
        next = isBoundary(current.rawValue) ? nil : node.parent
      }
      return RestorationPath(components.reversed())
    }

    /// Takes the states over a budget that were not told of before: those that are too big for a node, then those that were too
    /// much for the archive or delta made last.
    ///
    /// Ask once that is stored. An archive that could not be stored has left nothing out: the next one decides anew.
    package mutating func takeSheddings() -> [Shedding] {
      defer { (oversized, sheddings) = ([:], []) }
      return oversized.values.sorted { $0.node.rawValue < $1.node.rawValue } + sheddings
    }
  }
}
