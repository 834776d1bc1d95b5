internal import RestorationArchive

extension Lineage {
  /// A place with what is kept for it, which made room for what lies there.
  struct KeptPlace: Sendable {
    let parent: NodeID?
    let identifier: RestorationIdentifier
    /// Under which name it is kept.
    let name: RestorationIdentifier
    /// What lies there.
    let tenant: RestorationArchive.Node
    /// What is kept, the oldest first.
    let kept: [NodeID]
  }

  /// Notes the places that something is kept for, before anything leaves or moves; what was noted and not settled yet stays.
  ///
  /// There are no more of them than may be kept, however much leaves or moves.
  mutating func noteKeptPlaces() throws(ArchiveError) {
    if keptPlaces == nil { keptPlaces = try findKeptPlaces() }
  }

  private func findKeptPlaces() throws(ArchiveError) -> [KeptPlace] {
    guard let root = try writer.child(of: nil, identifier: ReservedNode.kept) else { return [] }
    var names: [KeptName] = []
    var kept: [RestorationIdentifier: [NodeID]] = [:]
    for id in try writer.children(of: root) {
      guard let node = try writer.node(id) else { continue }
      let name = KeptName(node.identifier)
      if kept[name.path] == nil { names.append(name) }
      kept[name.path, default: []].append(id)
    }
    var places: [KeptPlace] = []
    for name in names {
      for path in name.places {
        guard let id = try find(path.components), let tenant = try writer.node(id) else { continue }
        places.append(
          .init(
            parent: tenant.parent, identifier: tenant.identifier, name: name.path, tenant: tenant,
            kept: kept[name.path] ?? []))
      }
    }
    return places
  }

  /// Gives a place that has become free to what made room in it last for another class or model, and lets everything else
  /// that is kept for a place go along with it.
  ///
  /// Only now, when everybody has been placed: who has come to a free place unasked would save over it.
  mutating func settleKeptPlaces() throws(ArchiveError) {
    guard let places = keptPlaces else { return }
    keptPlaces = nil
    guard let root = try writer.child(of: nil, identifier: ReservedNode.kept) else { return }
    for place in places where try isThere(place, beside: root) {
      var isFree = try writer.child(of: place.parent, identifier: place.identifier) == nil
      // The newest first.
      var staying: [NodeID] = []
      for id in place.kept.reversed() where ownerOf[id] == nil {
        guard let node = try writer.node(id), node.parent == root else { continue }
        if isFree, !place.tenant.attributes.fits(node) {
          try relocate(id, under: place.parent, as: place.identifier)
          isFree = false
        } else {
          staying.append(id)
        }
      }
      try rename(staying.reversed(), beside: root, after: place)
    }
  }

  /// Whether the node above a place is still there, and is not kept itself.
  private func isThere(_ place: KeptPlace, beside root: NodeID) throws(ArchiveError) -> Bool {
    var next = place.parent
    while let id = next {
      guard id != root, let node = try writer.node(id) else { return false }
      next = node.parent
    }
    return true
  }

  /// Keeps what is kept for a place under the path that the place has now.
  private mutating func rename(
    _ kept: [NodeID], beside root: NodeID, after place: KeptPlace
  ) throws(ArchiveError) {
    guard let parent = place.parent, !kept.isEmpty else { return }
    let path = path(of: parent).appending(place.identifier)
    guard KeptName(path).path != place.name else { return }
    for id in kept { try writer.rename(id, to: freeKeptName(for: path, below: root)) }
  }
}
