extension RestorationArchive.Writer {
  /// The slot of the parent of the roots.
  static func rootSlot(children: [UInt32]?) -> Slot {
    Slot(
      id: ArchiveHeader.rootID, parent: ArchiveHeader.rootID, name: "", attributes: .init(), payload: .none,
      children: children.map(Siblings.init), isStored: true)
  }

  /// Makes room for nodes that are about to be looked at or inserted, as there may be very many.
  package mutating func makeRoom(for count: Int) {
    slots.reserveCapacity(slots.count + count)
    slotOfNode.reserveCapacity(slotOfNode.count + count)
    links.reserveCapacity(links.count + count)
  }

  /// Reads the facts of a node that will be asked for more than once; nothing for a number that no node has.
  package mutating func prepare(_ id: NodeID) throws(ArchiveError) {
    if slotOfNode[id.rawValue] == nil { try makeSlot(id) }
  }

  /// The position of a node's slot, made of what the reader says if there was none.
  mutating func load(_ id: NodeID) throws(ArchiveError) -> Int {
    if let index = slotOfNode[id.rawValue] {
      guard !slots[index].isRemoved, id.rawValue != ArchiveHeader.rootID else { throw ArchiveError.noSuchNode(id) }
      return index
    }
    guard try makeSlot(id) else { throw ArchiveError.noSuchNode(id) }
    return slots.count - 1
  }

  /// Makes a node's slot from the reader's facts; false when the reader has no node of the number.
  @discardableResult
  private mutating func makeSlot(_ id: NodeID) throws(ArchiveError) -> Bool {
    guard let slot = try readSlot(id.rawValue) else { return false }
    slotOfNode[id.rawValue] = slots.count
    links[Link(parent: slot.parent, name: RestorationIdentifier(slot.name))] = id.rawValue
    slots.append(slot)
    return true
  }

  /// A node's slot, or one made of the reader's facts and not kept; nil when no node has the number.
  func slot(of number: UInt32) throws(ArchiveError) -> Slot? {
    guard let index = slotOfNode[number] else { return try readSlot(number) }
    return slots[index].isRemoved ? nil : slots[index]
  }

  private func readSlot(_ number: UInt32) throws(ArchiveError) -> Slot? {
    guard let reader, let node = try reader.node(number) else { return nil }
    return Slot(
      id: number, parent: node.parent, name: node.name, attributes: try reader.attributes(of: node, tags: tags),
      payload: .stored(node.state), children: reader.isKnownLeaf(node) ? Siblings([]) : nil, isStored: true)
  }

  /// The position of the slot of a node, or of the parent of the roots, with its children in it.
  mutating func loadChildren(of number: UInt32) throws(ArchiveError) -> Int {
    let index: Int
    if number == ArchiveHeader.rootID {
      if let known = slotOfNode[number] {
        index = known
      } else {
        index = slots.count
        slots.append(Self.rootSlot(children: nil))
        slotOfNode[number] = index
      }
    } else {
      index = try load(NodeID(rawValue: number))
    }
    if slots[index].children == nil { slots[index].children = Siblings(try reader?.children(of: number) ?? []) }
    return index
  }

  /// Makes slots of all nodes below one, and tells their numbers, parents before children.
  ///
  /// Each must name the parent whose child it is, so that damage that makes circles or shares children ends here.
  mutating func loadAll(below top: UInt32) throws(ArchiveError) -> [UInt32] {
    if top != ArchiveHeader.rootID { _ = try load(NodeID(rawValue: top)) }
    var found: [UInt32] = []
    var parent = top
    var next = 0
    while true {
      let children = try childNumbers(of: parent)
      guard found.count + children.count <= nodeCount else { throw nodesFormCircle(below: NodeID(rawValue: parent)) }
      for child in children {
        guard try isListed(slots[load(NodeID(rawValue: child))], below: parent) else {
          throw nodesFormCircle(below: NodeID(rawValue: parent))
        }
      }
      found.append(contentsOf: children)
      guard next < found.count else { return found }
      parent = found[next]
      next += 1
    }
  }

  /// The numbers of a node's children, or of the roots.
  func childNumbers(of number: UInt32) throws(ArchiveError) -> [UInt32] {
    if let index = slotOfNode[number] {
      return slots[index].isRemoved ? [] : try childNumbers(of: slots[index])
    }
    return try reader?.children(of: number) ?? []
  }

  /// The numbers of the children of a slot's node.
  func childNumbers(of slot: Slot) throws(ArchiveError) -> [UInt32] {
    if let children = slot.children { return children.ordered }
    return try reader?.children(of: slot.id) ?? []
  }

  /// Changes a slot and remembers that the next delta must hold it.
  mutating func change(_ index: Int, _ body: (inout Slot) -> Void) {
    let wasDirty = slots[index].isDirty
    body(&slots[index])
    if !wasDirty, slots[index].isDirty { dirty.append(index) }
  }

  /// The error of lists of children that contradict the nodes' parents.
  func nodesFormCircle(below id: NodeID) -> ArchiveError {
    ArchiveError(.corrupt, "the nodes below \(id) form a circle, or are listed below another parent than their own")
  }
}
