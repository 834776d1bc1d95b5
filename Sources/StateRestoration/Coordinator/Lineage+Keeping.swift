internal import RestorationArchive

extension Lineage {
  /// Moves state that lost its place to the kept nodes, under its path; the oldest make room, and are reported.
  mutating func keep(_ node: NodeID, path: RestorationPath) throws(ArchiveError) {
    let kept = try reserved(ReservedNode.kept)
    // What is on its way back to its place needs no room.
    let present = try writer.children(of: kept).filter { ownerOf[$0] == nil }
    if present.count >= Self.keptLimit, let oldest = try writer.node(present[0]) {
      owedFindings.append(
        .keptStateRemoved(of: KeptName(oldest.identifier).path.rawValue, bytes: oldest.byteCount))
      try writer.remove(present[0])
    }
    let name = try freeKeptName(for: path, below: kept)
    if var attributes = try writer.node(node)?.attributes {
      attributes.priority = .low
      attributes.flags.insert(.carriedOver)
      try writer.setAttributes(attributes, of: node)
    }
    try relocate(node, under: kept, as: name)
  }

  /// A name for what is kept for a path that nothing else has among the kept nodes.
  func freeKeptName(
    for path: RestorationPath, below kept: NodeID
  ) throws(ArchiveError) -> RestorationIdentifier {
    var name = KeptName(path)
    while try writer.child(of: kept, identifier: name.identifier) != nil { name.number += 1 }
    return name.identifier
  }

  /// How many pieces of state that lost their place are kept.
  private static let keptLimit = 64

  /// Keeps a live object's stored state aside, because its newer state comes from an object that could not read it.
  mutating func setAside(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let old = node(key), let node = try writer.node(old), node.byteCount > 0 else { return }
    handOver(old, to: try renew(old, node), of: key)
  }

  /// Keeps what lies in the places of objects that have taken another class's or another model's place, and of those below
  /// them: it was the other one's, and no object of this run has seen it.
  mutating func keepStrangersOfPaths(_ batch: CaptureBatch) throws(ArchiveError) {
    guard !unmatched.isEmpty else { return }
    let standing = Set(batch.standing)
    var strangers: [(depth: Int, key: CaptureBatch.Key)] = []
    for record in batch.records where unmatched.contains(record.key) {
      guard let id = node(record.key), let stored = try writer.node(id) else { continue }
      guard !batch.attributes(of: record).fits(stored) else {
        if stored.attributes.flags.contains(.leftOut) { try keepBelow(id, standing) }
        continue
      }
      strangers.append((path(of: id).components.count, record.key))
    }
    // From the top: what is kept for one is kept with what is below it.
    for (_, key) in strangers.sorted(by: { $0 < $1 }) where unmatched.contains(key) {
      try setAside(.init(key: key, below: unmatched), for: [:])
    }
  }

  /// Keeps what lies in the places of objects that have come by themselves below what restoring died at, each for itself: it
  /// waits for another try with that, and nobody was given it.
  ///
  /// - Parameter standing: Who has nothing newer, and keeps the place as it is.
  private mutating func keepBelow(_ leftOut: NodeID, _ standing: Set<CaptureBatch.Key>) throws(ArchiveError) {
    var stack = try writer.children(of: leftOut)
    while let next = stack.popLast() {
      stack += try writer.children(of: next)
      if let owner = ownerOf[next], unmatched.contains(owner), !standing.contains(owner) { try setAside(owner) }
    }
  }

  /// Keeps what lies in an object's place with all that is below it, but for what other live objects have made theirs.
  ///
  /// - Parameter newcomers: What is known of the objects whose own state comes there instead.
  mutating func setAside(
    _ stranger: Strangers.Stranger, for newcomers: [CaptureBatch.Key: RestorationArchive.Attributes]
  ) throws(ArchiveError) {
    guard let old = node(stranger.key), let stored = try writer.node(old) else { return }
    let new = try insertEmpty(insteadOf: stored, newcomers[stranger.key])
    handOver(old, to: new, of: stranger.key)
    var pairs = [(old: old, new: new)]
    while let (old, new) = pairs.popLast() {
      for child in try writer.children(of: old) {
        guard let owner = ownerOf[child], let stored = try writer.node(child) else { continue }
        guard stranger.below.contains(owner), try !isHollow(child) else {
          try writer.move(child, to: new)
          continue
        }
        let empty = try writer.insert(
          stored.identifier, parent: new, attributes: newcomers[owner] ?? stored.attributes)
        handOver(child, to: empty, of: owner)
        pairs.append((child, empty))
      }
    }
    if try isHollow(old) { try writer.remove(old) } else { try keep(old, path: path(of: new)) }
  }

  /// Whether a node and everything below it has no state, nor had any.
  private func isHollow(_ top: NodeID) throws(ArchiveError) -> Bool {
    var stack = [top]
    while let next = stack.popLast() {
      guard let node = try writer.node(next), node.byteCount == 0 else { return false }
      stack += try writer.children(of: next)
    }
    return true
  }

  /// Gives a live object another node than the one that it leaves.
  private mutating func handOver(_ old: NodeID, to new: NodeID, of key: CaptureBatch.Key) {
    ownerOf[old] = nil
    unmatched.remove(key)
    own(new, key)
  }

  /// Puts an empty node in the place of another, which gets a free name.
  private mutating func insertEmpty(
    insteadOf old: RestorationArchive.Node, _ attributes: RestorationArchive.Attributes? = nil
  ) throws(ArchiveError) -> NodeID {
    try writer.rename(old.id, to: freeName())
    return try writer.insert(old.identifier, before: old.id, attributes: attributes ?? old.attributes)
  }

  /// Puts an empty node in the place of one whose state is kept, above the same children.
  mutating func renew(_ old: NodeID, _ node: RestorationArchive.Node) throws(ArchiveError) -> NodeID {
    let children = try writer.children(of: old)
    let new = try insertEmpty(insteadOf: node)
    for child in children { try writer.move(child, to: new) }
    try keep(old, path: path(of: new))
    return new
  }

  /// Keeps what nobody asked for below an object that has another model now: it was the other one's.
  mutating func keepChildren(of node: NodeID) throws(ArchiveError) {
    for child in try writer.children(of: node) where ownerOf[child] == nil {
      try keep(child, path: path(of: child))
    }
  }
}
