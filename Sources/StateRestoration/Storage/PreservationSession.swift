internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// What saves of one run go on from: the table, and how it relates to the disk; the worker's own.
struct PreservationSession: Sendable {
  /// What the disk held when this run first looked, which decides what a save may replace.
  enum Base: Sendable, Hashable {
    /// Nobody has looked yet.
    case unknown
    /// Nothing was there, or it is set aside by the next save.
    case empty
    /// The state was opened and is continued.
    case opened
    /// The device is locked: only edits of this run may be written, beside the stored state.
    case locked
  }

  let store: any PreservationStore
  /// Called before anything is written that the next launch may restore.
  var willWrite: @Sendable () -> Void = {}
  var table: Table
  private(set) var base = Base.unknown
  /// What the next whole generation takes the place of.
  private var succession = ArchiveSuccession()
  /// Whether it takes the place of everything that is there, whatever that is.
  private var retiresEverything = false
  /// The generation that the next change is of; nil when a whole one has to be written instead.
  private var continued: Generation?
  /// Objects that captures have announced since the last save.
  private var announced: Set<CaptureBatch.Key> = []
  /// Whether the disk has what this run has edited while locked; nil when it has saved nothing of that.
  private var overlay: Durability?

  init(
    store: any PreservationStore, context: RestorationContext, limits: RestorationArchive.Limits, nodeBudget: Int
  ) {
    self.store = store
    table = Table(context: context, limits: limits, nodeBudget: nodeBudget)
  }

  // MARK: - Beginning

  /// Goes on from a state; its nodes are carried over until live objects are bound to them.
  mutating func begin(continuing loaded: LoadedState) throws(ArchiveError) {
    table = try Table(
      continuing: loaded.reader, loaded.plan.index, limits: table.limits, nodeBudget: table.nodeBudget)
    base = .opened
    succession = loaded.succession
    retiresEverything = false
    let isOnDisk = loaded.choice == .newest && !loaded.isMerged && succession.retiring.isEmpty
    continued = isOnDisk && loaded.state.generation.rawValue > 0 ? loaded.state.generation : nil
    overlay = nil
  }

  /// Begins anew.
  ///
  /// - Parameter retiring: The generations that are refused, nil for all that are there; the next save sets them aside.
  mutating func begin(_ base: Base, retiring: [Generation]? = [], context: RestorationContext) {
    table = Table(
      context: context, limits: table.limits, nodeBudget: table.nodeBudget, isLocked: base == .locked)
    self.base = base
    succession = ArchiveSuccession(retiring: retiring ?? [])
    retiresEverything = retiring == nil
    continued = nil
    overlay = nil
  }

  /// Begins a run on a locked device, or another hierarchy in it: earlier edits stay, as nobody's.
  mutating func beginLocked(context: RestorationContext) {
    guard base != .locked else { return table.letGoOfAll() }
    // State that was read since the last lock may hold edits that no generation has.
    store.keepPending()
    begin(.locked, context: context)
  }

  /// Marks the node that restoring died at, durably where it is the newest state: the next launch must not try it again.
  ///
  /// Nothing else of this run is written with it. If the disk can't take it now, the next save owes it.
  ///
  /// - Returns: Whether that took a whole generation.
  mutating func quarantine(
    _ node: NodeID, of loaded: LoadedState, loader: StateLoader
  ) throws(ArchiveError) -> Bool {
    try table.quarantine(node)
    guard loaded.choice == .newest else { return false }
    let written = try? write(context: table.writer.context, loader: loader, isCapture: false)
    table.owedFindings += written?.findings ?? []
    return written?.kind == .whole
  }

  /// Frees what can be read again.
  ///
  /// - Parameter readsAgain: Whether the archive itself can be: its keys survive locks. One whose keys don't has to be in
  ///   memory, or what is edited after a lock could not be saved.
  mutating func freeMemory(readsAgain: Bool) {
    var source: RestorationArchive.Source?
    if readsAgain, base == .opened, let continued, let state = try? store.open(.newest), state.generation == continued {
      source = RestorationArchive.Source(byteCount: state.byteCount) { try state.read($0) }
    }
    table.writer.release(to: source)
  }

  /// Makes the next save a whole generation.
  mutating func requireWhole() { continued = nil }

  /// Whether this run knows the state on disk, or that there is none.
  var hasRead: Bool { base == .opened || base == .empty }

  // MARK: - Edits while locked

  /// The nodes that were edited since a locked launch, as an archive; nil when there are none, and none were saved.
  var edits: Data? {
    guard base == .locked, table.writer.nodeCount > 0 || overlay != nil else { return nil }
    return try? table.writer.makeArchiveOverBudget()
  }

  /// What live objects have written since a locked launch, by their keys.
  var ownRecords: [CaptureBatch.Key: NodeID] {
    guard base == .locked else { return [:] }
    var records: [CaptureBatch.Key: NodeID] = [:]
    for key in table.holders.values {
      if let record = table.holding(key)?.record { records[key] = record }
    }
    return records
  }

  /// The live objects that have rows since a locked launch: those with records, and those among which the order was changed.
  var ownRows: Set<CaptureBatch.Key> { base == .locked ? Set(table.holders.values) : [] }

  /// The live objects that were edited since a locked launch.
  var editedKeys: Set<CaptureBatch.Key> {
    guard base == .locked else { return [] }
    // Values that can't be encoded can't be compared.
    return Set(ownRecords.filter { !table.isFirst($0.value) }.keys).union(table.unencoded.keys)
  }

  // MARK: - Saving

  /// What a save came to.
  struct Saved: Sendable {
    /// The write; nil when nothing had changed.
    var written: Written?
    /// Records that were handed over and are not the same as before.
    var changedKeys: Set<CaptureBatch.Key>
    /// Those that earlier captures had announced, which no save has written.
    var announcedBefore: Set<CaptureBatch.Key>
    var carriedOverNodes: Int
    var findings: [PreservationFinding]
    /// Live objects whose values could not be encoded.
    var unencoded: Set<CaptureBatch.Key> = []
    /// Live objects for which the archive has no place.
    var unplaced: Set<CaptureBatch.Key> = []
    /// Those of the changed ones that don't have what they came with any more.
    var edited: Set<CaptureBatch.Key> = []
    /// Those that have given up the rows that they were given.
    var gaveUp: Set<CaptureBatch.Key> = []
    /// True when the device is locked and nothing may be written.
    var isWaiting = false
  }

  /// What a save wrote.
  struct Written: Sendable {
    var kind: PreservationReceipt.Kind
    var receipt: PublishReceipt
    var findings: [PreservationFinding]
  }

  /// Brings the table up to date with a capture that is not saved yet; findings are the next save's.
  mutating func take(_ batch: CaptureBatch) {
    guard (try? table.commit(batch)) != nil else { return table.letGoOfAll() }
    announced.formUnion(batch.announced)
  }

  /// Brings the table up to date with a capture and writes the changes.
  mutating func save(_ batch: CaptureBatch, context: RestorationContext, loader: StateLoader) throws -> Saved {
    var batch = batch
    if base == .unknown {
      try look(context: context, loader: loader)
      // Nobody has looked at these objects before: they are met by this save.
      if base == .locked { batch.isMeeting = true }
    }
    do {
      try table.commit(batch)
    } catch {
      table.letGoOfAll()
      throw error
    }
    if base == .locked, overlay == nil, table.writer.nodeCount == 0 { return saved(nil, [], isWaiting: true) }
    let findings = table.standingFindings
    let written: Written?
    do {
      written = try write(context: context, loader: loader)
    } catch {
      announced.formUnion(batch.announced)
      if let finding = nothingLost(by: error) { return saved(nil, findings + table.owedFindings + [finding]) }
      throw error
    }
    let result = saved(written, findings + table.owedFindings)
    table.save &+= 1
    (table.changed, table.gaveUp) = ([], [])
    announced = []
    table.owedFindings = []
    return result
  }

  private func saved(_ written: Written?, _ findings: [PreservationFinding], isWaiting: Bool = false) -> Saved {
    Saved(
      written: written, changedKeys: written == nil ? [] : table.changed.subtracting([CaptureBatch.application]),
      announcedBefore: announced,
      carriedOverNodes: isWaiting ? 0 : table.unheldCount, findings: findings, unencoded: Set(table.unencoded.keys),
      unplaced: Set(table.unplaced.keys), edited: table.changed.filter { table.isEdited($0) }, gaveUp: table.gaveUp,
      isWaiting: isWaiting)
  }

  /// Why a save had no room, if nothing is lost by that: nothing was there at the launch, and nothing was edited since.
  private func nothingLost(by error: any Error) -> PreservationFinding? {
    guard let error = error as? ProtectionError, error.isScarceRoom, base == .empty, continued == nil,
      succession.retiring.isEmpty, table.unencoded.isEmpty,
      !table.holders.values.contains(where: table.isEdited)
    else { return nil }
    return .failure("Nothing is preserved yet. \(error.message)")
  }

  /// Finds out what a save would meet on disk, when nobody has restored in this run.
  ///
  /// Readable state is continued: what objects of this run have lies beside states that nobody has read.
  private mutating func look(context: RestorationContext, loader: StateLoader) throws {
    let remarks: [RestorationRemark]
    do throws(LoadFailure) {
      let loaded = try loader.loadNewest()
      remarks = loaded.remarks
      if loaded.plan.context.schemaVersion <= context.schemaVersion {
        try? begin(continuing: loaded)
      }
      if base == .unknown {
        begin(.empty, retiring: loaded.retiring + [loaded.state.generation], context: context)
      }
    } catch {
      remarks = error.remarks
      switch error.outcome {
      case .locked: begin(.locked, context: context)
      case .unavailable:
        throw ProtectionError(.io, "What is on disk could not be read, so nothing was written over it.", cause: error)
      default: begin(.empty, retiring: error.retiring, context: context)
      }
    }
    // Nobody gets a report: the receipt says it.
    for case .failure(let text) in remarks { table.owedFindings.append(.failure(text)) }
  }

  /// Writes the changes since the last save; nil when there are none.
  ///
  /// - Parameter isCapture: Whether the live objects were captured, so that what none of them owns is carried over.
  mutating func write(context: RestorationContext, loader: StateLoader, isCapture: Bool = true) throws -> Written? {
    let isOwed = continued == nil && table.writer.nodeCount > 0 && overlay != .durable
    let isOld =
      base == .opened
      && table.classes.ageLimit.map {
        Freshness.isDue(table.writer.context.timeSaved, limit: $0, now: context.timeSaved)
      } ?? false
    guard table.writer.hasChanges || !succession.consuming.isEmpty || isOwed || isOld else {
      if base == .opened { try store.requireDurable() }
      return nil
    }
    if isCapture { try table.markUnheld() }
    willWrite()
    let newest = table.writer.context.timeSaved
    table.writer.context = context
    // While the clock is behind the newest time seen, that is the time: what is saved now must not look old once it is right.
    table.writer.context.timeSaved = max(context.timeSaved, newest)
    do throws(ProtectionError) {
      if base == .locked { return try writeOverlay() }
      if let generation = continued, let written = try appendChange(to: generation) { return written }
      return try publish(loader)
    } catch {
      // The writer takes a delta for written: only a whole archive is sure to have it.
      continued = nil
      throw error
    }
  }

  /// Appends the changes; nil when a whole generation has to be written instead.
  private mutating func appendChange(to generation: Generation) throws(ProtectionError) -> Written? {
    guard let change = try? table.writer.makeDelta() else { return nil }
    let receipt: PublishReceipt?
    do throws(ProtectionError) {
      receipt = try store.append(change, to: generation)
    } catch  where error.code == .locked {
      return nil
    }
    guard let receipt else { return nil }
    if receipt.durability == .unknown { continued = nil }
    return Written(kind: .change, receipt: receipt, findings: takeSheddings())
  }

  private mutating func publish(_ loader: StateLoader) throws(ProtectionError) -> Written {
    if retiresEverything { succession.retiring = try store.generations() }
    let receipt = try store.publish(try archived(), succession)
    base = .opened
    let isDurable = receipt.durability == .durable
    if isDurable { (succession, retiresEverything) = (ArchiveSuccession(), false) }
    continued = isDurable ? receipt.generation : nil
    let findings =
      receipt.setAside.map { PreservationFinding.setAside(loader.describe($0)) }
      + receipt.removed.map { .setAsideRemoved(loader.describe($0)) }
      + (receipt.isRemade
        ? [.failure("The directory of the state had been removed while the program ran; it was made again.")] : [])
    return Written(
      kind: receipt.isSealedOneWay ? .pendingWhole : .whole, receipt: receipt, findings: findings + takeSheddings())
  }

  private mutating func writeOverlay() throws(ProtectionError) -> Written {
    overlay = .unknown
    let receipt = try store.publishPending(try archived())
    overlay = receipt.durability
    return Written(kind: .pendingChange, receipt: receipt, findings: takeSheddings())
  }

  private mutating func archived() throws(ProtectionError) -> Data {
    do {
      return try table.writer.makeArchive()
    } catch {
      throw ProtectionError(.corrupt, "The state could not be put together; nothing was written.", cause: error)
    }
  }

  private mutating func takeSheddings() -> [PreservationFinding] {
    table.writer.takeSheddings().map { shedding in
      // As the interface calls it; a node that is gone by now had the path that the archive knew.
      let isThere = ((try? table.writer.node(shedding.node)) ?? nil) != nil
      let path = isThere ? table.path(of: shedding.node) : shedding.path
      return shedding.isLeftOut
        ? .shed(path: path, bytes: shedding.byteCount)
        : .overBudget(path: path, bytes: shedding.byteCount, limit: table.limits.bytesPerArchive)
    }
  }
}
