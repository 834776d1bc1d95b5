internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The archive as it will be saved next, owned by the worker: live objects' nodes and what is carried over.
struct Lineage: Sendable {
  /// What the place on disk held when this run first looked, which decides what a save may replace.
  enum Base: Sendable, Hashable {
    /// Nobody has looked yet.
    case unknown
    /// Nothing was there, or what was there is kept as a generation and begun anew.
    case empty
    /// The generation was opened and is continued.
    case opened
    /// The device is locked: only what was touched in this run may be written, beside what is there.
    case locked
  }

  let store: any PreservationStore
  let limits: RestorationArchive.Limits
  let nodeBudget: Int
  private(set) var writer: RestorationArchive.Writer
  private(set) var base = Base.unknown
  /// What was saved while locked and is included in the next whole generation.
  var merging: [StoredPending] = []
  /// What the next whole generation would replace without continuing it.
  var replacing = Replacing.nothing
  private var needsWhole = true
  private var nodeOf: [NodeID?] = []
  private var ownerOf: [NodeID: CaptureBatch.Key] = [:]
  private var hasMarkedCarriedOver = false
  /// Whether the app-level state that could not be read was kept already.
  private var hasSetApplicationAside = false
  private var temporaryNames = 0
  /// Live objects whose records differ from what was there at the last save.
  var changed: Set<CaptureBatch.Key> = []
  /// Live objects whose values could not be encoded in the last capture.
  private(set) var unencoded: [CaptureBatch.Key] = []
  /// Those of them that were to have what could not be read set aside, which stays.
  private(set) var postponed: [CaptureBatch.Key] = []
  /// Whether the app-level state could not be encoded in the last capture.
  private(set) var isApplicationUnencoded = false
  /// The sizes of live objects' states that are over the budget for one node.
  private var overBudget: [CaptureBatch.Key: Int] = [:]
  /// Live objects that took over stored state by its path alone; their class and model are not compared yet.
  private var unmatched: Set<CaptureBatch.Key> = []
  /// Whether what was saved while locked is still all there is.
  private var isPendingCurrent = false
  /// Kept state that made room since the last capture.
  private var keptRemovals: [PreservationFinding] = []
  /// What was touched since a locked launch.
  var sighting = LockedSighting()

  /// What stays of a state that is left out over the budget: its container needs it, whoever is there.
  private static let keptKeys: Set<String> = [ReservedKey.role]

  init(
    store: any PreservationStore, context: RestorationContext, limits: RestorationArchive.Limits, nodeBudget: Int
  ) {
    self.store = store
    self.limits = limits
    self.nodeBudget = nodeBudget
    writer = RestorationArchive.Writer(context: context, limits: limits, keptKeys: Self.keptKeys)
  }

  // MARK: - Beginning

  /// Goes on from an opened generation; its nodes are carried over until live objects claim them.
  mutating func continueArchive(_ reader: RestorationArchive.Reader, isNewest: Bool) throws(ArchiveError) {
    writer = try RestorationArchive.Writer(continuing: reader, limits: limits, keptKeys: Self.keptKeys)
    base = .opened
    needsWhole = !isNewest
    replacing = .nothing
    isPendingCurrent = false
    sighting = LockedSighting()
    unmatched = []
    nodeOf = []
    ownerOf = [:]
    changed = []
    overBudget = [:]
    hasMarkedCarriedOver = false
    hasSetApplicationAside = false
  }

  /// Begins anew; a state on disk that was refused is set aside before a save replaces it.
  mutating func begin(_ base: Base, replacing: Replacing = .nothing, context: RestorationContext) {
    writer = RestorationArchive.Writer(context: context, limits: limits, keptKeys: Self.keptKeys)
    self.base = base
    self.replacing = replacing
    needsWhole = true
    isPendingCurrent = false
    sighting = LockedSighting()
    merging = []
    unmatched = []
    nodeOf = []
    ownerOf = [:]
    changed = []
    overBudget = [:]
    hasMarkedCarriedOver = true
    hasSetApplicationAside = false
  }

  /// Makes the next save a whole generation.
  mutating func requireWhole() {
    needsWhole = true
    isPendingCurrent = false
  }

  /// Gives up which live object owns what, so that the next capture of everything finds it by paths again.
  mutating func forgetOwners() {
    nodeOf = []
    ownerOf = [:]
    changed = []
    overBudget = [:]
    unmatched = []
  }

  /// The schema version that is saved.
  var schemaVersion: StateVersion { writer.context.schemaVersion }

  // MARK: - Applying a capture

  /// Number of nodes that no live object owns.
  var carriedOverCount: Int { max(writer.nodeCount - ownerOf.count - reservedCount, 0) }

  private var reservedCount: Int {
    [ReservedNode.application, ReservedNode.shared, ReservedNode.kept].count { name in
      (try? writer.child(of: nil, identifier: name)) ?? nil != nil
    }
  }

  /// Brings the writer up to date; values are encoded here.
  ///
  /// What can't be encoded keeps what it had.
  mutating func apply(_ batch: CaptureBatch) throws(ArchiveError) -> [PreservationFinding] {
    var findings: [PreservationFinding] = []
    unencoded = []
    postponed = []
    for key in batch.releases { release(key) }
    var leaving = Leaving(batch)
    try ownClaimed(batch)
    for placement in batch.placements { try place(placement, &leaving) }
    let vacancies = try vacancies(of: batch)
    for key in batch.removals { try remove(key) }
    for node in batch.removedNodes where ownerOf[node] == nil {
      if try writer.node(node) != nil { try writer.remove(node) }
    }
    try fill(vacancies)
    for order in batch.orders { try arrange(order) }
    for stranger in batch.strangers { try setAside(stranger) }
    try keepStrangersOfPaths(batch)
    for key in batch.standing { try greet(key) }
    for record in batch.records { try store(record, of: batch, &findings) }
    try storeApplication(of: batch, &findings)
    for (key, bytes) in overBudget.sorted(by: { $0.key < $1.key }) {
      guard let node = node(key) else { continue }
      findings.append(.overBudget(path: path(of: node), bytes: bytes, limit: nodeBudget))
    }
    defer { keptRemovals = [] }
    return findings + keptRemovals
  }

  /// Brings the app-level state up to date; one that can't be encoded keeps what it had.
  private mutating func storeApplication(
    of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) {
    isApplicationUnencoded = false
    guard let application = batch.application, !application.isEmpty || hasApplicationNode else { return }
    do {
      if batch.setsApplicationAside {
        try tryEncoding(application)
        try setApplicationAside()
      }
      try writer.setRecord(
        of: try reserved(ReservedNode.application), entries: application,
        attributes: .init(priority: .required, flags: .reserved))
    } catch {
      guard error.isOfValues else { throw error }
      isApplicationUnencoded = true
      findings.append(.encodingFailed(path: [], message: error.message))
    }
  }

  /// Fails as storing the values would, and changes nothing.
  private func tryEncoding(_ entries: [RestorationArchive.Entry]) throws(ArchiveError) {
    var tables = CodingTables()
    _ = try RecordEncoder().encode(entries, tables: &tables)
  }

  private var hasApplicationNode: Bool {
    ((try? writer.child(of: nil, identifier: ReservedNode.application)) ?? nil) != nil
  }

  /// Keeps the stored app-level state, once.
  private mutating func setApplicationAside() throws(ArchiveError) {
    guard !hasSetApplicationAside, let stored = try writer.child(of: nil, identifier: ReservedNode.application) else {
      return
    }
    hasSetApplicationAside = true
    try keep(stored, path: [ReservedNode.application])
  }

  /// The node of a live object; nil when it has none.
  func node(_ key: CaptureBatch.Key) -> NodeID? { key < nodeOf.count ? nodeOf[key] : nil }

  private mutating func own(_ node: NodeID, _ key: CaptureBatch.Key) {
    while nodeOf.count <= key { nodeOf.append(nil) }
    nodeOf[key] = node
    ownerOf[node] = key
  }

  /// Gives restored objects their nodes, before anybody else can come to their places, which they may have left.
  private mutating func ownClaimed(_ batch: CaptureBatch) throws(ArchiveError) {
    for placement in batch.placements {
      guard let claimed = placement.claimed, node(placement.key) == nil, ownerOf[claimed] == nil else { continue }
      if try writer.node(claimed) != nil { own(claimed, placement.key) }
    }
  }

  private mutating func place(
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
    if let node = try writer.node(id) {
      // The old parent may hold the new identifier and the new parent the old one: pass through a free name.
      let needsMove = node.parent != parent
      if needsMove, node.identifier != placement.identifier { try writer.rename(id, to: freeName()) }
      if needsMove { try writer.move(id, to: parent) }
      if try writer.node(id)?.identifier != placement.identifier { try writer.rename(id, to: placement.identifier) }
    }
  }

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

  /// Moves state that lost its place to the kept nodes, under its path; the oldest make room, and are reported.
  mutating func keep(_ node: NodeID, path: RestorationPath) throws(ArchiveError) {
    let kept = try reserved(ReservedNode.kept)
    // What is on its way back to its place needs no room.
    let present = try writer.children(of: kept).filter { ownerOf[$0] == nil }
    if present.count >= Self.keptLimit, let oldest = try writer.node(present[0]) {
      keptRemovals.append(
        .keptStateRemoved(of: KeptName(oldest.identifier).path.rawValue, bytes: oldest.byteCount))
      try writer.remove(present[0])
    }
    var name = KeptName(path)
    while try writer.child(of: kept, identifier: name.identifier) != nil { name.number += 1 }
    if var attributes = try writer.node(node)?.attributes {
      attributes.priority = .low
      attributes.flags.insert(.carriedOver)
      try writer.setAttributes(attributes, of: node)
    }
    try writer.rename(node, to: freeName())
    try writer.move(node, to: kept)
    try writer.rename(node, to: name.identifier)
  }

  /// No object is called like this, whatever its name is made of.
  private static let unguessable = UInt64.random(in: .min ... .max)

  /// How many pieces of state that lost their place are kept.
  private static let keptLimit = 64

  /// Keeps a live object's stored state aside, because its newer state comes from an object that could not read it.
  private mutating func setAside(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let old = node(key), let node = try writer.node(old), node.byteCount > 0 else { return }
    ownerOf[old] = nil
    own(try renew(old, node), key)
  }

  /// Keeps what lies in the places of objects that have taken another class's or another model's place, and of those below
  /// them: it was the other one's, and no object of this run has seen it.
  private mutating func keepStrangersOfPaths(_ batch: CaptureBatch) throws(ArchiveError) {
    guard !unmatched.isEmpty else { return }
    var strangers: [(depth: Int, key: CaptureBatch.Key)] = []
    for record in batch.records where unmatched.contains(record.key) {
      guard let id = node(record.key), let stored = try writer.node(id), !batch.attributes(of: record).fits(stored)
      else {
        continue
      }
      strangers.append((path(of: id).components.count, record.key))
    }
    // From the top: what is kept for one is kept with what is below it.
    for (_, key) in strangers.sorted(by: { $0 < $1 }) where unmatched.contains(key) {
      try setAside(.init(key: key, below: unmatched))
    }
  }

  /// Keeps what lies in an object's place with all that is below it, but for what other live objects have made theirs.
  private mutating func setAside(_ stranger: CaptureBatch.Stranger) throws(ArchiveError) {
    guard let old = node(stranger.key), let stored = try writer.node(old) else { return }
    let siblings = try stored.parent.map { parent throws(ArchiveError) in try writer.children(of: parent) } ?? []
    try writer.rename(old, to: freeName())
    let new = try takeOver(stranger.key, stored, under: stored.parent, at: siblings.firstIndex(of: old))
    var pairs = [(old: old, new: new)]
    while let (old, new) = pairs.popLast() {
      for child in try writer.children(of: old) {
        guard let owner = ownerOf[child], let stored = try writer.node(child) else { continue }
        guard stranger.below.contains(owner), try !isHollow(child) else {
          try writer.move(child, to: new)
          continue
        }
        pairs.append((child, try takeOver(owner, stored, under: new)))
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

  /// Gives a live object an empty node like the one that it leaves.
  private mutating func takeOver(
    _ key: CaptureBatch.Key, _ stored: RestorationArchive.Node, under parent: NodeID?, at index: Int? = nil
  ) throws(ArchiveError) -> NodeID {
    ownerOf[stored.id] = nil
    unmatched.remove(key)
    let new = try writer.insert(stored.identifier, parent: parent, at: index, attributes: stored.attributes)
    own(new, key)
    return new
  }

  /// Puts an empty node in the place of one whose state is kept, above the same children.
  mutating func renew(_ old: NodeID, _ node: RestorationArchive.Node) throws(ArchiveError) -> NodeID {
    let siblings = try node.parent.map { parent throws(ArchiveError) in try writer.children(of: parent) } ?? []
    let children = try writer.children(of: old)
    try writer.rename(old, to: freeName())
    let new = try writer.insert(
      node.identifier, parent: node.parent, at: siblings.firstIndex(of: old), attributes: node.attributes)
    for child in children { try writer.move(child, to: new) }
    try keep(old, path: path(of: new))
    return new
  }

  /// Keeps what nobody asked for below an object that has another model now: it was the other one's.
  private mutating func keepChildren(of node: NodeID) throws(ArchiveError) {
    for child in try writer.children(of: node) where ownerOf[child] == nil {
      try keep(child, path: path(of: child))
    }
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

  mutating func freeName() -> RestorationIdentifier {
    temporaryNames += 1
    return RestorationIdentifier("$free-\(Self.unguessable)-\(temporaryNames)")
  }

  private mutating func reserved(_ identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID {
    if let node = try writer.child(of: nil, identifier: identifier) { return node }
    return try writer.insert(identifier, parent: nil, attributes: .init(priority: .required, flags: .reserved))
  }

  /// Has an object's state carried over.
  private mutating func release(_ key: CaptureBatch.Key) {
    guard let node = node(key) else { return }
    nodeOf[key] = nil
    ownerOf[node] = nil
    overBudget[key] = nil
  }

  private mutating func remove(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let node = node(key) else { return }
    nodeOf[key] = nil
    ownerOf[node] = nil
    overBudget[key] = nil
    if try writer.node(node) != nil { try writer.remove(node) }
  }

  /// Live children in their order, then what is carried over, as it stood.
  private mutating func arrange(_ order: CaptureBatch.Order) throws(ArchiveError) {
    guard let parent = node(order.parent) else { return }
    let present = try writer.children(of: parent)
    let live = order.children.compactMap { node($0) }
    let isLive = Set(live)
    let wanted = live + present.filter { !isLive.contains($0) }
    if wanted != present, wanted.count == present.count { try writer.setChildren(wanted, of: parent) }
  }

  private mutating func store(
    _ record: CaptureBatch.Record, of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) {
    guard let node = node(record.key) else { return }
    let attributes = batch.attributes(of: record)
    if record.flags.contains(.untouched), try !takesUntouched(node) { return }
    let entries = batch.entries(of: record)
    do {
      let node = try makeRoom(for: record, entries, attributes, at: node)
      if try writer.setRecord(of: node, entries: entries, attributes: attributes) { changed.insert(record.key) }
    } catch {
      guard error.isOfValues else { throw error }
      findings.append(.encodingFailed(path: path(of: node), message: error.message))
      unencoded.append(record.key)
      return try storeFacts(of: record, entries, attributes, at: node)
    }
    let bytes = try writer.node(self.node(record.key) ?? node)?.byteCount ?? 0
    if bytes > nodeBudget {
      overBudget[record.key] = bytes
    } else if !overBudget.isEmpty {
      overBudget[record.key] = nil
    }
  }

  /// Sets aside what a record must not replace, once it is sure that the record can be encoded; returns its node.
  private mutating func makeRoom(
    for record: CaptureBatch.Record, _ entries: [RestorationArchive.Entry], _ attributes: RestorationArchive.Attributes,
    at node: NodeID
  ) throws(ArchiveError) -> NodeID {
    let isUnmatched = unmatched.contains(record.key)
    guard record.setsStoredAside || isUnmatched || attributes.model != nil else { return node }
    let stored = try writer.node(node)
    let isRefused = record.setsStoredAside || (isUnmatched && stored.map { !attributes.replaces($0) } ?? false)
    let isOfOtherModel = attributes.model != nil && stored?.attributes.model.map { $0 != attributes.model } ?? false
    if isRefused || isOfOtherModel {
      do {
        try tryEncoding(entries)
      } catch {
        if record.setsStoredAside { postponed.append(record.key) }
        throw error
      }
    }
    unmatched.remove(record.key)
    if isRefused { try setAside(record.key) }
    let place = self.node(record.key) ?? node
    if isOfOtherModel { try keepChildren(of: place) }
    return place
  }

  /// What is known of an object whose values can't be encoded: that it is there, and of a new one all but the values.
  private mutating func storeFacts(
    of record: CaptureBatch.Record, _ entries: [RestorationArchive.Entry], _ attributes: RestorationArchive.Attributes,
    at node: NodeID
  ) throws(ArchiveError) {
    guard let stored = try writer.node(node) else { return }
    guard stored.byteCount == 0, !attributes.isOther(than: stored) else { return try greet(record.key) }
    let role = entries.filter { $0.key == ReservedKey.role }
    if try writer.setRecord(of: node, entries: role, attributes: attributes) { changed.insert(record.key) }
  }

  /// An object is there again: its state is not left over from an earlier run any more.
  private mutating func greet(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let node = node(key), var attributes = try writer.node(node)?.attributes,
      attributes.flags.remove(.carriedOver) != nil
    else { return }
    try writer.setAttributes(attributes, of: node)
  }

  /// Adds a node that no live object owns.
  mutating func insert(
    _ identifier: RestorationIdentifier, parent: NodeID?, attributes: RestorationArchive.Attributes
  ) throws(ArchiveError) -> NodeID {
    try writer.insert(identifier, parent: parent, attributes: attributes)
  }

  /// What is known of a node; nil when there is none of that number.
  func stored(_ node: NodeID) throws(ArchiveError) -> RestorationArchive.Node? { try writer.node(node) }

  /// The nodes below a node.
  func children(of node: NodeID) throws(ArchiveError) -> [NodeID] { try writer.children(of: node) }

  /// The node of a name below another, or at the top.
  func child(_ identifier: RestorationIdentifier, of parent: NodeID? = nil) throws(ArchiveError) -> NodeID? {
    try writer.child(of: parent, identifier: identifier)
  }

  /// Gives a node another identifier.
  mutating func rename(_ node: NodeID, to identifier: RestorationIdentifier) throws(ArchiveError) {
    try writer.rename(node, to: identifier)
  }

  /// Gives a node another parent.
  mutating func move(_ node: NodeID, to parent: NodeID?, at index: Int?) throws(ArchiveError) {
    try writer.move(node, to: parent, at: index)
  }

  /// Changes what is known of a node besides its state.
  mutating func setAttributes(
    _ attributes: RestorationArchive.Attributes, of node: NodeID
  ) throws(ArchiveError) {
    try writer.setAttributes(attributes, of: node)
  }

  /// Gives nodes the records of another archive's nodes.
  mutating func copyRecords(
    _ copies: [RestorationArchive.Writer.Copy], from reader: RestorationArchive.Reader
  ) throws(ArchiveError) {
    try writer.copyRecords(copies, from: reader)
  }

  /// What has changed since the archive that is continued; nil when nothing has.
  ///
  /// It is only read: what goes over the budget is left out by the save that follows.
  mutating func makeChange(context: RestorationContext) throws(ArchiveError) -> Data? {
    writer.context = context
    return try writer.makeDeltaOverBudget()
  }

  // MARK: - What nobody asked for

  /// Removes carried-over state; false when there is none at the path or a live object owns it, or something below it.
  mutating func forget(_ path: RestorationPath) throws(ArchiveError) -> Bool {
    guard let top = path.components.first else { return false }
    let isShared = top == ReservedNode.shared && path.components.count > 1
    var node = try writer.child(of: nil, identifier: isShared ? top : ReservedNode.stored(top))
    for identifier in path.components.dropFirst() {
      guard let parent = node else { return false }
      node = try writer.child(of: parent, identifier: identifier)
    }
    guard let node else { return false }
    var stack = [node]
    while let next = stack.popLast() {
      guard ownerOf[next] == nil else { return false }
      stack += try writer.children(of: next)
    }
    try writer.remove(node)
    return true
  }

  /// Removes nodes whose own rules say that they are of no use any more.
  mutating func drop(_ nodes: [NodeID]) throws(ArchiveError) {
    for node in nodes where ownerOf[node] == nil {
      if try writer.node(node) != nil { try writer.remove(node) }
    }
  }

  /// Sets or clears the mark of nodes that restoring died at.
  mutating func mark(_ nodes: [NodeID], leftOut: Bool) throws(ArchiveError) {
    for node in nodes {
      guard var attributes = try writer.node(node)?.attributes else { continue }
      if leftOut { attributes.flags.insert(.leftOut) } else { attributes.flags.remove(.leftOut) }
      try writer.setAttributes(attributes, of: node)
    }
  }

  private mutating func markCarriedOver() throws(ArchiveError) {
    guard !hasMarkedCarriedOver else { return }
    hasMarkedCarriedOver = true
    guard carriedOverCount > 0 else { return }
    var stack = try writer.roots
    while let id = stack.popLast() {
      stack += try writer.children(of: id)
      guard ownerOf[id] == nil, var attributes = try writer.node(id)?.attributes else { continue }
      guard attributes.flags.isDisjoint(with: [.carriedOver, .reserved]) else { continue }
      attributes.flags.insert(.carriedOver)
      try writer.setAttributes(attributes, of: id)
    }
  }

  // MARK: - Writing

  /// What a save wrote.
  struct Written: Sendable {
    var kind: PreservationReceipt.Kind
    var receipt: StoreReceipt
    var findings: [PreservationFinding]
  }

  /// Writes what has changed since the last save; nil when nothing has, without touching the disk.
  mutating func write(context: RestorationContext) throws -> Written? {
    let isOwed = needsWhole && writer.nodeCount > 0 && !isPendingCurrent
    guard writer.hasChanges || !merging.isEmpty || isOwed else { return nil }
    try markCarriedOver()
    writer.context = context
    do throws(ProtectionError) {
      if base == .locked { return try writePending() }
      if !needsWhole, merging.isEmpty, !store.isCompactionDue, let written = try appendChange() { return written }
      return try publish()
    } catch {
      // The writer takes what was put together for written: only a whole one is sure to have it.
      requireWhole()
      guard error.code == .locked, base != .locked else { throw error }
      return try writePending()
    }
  }

  /// Appends what changed to the journal; nil when a whole generation has to be written instead.
  private mutating func appendChange() throws(ProtectionError) -> Written? {
    guard let delta = try? writer.makeDelta() else { return nil }
    do {
      let receipt = try store.append(delta)
      if receipt.durability == .unknown { needsWhole = true }
      return Written(kind: .change, receipt: receipt, findings: takeSheddings())
    } catch {
      guard error.code == .superseded else { throw error }
      return nil
    }
  }

  private mutating func publish() throws(ProtectionError) -> Written {
    let findings = try setAsideReplaced()
    store.freezeJournal()
    let archive = try archived()
    let receipt = try store.publish(archive, consuming: merging)
    if receipt.durability == .durable {
      merging = []
      didReplace()
    }
    isPendingCurrent = false
    base = .opened
    needsWhole = receipt.durability == .unknown
    return Written(kind: .whole, receipt: receipt, findings: findings + takeSheddings())
  }

  private mutating func writePending() throws(ProtectionError) -> Written {
    let kind: PendingKind = base == .locked ? .touchedNodes : replacing.isOther ? .wholeAnew : .whole
    let receipt = try store.publishPending(
      try archived(), kind: kind, including: kind == .touchedNodes ? [] : merging)
    isPendingCurrent = receipt.durability == .durable
    return Written(
      kind: base == .locked ? .pendingChange : .pendingWhole, receipt: receipt, findings: takeSheddings())
  }

  mutating func archived() throws(ProtectionError) -> Data {
    do {
      return try writer.makeArchive()
    } catch {
      throw ProtectionError(.corrupt, "The state could not be put together; nothing was written.", cause: error)
    }
  }

  private mutating func takeSheddings() -> [PreservationFinding] {
    writer.takeSheddings().map { shedding in
      shedding.isLeftOut
        ? .shed(path: shedding.path, bytes: shedding.byteCount)
        : .overBudget(path: shedding.path, bytes: shedding.byteCount, limit: limits.bytesPerArchive)
    }
  }
}

extension ArchiveError {
  /// Whether it is a matter of what was to be encoded, and not of the archive.
  fileprivate var isOfValues: Bool { code == .encodingFailed || code == .limitExceeded }
}
