import FoundationShim

extension RestorationArchive {
  /// Makes the archives of a tree that is in up to four parts.
  ///
  /// One part costs what a ``Writer`` does, and has its bytes.
  /// It shows one tree. Each part is written alone: see ``changedParts``. Nothing in a part that is away is changed:
  /// such a change throws `partAway`. Budgets of bytes and nodes hold for each part alone, the depth for the whole
  /// tree.
  package struct PartedWriter: Sendable {
    /// Gives random bits for the number of a boundary.
    package typealias Draw = @Sendable () -> UInt32

    /// The first part.
    var first: Writer
    /// The other parts, from the second on, nil for those that are not here; empty when there is nothing but the first.
    var further: [Writer?] = []
    /// The parts that there are and that can't be read now.
    package internal(set) var away: Set<Part> = []
    /// The boundaries that have no hole in any part.
    var unplaced: Set<UInt32> = []
    /// The boundaries whose parent is away.
    var waiting: Set<UInt32> = []
    let limits: Limits
    let draw: Draw

    /// Begins a new tree with nothing in it.
    ///
    /// - Parameters:
    ///   - context: What the archives say of themselves.
    ///   - limits: The limits of nodes, of each archive and of the tree's depth.
    ///   - draw: The source of random bits.
    package init(context: Context, limits: Limits = .default, draw: @escaping Draw = Self.random) {
      first = Writer(context: context, limits: limits)
      self.limits = limits
      self.draw = draw
    }

    /// Random bits, of those that boundaries are numbered with.
    package func drawBits() -> UInt32 { draw() }

    /// Continues a tree: every node is there, and none of the bytes are read until they are needed.
    ///
    /// With several parts, boundaries that are not where their holes are get another parent, and second holes go.
    package init(
      continuing reader: PartedReader, limits: Limits = .default, draw: @escaping Draw = Self.random
    ) throws(ArchiveError) {
      first = try Writer(continuing: reader.first, limits: limits)
      self.limits = limits
      self.draw = draw
      guard let crossings = try reader.crossings() else { return }
      away = reader.away
      for part in reader.further {
        further.append(
          try part.map { part throws(ArchiveError) in
            try Writer(continuing: part, limits: limits)
          })
      }
      try take(crossings)
      // A time that is newest in another part is that of the newest save.
      first.context = try reader.context
    }

    /// The bits of the system's generator.
    package static let random: Draw = { UInt32.random(in: 0...UInt32.max) }

    // MARK: Parts

    /// The parts that are here, in order.
    package var parts: [Part] { further.isEmpty ? [.first] : Part.allCases.filter(isHere) }

    func isHere(_ part: Part) -> Bool {
      part == .first || (!further.isEmpty && further[Int(part.rawValue) - 1] != nil)
    }

    /// The parts in which something has changed since their last archive or delta; a new context is the first part's.
    package var changedParts: [Part] {
      parts.filter { part in
        part == .first ? first.hasChanges || first.isToBeRemade : read(part) { !$0.dirty.isEmpty || $0.isToBeRemade }
      }
    }

    /// Whether something has changed since the last archives or deltas.
    package var hasChanges: Bool {
      further.isEmpty ? first.hasChanges || first.isToBeRemade : !changedParts.isEmpty
    }

    /// The parts that something left since they were written: each needs an archive without it.
    package var partsToRemake: Set<Part> { Set(parts.filter { read($0) { $0.isToBeRemade } }) }

    /// Has a part's next archive made without the keys, shapes and class tags that it does not use any more.
    ///
    /// For rows that were removed there because their class got stronger; ``assign(_:)`` does it by itself.
    package mutating func remake(_ part: Part) throws(ArchiveError) {
      guard isHere(part) else { throw Self.partAway(part) }
      try change(part) { (writer) throws(ArchiveError) in writer.isToBeRemade = true }
    }

    /// The error of a part that can't be written.
    static func partAway(_ part: Part) -> ArchiveError {
      ArchiveError(.partAway, "part \(part.rawValue) of the archive can't be read now; leave its file as it is")
    }

    /// Lends a part that is here.
    @inline(__always)
    func read<Result, Failure: Error>(
      _ part: Part, _ body: (Writer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      part == .first ? try body(first) : try body(further[Int(part.rawValue) - 1]!)
    }

    /// Lends a part that is here, to be changed; its errors name it.
    @inline(__always)
    @discardableResult
    mutating func change<Result>(
      _ part: Part, _ body: (inout Writer) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
      if further.isEmpty { return try body(&first) }
      do throws(ArchiveError) {
        if part == .first { return try body(&first) }
        return try body(&further[Int(part.rawValue) - 1]!)
      } catch {
        throw error.located(in: part)
      }
    }

    /// Has a part be here, with nothing in it when it is new: `partAway` when it is away.
    mutating func begin(_ part: Part) throws(ArchiveError) {
      guard !isHere(part) else { return }
      guard !away.contains(part) else { throw Self.partAway(part) }
      if further.isEmpty {
        further = [nil, nil, nil]
        try take(Crossings([first], away: away))
      }
      further[Int(part.rawValue) - 1] = Writer(context: context, limits: limits, part: part)
    }

    /// Notes which boundaries have no place, and puts those right that don't fit their holes.
    mutating func take(_ crossings: Crossings) throws(ArchiveError) {
      unplaced = Set(crossings.unplaced)
      waiting = Set(crossings.waiting)
      for part in parts {
        let count = crossings.boundaryCounts[UInt32(part.rawValue)] ?? 0
        try change(part) { (writer) throws(ArchiveError) in writer.boundaryCount = count }
      }
      for (part, numbers) in crossings.surplus.sorted(by: { $0.key < $1.key }) {
        for number in numbers.sorted() {
          try change(Part(of: NodeNumber.first(of: part))) { (writer) throws(ArchiveError) in
            try writer.remove(NodeID(rawValue: number))
          }
        }
      }
      for (number, parent) in crossings.relocated.sorted(by: { $0.key < $1.key }) {
        try change(Part(of: number)) { (writer) throws(ArchiveError) in
          try writer.setParent(parent, ofBoundary: number)
        }
      }
    }

    // MARK: Facts

    /// The circumstances that the next archive or delta of any part will tell of.
    ///
    /// A new time of saving alone is no change worth writing.
    package var context: Context {
      get { first.context }
      set { first.context = newValue }
    }

    /// The number of nodes of the tree, holes of what is away included.
    package var nodeCount: Int {
      if further.isEmpty { return first.nodeCount }
      let (nodes, boundaries) = parts.reduce((0, 0)) { sum, part in
        read(part) { (sum.0 + $0.nodeCount, sum.1 + $0.boundaryCount) }
      }
      return nodes - (boundaries - unplaced.count - waiting.count)
    }

    /// The number of nodes of a part, its holes included; 0 for one that has nothing, or is not here.
    package func nodeCount(of part: Part) -> Int { isHere(part) ? read(part) { $0.nodeCount } : 0 }

    /// The bytes of all nodes' states that are written, in all parts that are here.
    package var liveBytes: Int { parts.reduce(0) { $0 + liveBytes(of: $1) } }

    /// The bytes of all states that are written in a part: about what its next whole archive will be.
    package func liveBytes(of part: Part) -> Int { isHere(part) ? read(part) { $0.liveBytes } : 0 }

    /// The number of deltas made since a part's base, those that were read included.
    package func deltaCount(of part: Part) -> Int { isHere(part) ? read(part) { $0.deltaCount } : 0 }

    /// The bytes of the deltas made since a part's base, those that were read included.
    package func deltaBytes(of part: Part) -> Int { isHere(part) ? read(part) { $0.deltaBytes } : 0 }

    /// How much of the bases is in memory, in bytes.
    package var heldByteCount: Int { parts.reduce(0) { sum, part in sum + read(part) { $0.heldByteCount } } }

    /// Another number after each insertion, for names.
    package var nextNumber: UInt32 {
      further.reduce(first.nextNumber) { $0 &+ NodeNumber.count(below: $1?.nextNumber ?? 0) }
    }

    /// What doesn't fit, as it is now; looks at every boundary and every hole.
    ///
    /// ``move(_:to:at:)`` gives an unplaced node a place, ``remove(_:orphaningAway:)`` drops it, or a missing one's
    /// hole.
    package func irregularities() throws(ArchiveError) -> Irregularities { Irregularities(try crossings()) }

    func crossings() throws(ArchiveError) -> Crossings {
      try Crossings(parts.map { read($0) { $0 } }, away: away)
    }

    // MARK: Nodes

    /// Makes room for nodes that are about to be looked at or inserted, as there may be very many.
    package mutating func makeRoom(for count: Int) { first.makeRoom(for: count) }

    /// Reads the facts of a node that will be asked for more than once; nothing for a number that no node has.
    package mutating func prepare(_ id: NodeID) throws(ArchiveError) {
      guard isHere(id.part) else { return }
      try change(id.part) { (writer) throws(ArchiveError) in try writer.prepare(id) }
    }

    /// The nodes without a parent, in order.
    package var roots: [NodeID] {
      get throws(ArchiveError) {
        if further.isEmpty { return try first.roots }
        return try located(.first) { (writer) throws(ArchiveError) in
          try writer.roots.filter { !writer.isBoundary($0.rawValue) }
        }
      }
    }

    /// The facts about a node, or about the hole in its place; nil when there is neither.
    package func node(_ id: NodeID) throws(ArchiveError) -> Node? {
      if further.isEmpty { return try first.node(id) }
      guard id.rawValue != ArchiveHeader.rootID else { return nil }
      if let node = try ownNode(id) { return node }
      return try hole(id)?.node
    }

    /// The facts about a node that is here, which is no hole.
    func ownNode(_ id: NodeID) throws(ArchiveError) -> Node? {
      guard id.rawValue != ArchiveHeader.rootID, isHere(id.part) else { return nil }
      return try located(id.part) { (writer) throws(ArchiveError) in try writer.node(id) }
    }

    /// The facts about a node that is to be changed: `partAway` for one that is away, and a hole; else `noSuchNode`.
    func changeableNode(_ id: NodeID) throws(ArchiveError) -> Node {
      if let node = try ownNode(id), !node.attributes.flags.contains(.hole) { return node }
      let isKnown = try away.contains(id.part) ? true : node(id) != nil
      throw isKnown ? ArchiveError.partAway(id) : ArchiveError.noSuchNode(id)
    }

    /// The hole of a number, and the part that it is in.
    func hole(_ id: NodeID) throws(ArchiveError) -> (node: Node, part: Part)? {
      guard NodeNumber.isCrossing(id.rawValue) else { return nil }
      for part in parts where part != id.part {
        let node = try located(part) { (writer) throws(ArchiveError) in try writer.node(id) }
        if var node {
          (node.attributes, node.byteCount) = (.hole, 0)
          return (node, part)
        }
      }
      return nil
    }

    /// The children of a node, in order; none for a hole, and for a number that no node has.
    package func children(of id: NodeID) throws(ArchiveError) -> [NodeID] {
      if further.isEmpty { return try first.children(of: id) }
      guard id.rawValue != ArchiveHeader.rootID, isHere(id.part) else { return [] }
      return try located(id.part) { (writer) throws(ArchiveError) in try writer.children(of: id) }
    }

    /// The child of a node, or a root, that has an identifier; nil when there is none.
    package func child(of parent: NodeID?, identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID? {
      if further.isEmpty { return try first.child(of: parent, identifier: identifier) }
      let owner = Part(listing: parent)
      guard isHere(owner) else { return nil }
      for part in [owner] + parts.filter({ $0 != owner }) {
        let child = try located(part) { (writer) throws(ArchiveError) in
          try writer.child(of: parent, identifier: identifier)
        }
        if let child, part == owner || !unplaced.contains(child.rawValue) { return child }
      }
      return nil
    }

    /// The path of a node; `noSuchNode` when there is none of that number.
    package func path(of id: NodeID) throws(ArchiveError) -> RestorationPath {
      if further.isEmpty { return try first.path(of: id) }
      var components: [RestorationIdentifier] = []
      var next: NodeID? = id
      while let current = next {
        guard components.count < limits.depth, let node = try node(current) else {
          throw ArchiveError.noSuchNode(current)
        }
        components.append(node.identifier)
        next = node.parent
      }
      return RestorationPath(components.reversed())
    }

    /// Whether something below a node is away.
    package func hasHoles(below id: NodeID) throws(ArchiveError) -> Bool {
      guard !away.isEmpty else { return false }
      var stack = [id]
      var visited = 0
      while let next = stack.popLast() {
        let children = try children(of: next)
        if children.contains(where: { away.contains($0.part) }) { return true }
        visited += children.count
        guard visited <= nodeCount else { throw first.nodesFormCircle(below: id) }
        stack += children
      }
      return false
    }

    /// Asks a part that is here; its errors name it.
    func located<Result>(
      _ part: Part, _ body: (Writer) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
      do throws(ArchiveError) {
        return try read(part, body)
      } catch {
        throw error.located(in: part)
      }
    }
  }
}
