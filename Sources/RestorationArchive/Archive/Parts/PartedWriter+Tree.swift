extension RestorationArchive.PartedWriter {
  typealias Place = RestorationArchive.Writer.Place
  /// The numbers of nodes that have others now, by the former ones.
  package typealias Renumbering = [NodeID: NodeID]

  // MARK: Inserting

  /// Adds a node without state: `duplicateIdentifier` when a sibling has its identifier, `partAway` below a hole.
  ///
  /// - Parameters:
  ///   - identifier: What the node is called among its siblings.
  ///   - parent: The node above it; nil for a root.
  ///   - index: The place among its siblings; nil for the last. A place past the end is the last.
  ///   - attributes: Class tag, version and the rest.
  ///   - part: The part that it is in; nil for its parent's, and for a root the first.
  package mutating func insert(
    _ identifier: RestorationIdentifier, parent: NodeID? = nil, at index: Int? = nil,
    attributes: RestorationArchive.Attributes = .init(), part: RestorationArchive.Part? = nil
  ) throws(ArchiveError) -> NodeID {
    if further.isEmpty, part ?? .first == .first {
      return try first.insert(identifier, parent: parent, at: index, attributes: attributes)
    }
    return try insert(identifier, parent, at: .at(storedIndex(index, below: parent)), attributes, part)
  }

  /// Adds a node without state right before a sibling, without counting the places before it.
  ///
  /// Throws as ``insert(_:parent:at:attributes:part:)`` does.
  package mutating func insert(
    _ identifier: RestorationIdentifier, before sibling: NodeID, attributes: RestorationArchive.Attributes = .init(),
    part: RestorationArchive.Part? = nil
  ) throws(ArchiveError) -> NodeID {
    if further.isEmpty, part ?? .first == .first {
      return try first.insert(identifier, before: sibling, attributes: attributes)
    }
    guard let node = try node(sibling), !isNowhere(sibling) else {
      throw away.contains(sibling.part) || isNowhere(sibling)
        ? ArchiveError.partAway(sibling) : ArchiveError.noSuchNode(sibling)
    }
    return try insert(identifier, node.parent, at: .before(sibling.rawValue), attributes, part)
  }

  private mutating func insert(
    _ identifier: RestorationIdentifier, _ parent: NodeID?, at place: Place,
    _ attributes: RestorationArchive.Attributes, _ part: RestorationArchive.Part?
  ) throws(ArchiveError) -> NodeID {
    let owner = RestorationArchive.Part(listing: parent)
    if let parent { _ = try changeableNode(parent) }
    try requireFree(identifier, under: parent)
    guard try depth(of: parent) < limits.depth else { throw tooDeep }
    let part = part ?? owner
    try begin(part)
    let parentNumber = parent?.rawValue ?? ArchiveHeader.rootID
    guard part != owner else {
      return try change(owner) { (writer) throws(ArchiveError) in
        let number = writer.nextID
        try writer.insert(number, named: identifier, parent: parentNumber, attributes, at: place)
        return NodeID(rawValue: number)
      }
    }
    for one in [owner, part] {
      try located(one) { (writer) throws(ArchiveError) in try writer.requireRoom() }
    }
    let number = try drawNumber(in: part)
    try change(owner) { (writer) throws(ArchiveError) in
      try writer.insertHole(number, parent: parentNumber, at: place)
    }
    try change(part) { (writer) throws(ArchiveError) in
      try writer.insert(number, named: identifier, parent: parentNumber, attributes, at: .at(nil))
    }
    return NodeID(rawValue: number)
  }

  // MARK: Moving

  /// Gives a node another parent or another place: `invalidTree` when it would lie below itself, `partAway` for a hole.
  ///
  /// The node stays in its part. It gets another number when it becomes a boundary or was one; all below it keep
  /// theirs. When it might come to lie below itself, by way of what is away, that throws `partAway`.
  ///
  /// - Parameters:
  ///   - id: The node.
  ///   - parent: Its new parent; nil for a root.
  ///   - index: The place among its new siblings, itself not counted; nil for the last.
  @discardableResult
  package mutating func move(_ id: NodeID, to parent: NodeID?, at index: Int? = nil) throws(ArchiveError) -> Renumbering
  {
    if further.isEmpty {
      try first.move(id, to: parent, at: index)
      return [:]
    }
    let node = try changeableNode(id)
    guard !waiting.contains(id.rawValue) else { throw ArchiveError.partAway(id) }
    if let parent { _ = try changeableNode(parent) }
    let isPlaced = !unplaced.contains(id.rawValue)
    let index = try storedIndex(index, below: parent, except: id)
    let owner = RestorationArchive.Part(listing: parent)
    if isPlaced, node.parent == parent {
      try change(owner) { (writer) throws(ArchiveError) in try writer.reorder(id.rawValue, at: index) }
      return [:]
    }
    try requireFree(node.identifier, under: parent, except: id)
    guard try depth(of: parent, below: id) + height(of: id) <= limits.depth else { throw tooDeep }
    if let parent, try hasHoles(below: id), try isBelowAway(parent) {
      // The new parent may lie below the node, by way of what is away.
      throw ArchiveError.partAway(parent)
    }
    let before = self
    do throws(ArchiveError) {
      return try move(node, to: parent, .at(index), isPlaced: isPlaced)
    } catch {
      self = before
      throw error
    }
  }

  private mutating func move(
    _ node: RestorationArchive.Node, to parent: NodeID?, _ place: Place, isPlaced: Bool
  ) throws(ArchiveError) -> Renumbering {
    let number = node.id.rawValue
    let (part, owner) = (node.id.part, RestorationArchive.Part(listing: parent))
    let target = parent?.rawValue ?? ArchiveHeader.rootID
    guard isBoundary(node.id) || part != owner else {
      return try change(part) { (writer) throws(ArchiveError) in
        try writer.move(node.id, to: parent, at: place.index)
        return [:]
      }
    }
    if isBoundary(node.id), isPlaced {
      try change(RestorationArchive.Part(listing: node.parent)) { (writer) throws(ArchiveError) in
        try writer.remove(node.id)
      }
    }
    unplaced.remove(number)
    guard !isBoundary(node.id) || part == owner else {
      try change(owner) { (writer) throws(ArchiveError) in
        try writer.insertHole(number, parent: target, at: place)
      }
      try change(part) { (writer) throws(ArchiveError) in try writer.setParent(target, ofBoundary: number) }
      return [:]
    }
    let new = part == owner ? read(part) { $0.nextID } : try drawNumber(in: part)
    if part != owner {
      try change(owner) { (writer) throws(ArchiveError) in try writer.insertHole(new, parent: target, at: place) }
    }
    try renumber(node.id, to: new, parent: target, at: part == owner ? place : .at(nil))
    return [node.id: NodeID(rawValue: new)]
  }

  /// Gives a node another number and place in its part; the boundaries below it follow.
  mutating func renumber(_ id: NodeID, to new: UInt32, parent: UInt32, at place: Place) throws(ArchiveError) {
    let children = try change(id.part) { (writer) throws(ArchiveError) in
      try writer.renumber(id.rawValue, to: new, parent: parent, at: place)
    }
    try adopt(children, below: new)
  }

  /// Has boundaries name their new parent, whose list has their holes; those that are away will find it by these.
  mutating func adopt(_ children: [UInt32], below parent: UInt32) throws(ArchiveError) {
    let owner = RestorationArchive.Part(of: parent)
    for child in children {
      let id = NodeID(rawValue: child)
      guard id.part != owner, try ownNode(id) != nil else { continue }
      try change(id.part) { (writer) throws(ArchiveError) in try writer.setParent(parent, ofBoundary: child) }
    }
  }

  /// Puts a node's children, or the roots, in another order, which must be of the same children; holes are among them.
  package mutating func setChildren(_ children: [NodeID], of parent: NodeID?) throws(ArchiveError) {
    if further.isEmpty { return try first.setChildren(children, of: parent) }
    if let parent { _ = try changeableNode(parent) }
    try change(RestorationArchive.Part(listing: parent)) { (writer) throws(ArchiveError) in
      let boundaries = parent == nil ? try writer.roots.filter { writer.isBoundary($0.rawValue) } : []
      try writer.setChildren(children + boundaries, of: parent)
    }
  }

  /// Gives a node another identifier: `duplicateIdentifier` when a sibling has it, `partAway` for a hole.
  package mutating func rename(_ id: NodeID, to identifier: RestorationIdentifier) throws(ArchiveError) {
    if further.isEmpty { return try first.rename(id, to: identifier) }
    let node = try changeableNode(id)
    guard node.identifier != identifier else { return }
    try requireFree(identifier, under: node.parent)
    try change(id.part) { (writer) throws(ArchiveError) in try writer.rename(id, to: identifier) }
  }

  // MARK: Removing

  /// Removes a node and everything below it.
  ///
  /// - Parameters:
  ///   - id: The node, or a hole of no node.
  ///   - orphaningAway: Whether it goes also when something below it is away, which is unplaced when it comes.
  ///     Otherwise that throws `partAway`.
  package mutating func remove(_ id: NodeID, orphaningAway: Bool = false) throws(ArchiveError) {
    if further.isEmpty { return try first.remove(id) }
    guard let node = try ownNode(id) else {
      guard !away.contains(id.part) else { throw ArchiveError.partAway(id) }
      guard let part = try hole(id)?.part else { throw ArchiveError.noSuchNode(id) }
      return try change(part) { (writer) throws(ArchiveError) in try writer.remove(id) }
    }
    guard !waiting.contains(id.rawValue) else { throw ArchiveError.partAway(id) }
    // Everything is read before anything is changed, so that a failing source leaves the tree whole.
    let tops = try topsOfSubtree(id, orphaningAway: orphaningAway)
    if isBoundary(id), !unplaced.contains(id.rawValue) {
      try change(RestorationArchive.Part(listing: node.parent)) { (writer) throws(ArchiveError) in
        try writer.remove(id)
      }
    }
    for top in tops.reversed() {
      try change(top.part) { (writer) throws(ArchiveError) in try writer.remove(top) }
      unplaced.remove(top.rawValue)
    }
  }

  /// The topmost nodes, in each part, of everything below a node.
  private mutating func topsOfSubtree(_ id: NodeID, orphaningAway: Bool) throws(ArchiveError) -> [NodeID] {
    var tops = [id]
    var known: Set<NodeID> = [id]
    var next = 0
    while next < tops.count {
      let top = tops[next]
      let found = try change(top.part) { (writer) throws(ArchiveError) in try writer.loadAll(below: top.rawValue) }
      for number in found where NodeNumber.isCrossing(number) {
        let boundary = NodeID(rawValue: number)
        if away.contains(boundary.part) {
          guard orphaningAway else { throw ArchiveError.partAway(boundary) }
        } else if try ownNode(boundary) != nil {
          guard known.insert(boundary).inserted else { throw first.nodesFormCircle(below: top) }
          tops.append(boundary)
        }
      }
      next += 1
    }
    return tops
  }

  // MARK: Helpers

  /// Whether a node that is here has its hole in another part.
  func isBoundary(_ id: NodeID) -> Bool { NodeNumber.isCrossing(id.rawValue) }

  /// Whether a boundary is in no list of children.
  func isNowhere(_ id: NodeID) -> Bool { unplaced.contains(id.rawValue) || waiting.contains(id.rawValue) }

  /// A number for a boundary of a part that neither a node nor a hole has.
  func drawNumber(in part: RestorationArchive.Part) throws(ArchiveError) -> UInt32 {
    while true {
      let number = NodeNumber.crossing(of: UInt32(part.rawValue), bits: draw())
      if number != ArchiveHeader.rootID, try node(NodeID(rawValue: number)) == nil { return number }
    }
  }

  /// A place among the roots as the first part has them: its boundaries are among them.
  private func storedIndex(
    _ index: Int?, below parent: NodeID?, except id: NodeID? = nil
  ) throws(ArchiveError) -> Int? {
    guard let index, parent == nil, read(.first, { $0.boundaryCount }) > 0 else { return index }
    let stored = try first.roots.filter { $0 != id }
    let shown = stored.indices.filter { !NodeNumber.isBoundary(stored[$0].rawValue, of: 0) }
    return index < shown.count ? shown[max(index, 0)] : nil
  }

  private func requireFree(
    _ identifier: RestorationIdentifier, under parent: NodeID?, except id: NodeID? = nil
  ) throws(ArchiveError) {
    guard let taken = try child(of: parent, identifier: identifier), taken != id else { return }
    throw ArchiveError(
      .duplicateIdentifier, "node \(taken) has this identifier already; give its sibling another",
      path: try? path(of: taken))
  }

  private var tooDeep: ArchiveError {
    ArchiveError(.limitExceeded, "the tree would be deeper than \(limits.depth) levels")
  }

  /// The number of levels above and with a node, at most one more than the limit.
  ///
  /// Throws `invalidTree` when another node is among them.
  func depth(of id: NodeID?, below other: NodeID? = nil) throws(ArchiveError) -> Int {
    var depth = 0
    var next = id
    while let current = next, depth <= limits.depth {
      if current == other {
        throw ArchiveError(.invalidTree, "node \(current) cannot lie below itself", path: try? path(of: current))
      }
      next = try node(current)?.parent
      depth += 1
    }
    return depth
  }

  /// Whether an ancestor of a node is away.
  private func isBelowAway(_ id: NodeID) throws(ArchiveError) -> Bool {
    guard !waiting.isEmpty else { return false }
    var (next, depth): (NodeID?, Int) = (id, 0)
    while let current = next, depth <= limits.depth {
      if waiting.contains(current.rawValue) { return true }
      next = try node(current)?.parent
      depth += 1
    }
    return false
  }

  private func height(of id: NodeID) throws(ArchiveError) -> Int {
    var level = [id]
    var (height, count) = (0, 0)
    while !level.isEmpty, height <= limits.depth {
      height += 1
      var below: [NodeID] = []
      for node in level { below += try children(of: node) }
      count += below.count
      guard count <= nodeCount else { throw first.nodesFormCircle(below: id) }
      level = below
    }
    return height
  }
}

extension RestorationArchive.Writer.Place {
  /// The place among all siblings; nil for the last.
  fileprivate var index: Int? {
    if case .at(let index) = self { return index }
    return nil
  }
}
