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
  var writer: RestorationArchive.Writer
  var base = Base.unknown
  /// What was saved while locked and is included in the next whole generation.
  var merging: [StoredPending] = []
  /// What the next whole generation would replace without continuing it.
  var replacing = Replacing.nothing
  /// Whether what was joined after an unlock is in no generation yet.
  var owesJoined = false
  /// The generation that the next change is of; nil when a whole one has to be written instead.
  var continued: Generation?
  var nodeOf: [NodeID?] = []
  var ownerOf: [NodeID: CaptureBatch.Key] = [:]
  private var hasMarkedCarriedOver = false
  /// Whether the app-level state that could not be read was kept already.
  var hasSetApplicationAside = false
  var temporaryNames = 0
  /// Live objects whose records differ from what was there at the last save.
  var changed: Set<CaptureBatch.Key> = []
  /// Live objects whose values could not be encoded in the last capture.
  var unencoded: [CaptureBatch.Key] = []
  /// Those of them that were to have what could not be read set aside, which stays.
  var postponed: [CaptureBatch.Key] = []
  /// Whether the app-level state could not be encoded in the last capture.
  var isApplicationUnencoded = false
  /// The sizes of live objects' states that are over the budget for one node.
  var overBudget: [CaptureBatch.Key: Int] = [:]
  /// Live objects that took over stored state by its path alone; their class and model are not compared yet.
  var unmatched: Set<CaptureBatch.Key> = []
  /// Whether what was saved while locked is still all there is.
  var isPendingCurrent = false
  /// What has happened since the last save and its receipt has to name: kept state that made room, what others have saved.
  var owedFindings: [PreservationFinding] = []
  /// The places that something is kept for, as they were before something left or moved; nil when nothing has.
  var keptPlaces: [KeptPlace]?
  /// Nodes whose stored state that of an object in the same place has replaced by its path alone, since the last save.
  var takenOver: [NodeID] = []
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

  /// Goes on from an archive; its nodes are carried over until live objects claim them.
  ///
  /// - Parameters:
  ///   - reader: The archive.
  ///   - generation: The newest generation, if the archive is just that; otherwise the next save is whole.
  mutating func continueArchive(
    _ reader: RestorationArchive.Reader, of generation: Generation?
  ) throws(ArchiveError) {
    writer = try RestorationArchive.Writer(continuing: reader, limits: limits, keptKeys: Self.keptKeys)
    base = .opened
    continued = generation
    replacing = .nothing
    hasMarkedCarriedOver = false
    startOver()
  }

  /// Begins anew; a state on disk that was refused is set aside before a save replaces it.
  mutating func begin(_ base: Base, replacing: Replacing = .nothing, context: RestorationContext) {
    writer = RestorationArchive.Writer(context: context, limits: limits, keptKeys: Self.keptKeys)
    self.base = base
    self.replacing = replacing
    continued = nil
    merging = []
    hasMarkedCarriedOver = true
    startOver()
  }

  /// Forgets what belongs to the archive that was continued until now.
  private mutating func startOver() {
    forgetOwners()
    owesJoined = false
    isPendingCurrent = false
    sighting = LockedSighting()
    hasSetApplicationAside = false
    keptPlaces = nil
    owedFindings = []
    takenOver = []
  }

  /// Makes the next save a whole generation.
  mutating func requireWhole() {
    continued = nil
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
    // As soon as the object has the node: who comes below it in this capture comes to the new one's place.
    let newcomers = batch.attributesOfStrangers
    for stranger in batch.strangers.all where node(stranger.key) != nil { try setAside(stranger, for: newcomers) }
    if batch.changesPlaces { try noteKeptPlaces() }
    for placement in batch.placements {
      let isNew = node(placement.key) == nil
      try place(placement, &leaving)
      if isNew, let stranger = batch.strangers[placement.key] { try setAside(stranger, for: newcomers) }
    }
    for key in batch.removals { try remove(key) }
    for node in batch.removedNodes where ownerOf[node] == nil {
      if try writer.node(node) != nil { try writer.remove(node) }
    }
    try settleKeptPlaces()
    for order in batch.orders { try arrange(order) }
    try keepStrangersOfPaths(batch)
    for key in batch.standing { try clearCarriedOver(key) }
    for record in batch.records { try store(record, of: batch, &findings) }
    try storeApplication(of: batch, &findings)
    for (key, bytes) in overBudget.sorted(by: { $0.key < $1.key }) {
      guard let node = node(key) else { continue }
      findings.append(.overBudget(path: path(of: node), bytes: bytes, limit: nodeBudget))
    }
    return findings
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
    let places = [isShared ? top : ReservedNode.stored(top)] + path.components.dropFirst()
    guard let node = try find(places) else { return false }
    var stack = [node]
    while let next = stack.popLast() {
      guard ownerOf[next] == nil else { return false }
      stack += try writer.children(of: next)
    }
    try noteKeptPlaces()
    try writer.remove(node)
    return true
  }

  /// Removes nodes whose own rules say that they are of no use any more.
  mutating func drop(_ nodes: [NodeID]) throws(ArchiveError) {
    if !nodes.isEmpty { try noteKeptPlaces() }
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

  /// Marks what no live object owns as left over from an earlier run, once.
  mutating func markCarriedOver() throws(ArchiveError) {
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
}
