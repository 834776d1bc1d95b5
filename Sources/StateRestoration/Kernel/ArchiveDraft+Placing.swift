internal import RestorationArchive

/// The objects that come and leave with a capture, and their values.
struct Arrivals {
  let batch: CaptureBatch
  /// The objects that leave: the next in their places may get their nodes.
  let leaving: Set<CaptureBatch.Key>
  private let records: [CaptureBatch.Key: Int]

  init(_ batch: CaptureBatch) {
    self.batch = batch
    leaving = Set(batch.removals)
    records = Dictionary(batch.records.lazy.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })
  }

  /// What the archive records of an object; nil when its values were not captured.
  func attributes(_ key: CaptureBatch.Key) -> RestorationArchive.Attributes? {
    records[key].map { batch.attributes(of: batch.records[$0]) }
  }

  /// An object's values; nil when they were not captured.
  func entries(_ key: CaptureBatch.Key) -> [RestorationArchive.Entry]? {
    records[key].map { batch.entries(of: batch.records[$0]) }
  }

  /// The object as one that asks for state.
  func claimant(_ key: CaptureBatch.Key) -> Claimant {
    guard let index = records[key] else { return Claimant(identity: Identity(), version: 1, acceptedTags: []) }
    let record = batch.records[index]
    let attributes = batch.attributes(of: record)
    return Claimant(
      identity: attributes.identity, version: attributes.version, acceptedTags: batch.kinds[record.kind].acceptedTags)
  }
}

extension ArchiveDraft {
  /// Where a place lies in the archive.
  private enum Above {
    /// At the top, or below a node of the framework's own.
    case top(NodeID?)
    /// Below a live object's node.
    case node(NodeID)
    /// Below a live object that has none.
    case nothing
  }

  /// Gives restored objects their nodes, and those that have left and come again what they had, before anybody else can come
  /// to their places, which they may have left.
  ///
  /// One that shows another model since is no owner of what it was given.
  mutating func bindRestored(_ arrivals: Arrivals) throws(ArchiveError) {
    for placement in arrivals.batch.placements {
      if let former = placement.former { rebind(former, as: placement.key) }
    }
    for placement in arrivals.batch.placements {
      guard case .owner(let node)? = placement.given, binding(placement.key) == nil else { continue }
      try writer.prepare(node)
      guard try isOwn(node, placement.key, arrivals) else { continue }
      own(node, placement.key)
    }
  }

  /// Whether a node that an object was given is still its own, and nobody else's.
  private func isOwn(
    _ node: NodeID, _ key: CaptureBatch.Key, _ arrivals: Arrivals
  ) throws(ArchiveError) -> Bool {
    guard ownerOf[node] == nil, let stored = try writer.node(node)?.attributes.identity else { return false }
    guard let found = arrivals.attributes(key)?.identity, found != stored else { return true }
    return arrivals.claimant(key).mismatch(with: stored) == nil
  }

  /// Does what ``place(_:_:)`` does; an object for which the archive has no place stays as it is bound, with all below it.
  mutating func placeIfPossible(
    _ placement: CaptureBatch.Placement, _ arrivals: Arrivals
  ) throws(ArchiveError) {
    do throws(ArchiveError) {
      try place(placement, arrivals)
      if !unplaced.isEmpty { unplaced[placement.key] = nil }
    } catch {
      try refuse(placement, because: error)
    }
  }

  /// Leaves an object where it was for which the archive has no place, and names the topmost of such; every other error is thrown
  /// on.
  mutating func refuse(
    _ placement: CaptureBatch.Placement, because error: ArchiveError
  ) throws(ArchiveError) {
    guard error.code == .limitExceeded else { throw error }
    if binding(placement.key) == nil {
      // One that came by itself is written as soon as there is a place.
      let baseline = placement.given == nil ? Baseline.unencodable : .unknown
      bind(.blank(Blank(place: placement, over: nil, baseline: baseline)), placement.key)
    }
    let isTopmost = placement.parent.map { unplaced[$0] == nil } ?? true
    unplaced[placement.key] = .some(isTopmost ? (path(of: placement), error.message) : nil)
  }

  /// Binds an object that has come, or takes an owner's variant along to another place.
  private mutating func place(_ placement: CaptureBatch.Placement, _ arrivals: Arrivals) throws(ArchiveError) {
    var placement = placement
    if placement.section == .interface { placement.identifier = ReservedNode.stored(placement.identifier) }
    switch binding(placement.key) {
    case .owner(let node)?: try move(node, to: placement)
    case .blank(let blank)?: try move(blank, to: placement)
    case nil: try meet(placement, arrivals)
    }
  }

  /// Whether a node has the values of an object that came while the device was locked and was not edited.
  func isUnedited(_ node: NodeID) throws(ArchiveError) -> Bool {
    try writer.node(node)?.isUnedited ?? false
  }

  /// An object that moved takes its variant along.
  private mutating func move(_ node: NodeID, to placement: CaptureBatch.Placement) throws(ArchiveError) {
    let parent = try nodeAbove(placement)
    let occupant = try writer.child(of: parent, identifier: placement.identifier)
    try awaken(node)
    guard occupant != node else { return }
    if let occupant { try makeRoom(occupant) }
    try relocate(node, under: parent, as: placement.identifier)
  }

  /// A blank object takes along the variant of its own identity, if it has one.
  private mutating func move(_ blank: Blank, to placement: CaptureBatch.Placement) throws(ArchiveError) {
    var moved = blank
    moved.place = placement
    bind(.blank(moved), placement.key)
    if let over = blank.over { try move(over, to: placement) }
  }

  /// Binds an object that came without state of its own.
  ///
  /// It is blank where there is something stored that it was not given. One that has come by itself is the user's doing: what it
  /// has is newer than stored state of its own, and in front of every other.
  private mutating func meet(_ placement: CaptureBatch.Placement, _ arrivals: Arrivals) throws(ArchiveError) {
    if isBlind { return beBlank(placement, over: nil) }
    var (unread, hasRead) = (NodeID?.none, false)
    switch placement.given {
    // By now it is another class's or model's than that of the state that it was given.
    case nil, .owner?: return try meetNewcomer(placement, arrivals)
    case .referrer(let node)?: (unread, hasRead) = (node, true)
    case .over(let node)?: unread = node
    case .nothing?: break
    }
    let parent: NodeID?
    switch try above(placement) {
    case .nothing: return beBlank(placement, over: nil)
    case .top(let node): parent = node
    case .node(let node): parent = node
    }
    if let unread, try isOwn(unread, placement.key, arrivals), let stored = try writer.node(unread),
      stored.parent == parent, stored.placeIdentifier == placement.identifier
    {
      return beBlank(placement, over: unread, hasRead: hasRead)
    }
    let variants = try variants(of: parent, placement.identifier)
    if variants.isEmpty {
      own(try insertInFront(parent, placement.identifier, arrivals.attributes(placement.key)), placement.key)
    } else {
      switch try choose(among: variants, for: placement.key, arrivals) {
      case .owner(let position), .blank(let position?): beBlank(placement, over: variants[position])
      case .blank(nil): beBlank(placement, over: nil)
      }
    }
  }

  /// Gives an object that came by itself a variant in front.
  private mutating func meetNewcomer(
    _ placement: CaptureBatch.Placement, _ arrivals: Arrivals
  ) throws(ArchiveError) {
    let parent = try nodeAbove(placement)
    let variants = try variants(of: parent, placement.identifier)
    if !variants.isEmpty, isUnencodable(placement.key, arrivals) {
      return bind(.blank(Blank(place: placement, over: nil, baseline: .unencodable)), placement.key)
    }
    switch try choose(among: variants, for: placement.key, arrivals) {
    case .owner(let position):
      try bringForward(variants[position], under: parent, as: placement.identifier, for: placement.key)
    case .blank:
      own(try insertInFront(parent, placement.identifier, arrivals.attributes(placement.key)), placement.key)
    }
  }

  /// The table *Select* for an object that restoring did not see.
  private func choose(
    among variants: [NodeID], for key: CaptureBatch.Key, _ arrivals: Arrivals
  ) throws(ArchiveError) -> Selection.Choice {
    var claimant = arrivals.claimant(key)
    claimant.isGivenNothing = true
    return try Selection.choose(among: variants, tags: tags) { variant throws(ArchiveError) in
      guard let attributes = try writer.node(variant)?.attributes else { return (Identity(), .refused(.otherClass)) }
      // One that another live object has is nobody else's, unless that is leaving.
      if let owner = ownerOf[variant], !arrivals.leaving.contains(owner) {
        return (attributes.identity, .refused(.otherModel))
      }
      var candidate = Selection.Candidate(attributes)
      candidate.isWithheld = withheld.contains(variant)
      return (attributes.identity, Selection.verdict(on: candidate, for: claimant))
    }
  }

  private mutating func beBlank(_ placement: CaptureBatch.Placement, over node: NodeID?, hasRead: Bool = false) {
    let baseline = placement.isEdit ? Baseline.unencodable : .unknown
    bind(.blank(Blank(place: placement, over: node, hasRead: hasRead, baseline: baseline)), placement.key)
  }

  /// Whether an object's values can't be encoded, so that nothing takes the place of stored state.
  private mutating func isUnencodable(_ key: CaptureBatch.Key, _ arrivals: Arrivals) -> Bool {
    guard let entries = arrivals.entries(key) else { return false }
    return (try? digests.digest(entries)) == nil
  }

  // MARK: - Variants in front

  /// Makes a blank object the owner of a variant in front, which it returns.
  mutating func makeOwn(_ blank: Blank, _ key: CaptureBatch.Key) throws(ArchiveError) -> NodeID {
    let node: NodeID
    if let over = blank.over, let stored = try writer.node(over) {
      // Without a record there is nothing that it could not read.
      node = stored.byteCount > 0 && !blank.hasRead ? try renew(over, stored) : over
      try bringForward(node, under: stored.parent, as: blank.place.identifier, for: key)
    } else {
      node = try insertInFront(try nodeAbove(blank.place), blank.place.identifier, blank.attributes)
    }
    own(node, key)
    return node
  }

  /// Puts a variant in front of one whose record stays as it is; the children are the same object's, and come along.
  ///
  /// - Parameter joins: Whether the object joins the old record with its own: then it waits below the new variant, and those
  ///   that it has replaced itself.
  mutating func renew(
    _ old: NodeID, _ stored: RestorationArchive.Node, joins: Bool = false
  ) throws(ArchiveError) -> NodeID {
    let replaced = try replaced(below: old)
    let children = try writer.children(of: old).filter { joins || !replaced.contains($0) }
    let new = try insertInFront(stored.parent, stored.placeIdentifier, stored.attributes)
    for child in children { try writer.move(child, to: new) }
    // It went dormant with its children, whose bytes are the new one's now.
    if let index = dormants.firstIndex(where: { $0.node == old }) { dormants[index].byteCount = stored.byteCount }
    if joins { try keepReplaced(old, below: new) }
    return new
  }

  /// Inserts an empty variant in front of those that a place has.
  mutating func insertInFront(
    _ parent: NodeID?, _ identifier: RestorationIdentifier, _ attributes: RestorationArchive.Attributes?
  ) throws(ArchiveError) -> NodeID {
    var attributes = attributes ?? .init()
    attributes.flags.subtract([.dormant, .leftOut, .shed, .carriedOver])
    guard let occupant = try writer.child(of: parent, identifier: identifier) else {
      return try writer.insert(identifier, parent: parent, attributes: attributes)
    }
    try makeRoom(occupant)
    guard try writer.node(occupant) != nil else {
      return try writer.insert(identifier, parent: parent, attributes: attributes)
    }
    return try writer.insert(identifier, before: occupant, attributes: attributes)
  }

  /// Makes a stored variant an object's, and the one that its place shows.
  mutating func bringForward(
    _ variant: NodeID, under parent: NodeID?, as identifier: RestorationIdentifier, for key: CaptureBatch.Key?
  ) throws(ArchiveError) {
    if let former = ownerOf[variant] { unbind(former) }
    if isDormant(variant) {
      if let occupant = try writer.child(of: parent, identifier: identifier), occupant != variant {
        try makeRoom(occupant)
      }
      try awaken(variant)
      if try writer.node(variant)?.identifier != identifier { try writer.rename(variant, to: identifier) }
    }
    if let key { own(variant, key) }
  }

  /// Gives a node another parent and another identifier, which is free there.
  private mutating func relocate(
    _ id: NodeID, under parent: NodeID?, as identifier: RestorationIdentifier
  ) throws(ArchiveError) {
    guard let node = try writer.node(id) else { return }
    // The old parent may hold the new identifier and the new parent the old one: pass through a free name.
    let needsMove = node.parent != parent
    if needsMove, node.identifier != identifier { try renameFreely(id) }
    if needsMove { try writer.move(id, to: parent) }
    if try writer.node(id)?.identifier != identifier { try writer.rename(id, to: identifier) }
  }

  // MARK: - Above

  private mutating func above(_ placement: CaptureBatch.Placement) throws(ArchiveError) -> Above {
    if let key = placement.parent { return binding(key)?.node.map { .node($0) } ?? .nothing }
    return .top(placement.section == .shared ? try reserved(ReservedNode.shared) : nil)
  }

  /// The node above a place; blank objects without one own a variant in front from now on, as somebody below is edited.
  private mutating func nodeAbove(_ placement: CaptureBatch.Placement) throws(ArchiveError) -> NodeID? {
    switch try above(placement) {
    case .top(let node): return node
    case .node(let node): return node
    case .nothing: break
    }
    // From the top, and without recursion, since a hierarchy may be deep.
    var chain: [(key: CaptureBatch.Key, blank: Blank)] = []
    var next = placement.parent
    while let key = next, case .blank(let blank)? = binding(key), blank.over == nil {
      chain.append((key, blank))
      next = blank.place.parent
    }
    var node = next.flatMap { binding($0)?.node }
    for (key, blank) in chain.reversed() {
      var parent = node
      if case .top(let top) = try above(blank.place) { parent = top }
      node = try makeOwn(blank, key, below: parent)
    }
    return node
  }

  /// Makes a blank object above an edited one an owner of what it has, which is no edit while the state can't be read.
  private mutating func makeOwn(
    _ blank: Blank, _ key: CaptureBatch.Key, below parent: NodeID?
  ) throws(ArchiveError) -> NodeID {
    var attributes = blank.attributes
    if isBlind {
      attributes.flags.insert(.unedited)
      firstValues[key] = blank.baseline
    }
    let node = try insertInFront(parent, blank.place.identifier, attributes)
    own(node, key)
    do throws(ArchiveError) {
      try writer.setRecord(of: node, entries: blank.entries, attributes: attributes)
    } catch {
      // Its own capture has named values that can't be encoded.
      guard error.isOfValues else { throw error }
    }
    return node
  }
}
