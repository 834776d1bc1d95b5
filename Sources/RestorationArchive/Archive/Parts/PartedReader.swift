package import FoundationShim
import Synchronization

extension RestorationArchive {
  /// Reads a tree that is in up to four archives, its parts; one part costs what a ``Reader`` does.
  ///
  /// It shows one tree. What is in a part that is away, because its keys are, shows as a hole: a node with the flag
  /// ``NodeFlags/hole``, without children and state.
  package struct PartedReader: Sendable {
    /// The first part.
    let first: Reader
    /// The other parts, from the second on; empty when there is nothing but the first.
    let further: [Reader?]
    /// The parts that there are and that can't be read now.
    package let away: Set<Part>
    private let cache: CrossingCache?

    /// Reads an archive of one part.
    package init(_ first: Reader) {
      (self.first, further, away, cache) = (first, [], [], nil)
    }

    /// Opens an archive of one part with its deltas, oldest first; see ``Reader/init(base:deltas:limits:)``.
    package init(base: Source, deltas: [Data] = [], limits: Limits = .default) throws(ArchiveError) {
      self.init(try Reader(base: base, deltas: deltas, limits: limits))
    }

    /// Reads the parts of a tree: `corrupt` when an archive is of another part than its place.
    ///
    /// - Parameters:
    ///   - first: The first part.
    ///   - further: The other parts that can be read.
    ///   - away: Those that can't be, now.
    package init(first: Reader, further: [Part: Reader], away: Set<Part> = []) throws(ArchiveError) {
      for (part, reader) in further.merging([.first: first], uniquingKeysWith: { $1 }) {
        guard reader.core.part == part.rawValue, further[.first] == nil, !away.contains(part) else {
          throw ArchiveError(
            .corrupt, "an archive of part \(reader.core.part) stands in the place of part \(part.rawValue)")
        }
      }
      self.first = first
      self.away = away
      let isAlone = further.isEmpty && away.isEmpty
      self.further = isAlone ? [] : Part.allCases.dropFirst().map { further[$0] }
      cache = isAlone ? nil : CrossingCache()
    }

    /// Adds a part that was away.
    package mutating func attach(_ reader: Reader, as part: Part) throws(ArchiveError) {
      var parts = furtherParts
      parts[part] = reader
      self = try PartedReader(first: first, further: parts, away: away.subtracting([part]))
    }

    /// Says of a part that was away that it is nowhere.
    mutating func forget(_ part: Part) throws(ArchiveError) {
      self = try PartedReader(first: first, further: furtherParts, away: away.subtracting([part]))
    }

    private var furtherParts: [Part: Reader] {
      Dictionary(uniqueKeysWithValues: parts.dropFirst().compactMap { part in reader(of: part).map { (part, $0) } })
    }

    /// The parts that are here, in order.
    package var parts: [Part] {
      [.first] + zip(Part.allCases.dropFirst(), further).compactMap { part, reader in reader == nil ? nil : part }
    }

    /// A part as an archive of its own; nil when it is not here.
    package func reader(of part: Part) -> Reader? {
      if part == .first { return first }
      return further.isEmpty ? nil : further[Int(part.rawValue) - 1]
    }

    /// The circumstances of the newest save in any part that is here.
    package var context: Context {
      get throws(ArchiveError) {
        var newest = try first.context
        for case let reader? in further {
          let context = try reader.context
          if context.timeSaved > newest.timeSaved { newest = context }
        }
        return newest
      }
    }

    /// The number of nodes in all parts that are here; boundaries are counted twice.
    package var nodeCount: Int { further.reduce(first.nodeCount) { $0 + ($1?.nodeCount ?? 0) } }

    /// The bytes of all nodes' states in the parts that are here.
    package var liveBytes: Int { further.reduce(first.liveBytes) { $0 + ($1?.liveBytes ?? 0) } }

    /// What doesn't fit; looks at every boundary and every hole.
    package func irregularities() throws(ArchiveError) -> Irregularities {
      if let cache { return Irregularities(try crossings(cache)) }
      return Irregularities(try Crossings([first.core], away: []))
    }

    // MARK: Nodes

    /// The nodes without a parent, in order.
    package var roots: [NodeID] {
      get throws(ArchiveError) {
        let roots = try shown(first.roots, in: .first)
        return further.isEmpty ? roots : roots.filter { !NodeNumber.isBoundary($0.rawValue, of: 0) }
      }
    }

    /// The facts about a node, or about the hole in its place; nil when there is neither.
    package func node(_ id: NodeID) throws(ArchiveError) -> Node? {
      guard let cache else { return try first.node(id) }
      guard id.rawValue != ArchiveHeader.rootID else { return nil }
      if var node = try located(id.part, { (part) throws(ArchiveError) in try part.node(id) }) {
        if NodeNumber.isCrossing(id.rawValue), let parent = try crossings(cache).relocated[id.rawValue] {
          node.parent = NodeID(unlessRoot: parent)
        }
        return node
      }
      return try hole(id)
    }

    /// The hole of a node that is nowhere, or away.
    private func hole(_ id: NodeID) throws(ArchiveError) -> Node? {
      guard let cache, NodeNumber.isCrossing(id.rawValue) else { return nil }
      let surplus = try crossings(cache).surplus
      for part in parts where part != id.part && surplus[UInt32(part.rawValue)]?.contains(id.rawValue) != true {
        guard let node = try located(part, { (part) throws(ArchiveError) in try part.core.node(id.rawValue) }) else {
          continue
        }
        return Node(
          id: id, parent: NodeID(unlessRoot: node.parent), identifier: NodeNumber.holeName(id.rawValue),
          attributes: .hole, byteCount: 0)
      }
      return nil
    }

    /// The node at a path; nil when there is none.
    package func node(at path: RestorationPath) throws(ArchiveError) -> Node? {
      guard cache != nil else { return try first.node(at: path) }
      return try id(at: path).flatMap { id throws(ArchiveError) in try node(id) }
    }

    /// The number of the node at a path; nil when there is none.
    package func id(at path: RestorationPath) throws(ArchiveError) -> NodeID? {
      guard cache != nil else { return try first.id(at: path) }
      guard path.components.count <= first.core.limits.depth else { return nil }
      var node: NodeID?
      for component in path.components {
        node = try child(of: node, identifier: component)
        if node == nil { return nil }
      }
      return node
    }

    /// The child of a node, or a root, that has an identifier; nil when there is none.
    package func child(of parent: NodeID?, identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID? {
      guard let cache else { return try first.child(of: parent, identifier: identifier) }
      let owner = Part(listing: parent)
      guard parts.contains(owner) else { return nil }
      if let child = try located(
        owner,
        { (part) throws(ArchiveError) in
          try part.child(of: parent, identifier: identifier)
        })
      {
        return child
      }
      for part in parts where part != owner {
        let child = try located(part) { (part) throws(ArchiveError) in
          try part.child(of: parent, identifier: identifier)
        }
        guard let child, child.part == part else { continue }
        if try hasHole(child, below: parent) { return child }
        guard try self.node(child)?.parent == parent else { continue }
        if try !crossings(cache).isNowhere(child.rawValue) { return child }
      }
      for (number, actual) in try crossings(cache).relocated where actual == parent?.rawValue ?? ArchiveHeader.rootID {
        let id = NodeID(rawValue: number)
        if try node(id)?.identifier == identifier { return id }
      }
      return nil
    }

    /// Whether a boundary's hole is where its block says, so that no others have to be compared.
    func hasHole(_ boundary: NodeID, below parent: NodeID?) throws(ArchiveError) -> Bool {
      let hole = try located(Part(listing: parent)) { (part) throws(ArchiveError) in
        try part.core.node(boundary.rawValue)
      }
      return hole.map { $0.parent == parent?.rawValue ?? ArchiveHeader.rootID } ?? false
    }

    /// The children of a node, in order; none for a hole, and for a number that no node has.
    package func children(of id: NodeID) throws(ArchiveError) -> [NodeID] {
      guard cache != nil else { return try first.children(of: id) }
      guard id.rawValue != ArchiveHeader.rootID else { return [] }
      let children = try located(id.part) { (part) throws(ArchiveError) in try part.children(of: id) } ?? []
      return try shown(children, in: id.part)
    }

    /// The members of a list that are in the tree at this place.
    func shown(_ children: [NodeID], in part: Part) throws(ArchiveError) -> [NodeID] {
      // A part that is here alone has no second hole of a number.
      guard let cache, children.contains(where: { NodeNumber.isCrossing($0.rawValue) }), parts.count > 1,
        let surplus = try crossings(cache).surplus[UInt32(part.rawValue)]
      else { return children }
      return children.filter { !surplus.contains($0.rawValue) }
    }

    /// The path of a node; `noSuchNode` when there is none of that number.
    package func path(of id: NodeID) throws(ArchiveError) -> RestorationPath {
      guard cache != nil else { return try first.path(of: id) }
      var components: [RestorationIdentifier] = []
      var next: NodeID? = id
      while let current = next {
        guard components.count < first.core.limits.depth, let node = try node(current) else {
          throw ArchiveError.noSuchNode(current)
        }
        components.append(node.identifier)
        next = node.parent
      }
      return RestorationPath(components.reversed())
    }

    /// The state of a node; `noSuchNode` when there is none of that number, `partAway` for a hole of what is away.
    ///
    /// Only the node's own bytes are fetched, and the tables the first time. Values are decoded when asked for.
    package func record(of id: NodeID) throws(ArchiveError) -> Record {
      guard cache != nil else { return try first.record(of: id) }
      guard !away.contains(id.part) else { throw ArchiveError.partAway(id) }
      let record = try located(id.part) { (part) throws(ArchiveError) -> Record in
        guard let node = try part.core.node(id.rawValue) else { throw ArchiveError.noSuchNode(id) }
        return try Record(core: part.core, node: node, tree: self)
      }
      guard let record else { throw ArchiveError.noSuchNode(id) }
      return record
    }

    /// The state of the node at a path; nil when there is none.
    package func record(at path: RestorationPath) throws(ArchiveError) -> Record? {
      guard cache != nil else { return try first.record(at: path) }
      return try id(at: path).map { id throws(ArchiveError) in try record(of: id) }
    }

    // MARK: Parts

    /// Asks a part that is here; its errors name it.
    func located<Result>(
      _ part: Part, _ body: (Reader) throws(ArchiveError) -> Result?
    ) throws(ArchiveError) -> Result? {
      guard let reader = reader(of: part) else { return nil }
      do throws(ArchiveError) {
        return try body(reader)
      } catch {
        throw error.located(in: part)
      }
    }

    /// The boundaries and holes that don't fit; compared when that is first needed.
    func crossings() throws(ArchiveError) -> Crossings? {
      guard let cache else { return nil }
      return try crossings(cache)
    }

    private func crossings(_ cache: CrossingCache) throws(ArchiveError) -> Crossings {
      if let known = cache.value.withLock({ $0 }) { return known }
      let crossings = try Crossings(parts.compactMap { reader(of: $0)?.core }, away: away)
      cache.value.withLock { $0 = crossings }
      return crossings
    }
  }
}

/// What copies of a reader know of boundaries and holes.
private final class CrossingCache: Sendable {
  let value = Mutex<Crossings?>(nil)
}

extension Crossings {
  /// Whether a boundary is in no list of children.
  func isNowhere(_ number: UInt32) -> Bool { unplaced.contains(number) || waiting.contains(number) }
}

extension ArchiveError {
  /// The error with the part that it is about.
  func located(in part: RestorationArchive.Part) -> ArchiveError {
    var located = self
    if located.part == nil { located.part = part }
    return located
  }
}
