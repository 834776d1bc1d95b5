internal import RestorationArchive

/// A variant behind a newer one of its place, or in a place that nobody has now: it waits for an object that it fits; or one
/// below the edit that has replaced it, with which it is to be joined.
struct DormantVariant: Sendable {
  /// Its node.
  var node: NodeID
  /// Its number: the higher, the newer.
  var number: Int
  /// The bytes of its records, with those below it.
  var byteCount: Int
  /// Whether it is below the edit that has replaced it.
  var isReplaced = false

  /// At most so many are stored in an archive.
  static let countLimit = 64
  /// At most this share of the archive's budget.
  static let budgetShare = 4
}

extension ArchiveDraft {
  /// The variants of a place, newest first.
  func variants(
    of parent: NodeID?, _ identifier: RestorationIdentifier
  ) throws(ArchiveError) -> [NodeID] {
    var variants: [NodeID] = []
    if let active = try writer.child(of: parent, identifier: identifier), !isDormant(active) { variants.append(active) }
    for dormant in dormants.reversed() {
      guard let node = try writer.node(dormant.node), node.parent == parent, node.placeIdentifier == identifier
      else { continue }
      variants.append(dormant.node)
    }
    return variants
  }

  /// The states below a variant that it has replaced, and that its object has not joined, oldest first.
  func replaced(below node: NodeID) throws(ArchiveError) -> [NodeID] {
    var replaced: [NodeID] = []
    for dormant in dormants where dormant.isReplaced {
      if try writer.node(dormant.node)?.parent == node { replaced.append(dormant.node) }
    }
    return replaced
  }

  /// Has a dormant variant wait below the one that has replaced it, until their object joins them: it goes where that goes.
  ///
  /// At the bottom of the deepest tree there is nothing below: it stays behind the other.
  mutating func keepReplaced(_ old: NodeID, below new: NodeID) throws(ArchiveError) {
    guard let index = dormants.firstIndex(where: { $0.node == old }), let stored = try writer.node(old) else { return }
    try renameFreely(old)
    do throws(ArchiveError) {
      try writer.move(old, to: new)
    } catch {
      guard error.code == .limitExceeded else { throw error }
      return try writer.rename(old, to: stored.identifier)
    }
    var attributes = stored.attributes
    attributes.flags.insert(.replaced)
    try writer.setAttributes(attributes, of: old)
    var dormant = dormants.remove(at: index)
    dormant.number = (dormants.last?.number ?? 0) + 1
    dormant.isReplaced = true
    dormants.append(dormant)
    try writer.rename(old, to: try freeVariantName("", dormant.number, new))
  }

  /// Whether a node is a dormant variant.
  func isDormant(_ node: NodeID) -> Bool {
    !dormants.isEmpty && dormants.contains { $0.node == node }
  }

  /// Makes a variant dormant, which frees its identifier; one without any state is removed.
  mutating func retire(_ node: NodeID) throws(ArchiveError) {
    guard let stored = try writer.node(node), !isDormant(node) else { return }
    let byteCount = try self.byteCount(inside: node)
    let isOwned = try hasOwner(inside: node)
    guard byteCount > 0 || isOwned || isMerging || hasDormant(inside: node) else { return try remove(node) }
    var attributes = stored.attributes
    attributes.flags.formUnion([.dormant, .carriedOver])
    attributes.priority = .low
    attributes.savedAt = attributes.savedAt ?? writer.context.timeSaved
    try writer.setAttributes(attributes, of: node)
    let number = (dormants.last?.number ?? 0) + 1
    try writer.rename(node, to: try freeVariantName(stored.identifier, number, stored.parent))
    dormants.append(DormantVariant(node: node, number: number, byteCount: byteCount))
    // The list is walked for every object, so that it must not grow with the objects of one commit.
    if dormants.count > 2 * DormantVariant.countLimit { try boundDormants() }
  }

  /// Frees an identifier that a node has: a live object's passes through a free name, everything else goes dormant, also what one
  /// has left that has no other place.
  mutating func makeRoom(_ node: NodeID) throws(ArchiveError) {
    if let index = dormants.firstIndex(where: { $0.node == node }), let stored = try writer.node(node) {
      // It only looks like the identifier that is needed.
      let name = VariantName(stored.identifier)
      return try writer.rename(
        node, to: try freeVariantName(name.identifier, dormants[index].number, stored.parent))
    }
    guard let key = ownerOf[node], unplaced[key] != nil, let stored = try writer.node(node) else {
      return ownerOf[node] != nil ? try renameFreely(node) : try retire(node)
    }
    // Its next values are in no node.
    let place = CaptureBatch.Placement(key: key, identifier: stored.placeIdentifier)
    unbind(key)
    bind(.blank(Blank(place: place, over: nil, baseline: .unencodable)), key)
    try retire(node)
  }

  /// Ends a variant's dormancy; its identifier is given afterwards.
  mutating func awaken(_ node: NodeID) throws(ArchiveError) {
    guard isDormant(node), var attributes = try writer.node(node)?.attributes else { return }
    attributes.flags.subtract([.dormant, .carriedOver])
    attributes.priority = .normal
    try writer.setAttributes(attributes, of: node)
    dormants.removeAll { $0.node == node }
  }

  /// Removes dormant variants over the bounds, and owes the receipt their names.
  mutating func boundDormants() throws(ArchiveError) {
    guard areDormantsOverBounds else { return }
    for dormant in try dormantsInOrderOfRemoval() where areDormantsOverBounds {
      guard isDormant(dormant.node), try !hasOwner(inside: dormant.node) else { continue }
      owedFindings.append(.dormantRemoved(path: path(of: dormant.node), bytes: dormant.byteCount))
      try giveUp(dormant.node)
    }
  }

  private var areDormantsOverBounds: Bool {
    dormants.count > DormantVariant.countLimit
      || dormants.reduce(0) { $0 + $1.byteCount } > limits.bytesPerArchive / DormantVariant.budgetShare
  }

  /// First those behind a newer variant of their own identity, which hides them, and replaced ones, then all others; the oldest
  /// first.
  private func dormantsInOrderOfRemoval() throws(ArchiveError) -> [DormantVariant] {
    struct Place: Hashable {
      var parent: NodeID?
      var identifier: RestorationIdentifier
    }
    var newer: [Place: [Identity]] = [:]
    var (hidden, others): ([DormantVariant], [DormantVariant]) = ([], [])
    for dormant in dormants.reversed() {
      guard let node = try writer.node(dormant.node) else { continue }
      let place = Place(parent: node.parent, identifier: node.placeIdentifier)
      if newer[place] == nil, let front = try writer.child(of: place.parent, identifier: place.identifier),
        !isDormant(front), let identity = try writer.node(front)?.attributes.identity
      {
        newer[place] = [identity]
      }
      let identity = node.attributes.identity
      if dormant.isReplaced || newer[place]?.contains(where: { tags.isSameIdentity($0, identity) }) == true {
        hidden.append(dormant)
      } else {
        others.append(dormant)
      }
      newer[place, default: []].append(identity)
    }
    return hidden.reversed() + others.reversed()
  }

  /// The bytes of the records of a node and those below it; a dormant variant inside counts by itself.
  func byteCount(inside top: NodeID) throws(ArchiveError) -> Int {
    var bytes = 0
    var stack = [top]
    while let next = stack.popLast() {
      bytes += try writer.node(next)?.byteCount ?? 0
      stack += try writer.children(of: next).filter { !isDormant($0) }
    }
    return bytes
  }

  /// Whether a dormant variant lies below a node.
  private func hasDormant(inside top: NodeID) -> Bool {
    dormants.contains { dormant in
      sequence(first: dormant.node) { (try? writer.node($0))??.parent }.dropFirst().contains(top)
    }
  }

  private func freeVariantName(
    _ identifier: RestorationIdentifier, _ number: Int, _ parent: NodeID?
  ) throws(ArchiveError) -> RestorationIdentifier {
    var name = VariantName(identifier, number: number)
    // Somebody may be called like it.
    while try writer.child(of: parent, identifier: name.stored) != nil { name.number += 1 }
    return name.stored
  }
}
