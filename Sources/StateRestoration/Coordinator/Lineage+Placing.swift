internal import RestorationArchive

extension Lineage {
  /// The node of a live object; nil when it has none.
  func node(_ key: CaptureBatch.Key) -> NodeID? { key < nodeOf.count ? nodeOf[key] : nil }

  /// Makes a node a live object's.
  mutating func own(_ node: NodeID, _ key: CaptureBatch.Key) {
    while nodeOf.count <= key { nodeOf.append(nil) }
    nodeOf[key] = node
    ownerOf[node] = key
  }

  /// Gives restored objects their nodes, before anybody else can come to their places, which they may have left.
  mutating func ownClaimed(_ batch: CaptureBatch) throws(ArchiveError) {
    for placement in batch.placements {
      guard let claimed = placement.claimed, node(placement.key) == nil, ownerOf[claimed] == nil else { continue }
      if try writer.node(claimed) != nil { own(claimed, placement.key) }
    }
  }

  /// Puts a live object's node where the object is.
  mutating func place(
    _ placement: CaptureBatch.Placement, _ leaving: inout Leaving
  ) throws(ArchiveError) {
    let parent: NodeID?
    var placement = placement
    if let key = placement.parent {
      guard let node = node(key) else { return }
      parent = node
    } else {
      if placement.section != .shared { placement.identifier = ReservedNode.stored(placement.identifier) }
      parent = placement.section == .shared ? try reserved(ReservedNode.shared) : nil
    }
    let id = node(placement.key)
    let occupant = try writer.child(of: parent, identifier: placement.identifier)
    guard let id else {
      try claimOrInsert(placement, parent: parent, occupant: occupant, &leaving)
      return
    }
    guard occupant != id else { return }
    if let occupant { try evict(occupant) }
    try relocate(id, under: parent, as: placement.identifier)
  }

  /// Gives a node another parent and another identifier, which is free there.
  mutating func relocate(
    _ id: NodeID, under parent: NodeID?, at index: Int? = nil, as identifier: RestorationIdentifier
  ) throws(ArchiveError) {
    guard let node = try writer.node(id) else { return }
    // The old parent may hold the new identifier and the new parent the old one: pass through a free name.
    let needsMove = node.parent != parent
    if needsMove, node.identifier != identifier { try writer.rename(id, to: freeName()) }
    if needsMove { try writer.move(id, to: parent, at: index) }
    if try writer.node(id)?.identifier != identifier { try writer.rename(id, to: identifier) }
  }

  /// Gives a live object the node that lies in its place, if nobody has it, or a new one.
  private mutating func claimOrInsert(
    _ placement: CaptureBatch.Placement, parent: NodeID?, occupant: NodeID?, _ leaving: inout Leaving
  ) throws(ArchiveError) {
    if let occupant, let node = try writer.node(occupant) {
      if let owner = ownerOf[occupant], !leaving.contains(owner) || !leaving.fits(placement.key, node) {
        // Who leaves takes along what nobody asked for below it: another note's is not its successor's.
        try evict(occupant)
      } else {
        if let owner = ownerOf[occupant] { nodeOf[owner] = nil } else { unmatched.insert(placement.key) }
        own(occupant, placement.key)
        return
      }
    }
    own(try writer.insert(placement.identifier, parent: parent), placement.key)
  }

  /// Frees an identifier: a live owner passes through a free name, carried-over state moves to the kept nodes.
  private mutating func evict(_ node: NodeID) throws(ArchiveError) {
    if ownerOf[node] != nil {
      try writer.rename(node, to: freeName())
    } else {
      try keep(node, path: path(of: node))
    }
  }

  /// The node that lies at the end of a line of identifiers, as an archive has them; nil when there is none.
  func find(_ identifiers: [RestorationIdentifier]) throws(ArchiveError) -> NodeID? {
    var node: NodeID?
    for identifier in identifiers {
      guard let next = try writer.child(of: node, identifier: identifier) else { return nil }
      node = next
    }
    return node
  }

  /// Where a node is, from the root.
  func path(of node: NodeID) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next: NodeID? = node
    while let id = next, let node = try? writer.node(id) {
      components.append(node.parent == nil ? ReservedNode.original(node.identifier) : node.identifier)
      next = node.parent
    }
    return RestorationPath(components.reversed())
  }

  /// An identifier that no object has.
  mutating func freeName() -> RestorationIdentifier {
    temporaryNames += 1
    return ReservedNode.temporary("free", temporaryNames)
  }

  /// A node of the framework's own, made when there is none.
  mutating func reserved(_ identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID {
    if let node = try writer.child(of: nil, identifier: identifier) { return node }
    return try writer.insert(identifier, parent: nil, attributes: .init(priority: .required, flags: .reserved))
  }

  /// Has an object's state carried over.
  mutating func release(_ key: CaptureBatch.Key) {
    guard let node = node(key) else { return }
    nodeOf[key] = nil
    ownerOf[node] = nil
    overBudget[key] = nil
  }

  /// Removes an object's state, and all below it.
  mutating func remove(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let node = node(key) else { return }
    release(key)
    if try writer.node(node) != nil { try writer.remove(node) }
  }

  /// Live children in their order, then what is carried over, as it stood.
  mutating func arrange(_ order: CaptureBatch.Order) throws(ArchiveError) {
    guard let parent = node(order.parent) else { return }
    let present = try writer.children(of: parent)
    let live = order.children.compactMap { node($0) }
    let isLive = Set(live)
    let wanted = live + present.filter { !isLive.contains($0) }
    if wanted != present, wanted.count == present.count { try writer.setChildren(wanted, of: parent) }
  }
}
