extension RestorationArchive.Writer {
  /// Adds a node without state: `duplicateIdentifier` when a sibling has its identifier.
  ///
  /// - Parameters:
  ///   - identifier: What the node is called among its siblings.
  ///   - parent: The node above it; nil for a root.
  ///   - index: The place among its siblings; nil for the last. A place past the end is the last.
  ///   - attributes: Class tag, version and the rest.
  package mutating func insert(
    _ identifier: RestorationIdentifier, parent: NodeID? = nil, at index: Int? = nil,
    attributes: RestorationArchive.Attributes = .init()
  ) throws(ArchiveError) -> NodeID {
    try add(identifier, parent, attributes) { $0.insert($1, at: index) }
  }

  /// Adds a node without state right before a sibling, without counting the places before it: `duplicateIdentifier` when
  /// a sibling has its identifier.
  package mutating func insert(
    _ identifier: RestorationIdentifier, before sibling: NodeID, attributes: RestorationArchive.Attributes = .init()
  ) throws(ArchiveError) -> NodeID {
    let parent = slots[try load(sibling)].parent
    return try add(identifier, NodeID(unlessRoot: parent), attributes) {
      $0.insert($1, before: sibling.rawValue)
    }
  }

  private mutating func add(
    _ identifier: RestorationIdentifier, _ parent: NodeID?, _ attributes: RestorationArchive.Attributes,
    _ place: (inout Siblings, UInt32) -> Void
  ) throws(ArchiveError) -> NodeID {
    let parentNumber = parent?.rawValue ?? ArchiveHeader.rootID
    let parentSlot = try loadChildren(of: parentNumber)
    try requireNoHole(parentSlot)
    try requireFree(identifier, under: parent)
    try requireRoom()
    guard try depth(of: parentNumber, below: nil) < limits.depth else {
      throw ArchiveError(.limitExceeded, "the tree would be deeper than \(limits.depth) levels")
    }
    let id = nextID
    add(
      Slot(
        id: id, parent: parentNumber, name: identifier.rawValue, attributes: attributes, payload: .none,
        children: Siblings([]),
        isStored: false),
      to: parentSlot, place)
    return NodeID(rawValue: id)
  }

  /// Throws `limitExceeded` when there can be no more nodes.
  func requireRoom() throws(ArchiveError) {
    guard nodeCount < limits.nodeCount, NodeNumber.count(below: nextID) < NodeNumber.countLimit else {
      throw ArchiveError(.limitExceeded, "there are \(nodeCount) nodes already; raise the limit or remove some")
    }
  }

  /// Adds the slot of a node that is new here to a list of children.
  mutating func add(_ slot: Slot, to list: Int, _ place: (inout Siblings, UInt32) -> Void) {
    nextID += 1
    nodeCount += 1
    slotOfNode[slot.id] = slots.count
    links[Link(parent: slot.parent, name: RestorationIdentifier(slot.name))] = slot.id
    slots.append(slot)
    self.place(in: list) { place(&$0, slot.id) }
    change(slots.count - 1) {
      $0.isChanged = true
      $0.isRelinked = true
    }
  }

  /// Gives a node another parent or another place: `invalidTree` when it would lie below itself.
  ///
  /// - Parameters:
  ///   - id: The node.
  ///   - parent: Its new parent; nil for a root.
  ///   - index: The place among its new siblings, itself not counted; nil for the last.
  package mutating func move(_ id: NodeID, to parent: NodeID?, at index: Int? = nil) throws(ArchiveError) {
    let slot = try load(id)
    let target = parent?.rawValue ?? ArchiveHeader.rootID
    let source = slots[slot].parent
    let targetSlot = try loadChildren(of: target)
    let sourceSlot = try loadChildren(of: source)
    let identifier = RestorationIdentifier(slots[slot].name)
    if source != target {
      try requireFree(identifier, under: parent)
      let depth = try depth(of: target, below: id)
      guard try depth + height(of: id.rawValue) <= limits.depth else {
        throw ArchiveError(.limitExceeded, "the tree would be deeper than \(limits.depth) levels")
      }
    }
    if source == target { return reorder(id.rawValue, in: targetSlot, at: index) }
    change(sourceSlot) {
      $0.children?.remove(id.rawValue)
      $0.hasChangedChildren = true
    }
    place(in: targetSlot) { $0.insert(id.rawValue, at: index) }
    links[Link(parent: source, name: identifier)] = nil
    links[Link(parent: target, name: identifier)] = id.rawValue
    change(slot) {
      $0.parent = target
      $0.isChanged = true
      $0.isRelinked = true
    }
  }

  /// Gives a node another place among its siblings.
  mutating func reorder(_ id: UInt32, in list: Int, at index: Int?) {
    let before = slots[list].children?.ordered
    slots[list].children?.remove(id)
    slots[list].children?.insert(id, at: index)
    if slots[list].children?.ordered != before { change(list) { $0.hasChangedChildren = true } }
  }

  /// Puts a node's children, or the roots, in another order, which must be of the same children.
  package mutating func setChildren(_ children: [NodeID], of parent: NodeID?) throws(ArchiveError) {
    let slot = try loadChildren(of: parent?.rawValue ?? ArchiveHeader.rootID)
    let numbers = children.map(\.rawValue)
    let present = slots[slot].children?.ordered
    guard numbers != present else { return }
    guard numbers.sorted() == present?.sorted() else {
      throw ArchiveError(
        .invalidTree, "an order of children must name each child once; insert, move or remove for anything else")
    }
    change(slot) {
      $0.children = Siblings(numbers)
      $0.hasChangedChildren = true
    }
  }

  /// Gives a node another identifier: `duplicateIdentifier` when a sibling has it.
  package mutating func rename(_ id: NodeID, to identifier: RestorationIdentifier) throws(ArchiveError) {
    let slot = try load(id)
    try requireNoHole(slot)
    let old = Link(parent: slots[slot].parent, name: RestorationIdentifier(slots[slot].name))
    guard old.name != identifier else { return }
    try requireFree(identifier, under: NodeID(unlessRoot: old.parent))
    links[old] = nil
    links[Link(parent: old.parent, name: identifier)] = id.rawValue
    change(slot) {
      $0.name = identifier.rawValue
      $0.isChanged = true
      $0.isRelinked = true
    }
  }

  /// Removes a node and everything below it.
  package mutating func remove(_ id: NodeID) throws(ArchiveError) {
    let top = try load(id)
    // Everything is read before anything is changed, so that a failing source leaves the tree whole.
    let found = [id.rawValue] + (try loadAll(below: id.rawValue))
    let parent = try loadChildren(of: listOwner(of: slots[top]))
    change(parent) {
      $0.children?.remove(id.rawValue)
      $0.hasChangedChildren = true
    }
    for number in found {
      guard let slot = slotOfNode[number] else { continue }
      links[Link(parent: slots[slot].parent, name: RestorationIdentifier(slots[slot].name))] = nil
      nodeCount -= 1
      if isBoundary(number) { boundaryCount -= 1 }
      include(slot)
      liveBytes -= slots[slot].payload.count
      change(slot) {
        $0.isRemoved = true
        $0.isChanged = true
        $0.children = Siblings([])
        $0.payload = .none
      }
    }
  }

  // MARK: Helpers

  mutating func place(in slot: Int, _ body: (inout Siblings) -> Void) {
    change(slot) { slot in
      if var children = slot.children.take() {
        body(&children)
        slot.children = children
      }
      slot.hasChangedChildren = true
    }
  }

  private func requireFree(_ identifier: RestorationIdentifier, under parent: NodeID?) throws(ArchiveError) {
    guard let taken = try child(of: parent, identifier: identifier) else { return }
    throw ArchiveError(
      .duplicateIdentifier, "node \(taken) has this identifier already; give its sibling another",
      path: try? path(of: taken))
  }

  /// The number of levels above and with a node in this part, at most one more than the limit, as damage can make
  /// circles.
  ///
  /// Throws `invalidTree` when another node is among them.
  private func depth(of number: UInt32, below other: NodeID?) throws(ArchiveError) -> Int {
    var depth = 0
    var next = number
    while next != ArchiveHeader.rootID, depth <= limits.depth {
      if let other, next == other.rawValue {
        throw ArchiveError(.invalidTree, "node \(other) cannot lie below itself", path: try? path(of: other))
      }
      guard let slot = try slot(of: next) else { throw ArchiveError.noSuchNode(NodeID(rawValue: next)) }
      next = isBoundary(next) ? ArchiveHeader.rootID : slot.parent
      depth += 1
    }
    return depth
  }

  private func height(of number: UInt32) throws(ArchiveError) -> Int {
    var level = [number]
    var height = 0
    var count = 0
    while !level.isEmpty, height <= limits.depth {
      height += 1
      var below: [UInt32] = []
      for number in level {
        let children = try childNumbers(of: number)
        count += children.count
        guard count <= nodeCount else { throw nodesFormCircle(below: NodeID(rawValue: number)) }
        below.append(contentsOf: children)
      }
      level = below
    }
    return height
  }
}
