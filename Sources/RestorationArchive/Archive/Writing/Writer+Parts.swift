import FoundationShim

// What a tree of several parts needs of each of them.
extension RestorationArchive.Writer: CrossingSource {
  /// Whether a number is that of a boundary of this part.
  func isBoundary(_ number: UInt32) -> Bool { NodeNumber.isBoundary(number, of: part) }

  /// The node in whose list of children a node is: boundaries are among the roots of their part.
  func listOwner(of slot: Slot) -> UInt32 { isBoundary(slot.id) ? ArchiveHeader.rootID : slot.parent }

  /// Whether a node may be in a node's list of children, or in that of the roots.
  ///
  /// Only boundaries may name a parent of another part, and parts behind the first have no other roots.
  func isListed(_ slot: Slot, below owner: UInt32) -> Bool {
    guard isBoundary(slot.id) else { return slot.parent == owner && (owner != ArchiveHeader.rootID || part == 0) }
    return owner == ArchiveHeader.rootID && NodeNumber.listPart(of: slot.parent) != part
  }

  /// Throws `partAway` for the slot of a hole.
  func requireNoHole(_ slot: Int) throws(ArchiveError) {
    if slots[slot].attributes.flags.contains(.hole) {
      throw ArchiveError.partAway(NodeID(rawValue: slots[slot].id))
    }
  }

  func crossings() throws(ArchiveError) -> [Crossing] {
    // The newest slot of a number counts: a hole may have gone and come again.
    let changed = slots.lazy.filter { NodeNumber.isCrossing($0.id) }.compactMap { slot in
      slotOfNode[slot.id].map { (slot.id, slots[$0].isRemoved ? nil : slots[$0].parent) }
    }
    return Crossing.merge(try reader?.crossings() ?? [], changed: Array(changed))
  }

  /// Where a new node comes among its siblings.
  enum Place: Sendable {
    /// At a place; nil, or a place past the end, is the last.
    case at(Int?)
    /// Right before a sibling.
    case before(UInt32)

    func add(_ id: UInt32, to siblings: inout Siblings) {
      switch self {
      case .at(let index): siblings.insert(id, at: index)
      case .before(let other): siblings.insert(id, before: other)
      }
    }
  }

  /// Adds a node with a number of the caller's, who has made sure that its name and its place are free.
  mutating func insert(
    _ number: UInt32, named name: RestorationIdentifier, parent: UInt32, _ attributes: RestorationArchive.Attributes,
    state: [UInt8] = [], at place: Place
  ) throws(ArchiveError) {
    try requireRoom()
    let list = try loadChildren(of: isBoundary(number) ? ArchiveHeader.rootID : parent)
    add(
      Slot(
        id: number, parent: parent, name: name.rawValue, attributes: attributes, payload: .bytes(state),
        children: Siblings([]), isStored: false), to: list
    ) { place.add($1, to: &$0) }
    liveBytes += state.count
    if isBoundary(number) { boundaryCount += 1 }
  }

  /// Gives a node or a hole another place among its siblings.
  mutating func reorder(_ number: UInt32, at index: Int?) throws(ArchiveError) {
    let list = try loadChildren(of: listOwner(of: slots[load(NodeID(rawValue: number))]))
    reorder(number, in: list, at: index)
  }

  /// Adds a hole.
  mutating func insertHole(_ number: UInt32, parent: UInt32, at place: Place) throws(ArchiveError) {
    try insert(number, named: NodeNumber.holeName(number), parent: parent, .hole, at: place)
  }

  /// Gives a boundary another parent in another part.
  mutating func setParent(_ parent: UInt32, ofBoundary number: UInt32) throws(ArchiveError) {
    let slot = try load(NodeID(rawValue: number))
    guard slots[slot].parent != parent else { return }
    relink(slot, to: parent)
  }

  private mutating func relink(_ slot: Int, to parent: UInt32) {
    let name = RestorationIdentifier(slots[slot].name)
    let old = Link(parent: slots[slot].parent, name: name)
    if links[old] == slots[slot].id { links[old] = nil }
    links[Link(parent: parent, name: name)] = slots[slot].id
    change(slot) {
      $0.parent = parent
      $0.isChanged = true
      $0.isRelinked = true
    }
  }

  /// Gives a node another number, parent and place; its children come along.
  ///
  /// - Returns: The numbers of its children.
  mutating func renumber(
    _ number: UInt32, to new: UInt32, parent: UInt32, at place: Place
  ) throws(ArchiveError) -> [UInt32] {
    let index = try load(NodeID(rawValue: number))
    _ = try loadChildren(of: number)
    let children = slots[index].children?.ordered ?? []
    for child in children { _ = try load(NodeID(rawValue: child)) }
    let list = try loadChildren(of: listOwner(of: slots[index]))
    let target = try loadChildren(of: isBoundary(new) ? ArchiveHeader.rootID : parent)
    guard NodeNumber.count(below: nextID) < NodeNumber.countLimit else {
      throw ArchiveError(.limitExceeded, "the part has given out all its numbers")
    }
    include(index)
    var slot = slots[index]
    change(list) {
      $0.children?.remove(number)
      $0.hasChangedChildren = true
    }
    links[Link(parent: slot.parent, name: RestorationIdentifier(slot.name))] = nil
    change(index) {
      $0.isRemoved = true
      $0.isChanged = true
      $0.children = Siblings([])
      $0.payload = .none
    }
    (slot.id, slot.parent, slot.isStored) = (new, parent, false)
    (slot.isChanged, slot.isRelinked, slot.hasChangedChildren) = (false, false, false)
    add(slot, to: target) { place.add($1, to: &$0) }
    nodeCount -= 1
    boundaryCount += (isBoundary(new) ? 1 : 0) - (isBoundary(number) ? 1 : 0)
    if !children.isEmpty { change(slots.count - 1) { $0.hasChangedChildren = true } }
    for child in children { relink(try load(NodeID(rawValue: child)), to: new) }
    renameOversized(number, to: new)
    return children
  }

  private mutating func renameOversized(_ number: UInt32, to new: UInt32) {
    if var shedding = oversized.removeValue(forKey: NodeID(rawValue: number)) {
      shedding.node = NodeID(rawValue: new)
      oversized[shedding.node] = shedding
    }
    for index in sheddings.indices where sheddings[index].node.rawValue == number {
      sheddings[index].node = NodeID(rawValue: new)
    }
  }

  /// The bytes of a node's state, also of one that is left out.
  func state(of number: UInt32) throws(ArchiveError) -> Data {
    guard let slot = try slot(of: number) else { throw ArchiveError.noSuchNode(NodeID(rawValue: number)) }
    var state = Data()
    try slot.payload.withBytes(base: baseBytes, reader: reader) { state = $0.data }
    return state
  }

  /// Puts bytes that fit this part's tables in the place of a node's state, and leaves its attributes alone.
  mutating func setState(_ state: [UInt8], of number: UInt32) throws(ArchiveError) {
    let slot = try load(NodeID(rawValue: number))
    try requireNoHole(slot)
    try store(state, slots[slot].attributes, in: slot)
  }
}

extension ArchiveError {
  /// The error of a change to what is away.
  static func partAway(_ id: NodeID) -> ArchiveError {
    ArchiveError(.partAway, "\(id) is in a part of the archive that can't be read now; change it once it can")
  }
}
