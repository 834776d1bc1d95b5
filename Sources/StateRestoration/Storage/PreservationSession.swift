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
  /// The class of all that names none.
  let protection: ProtectionClass
  /// Called before anything is written that the next launch may restore.
  var willWrite: @Sendable () -> Void = {}
  var table: Table
  /// The state of objects whose class of protection has no key, while other classes have theirs; nil when there is none such.
  private(set) var beside: StateBeside?
  private(set) var base = Base.unknown
  /// What the next whole generation takes the place of.
  private var succession = ArchiveSuccession()
  /// Whether it takes the place of everything that is there, whatever that is.
  private var retiresEverything = false
  /// The generation that the next change is of; nil when a whole one has to be written instead.
  private var continued: Generation?
  /// The files that have what the table has of a part, but for changes since, and those that can't be read.
  private var files: [RestorationArchive.Part: PartFile] = [:]
  /// When the first part was written last; nil while that is not known.
  ///
  /// State in all parts ages from what that says, as it can be read wherever any can.
  private var firstPartSavedAt: Date?
  /// Objects that captures have announced since the last save.
  private var announced: Set<CaptureBatch.Key> = []
  /// Why a capture could not be taken over; the next save says it, so that everything is captured anew.
  private var owedFailure: ArchiveError?
  /// Whether the disk has what this run has edited while locked; nil when it has saved nothing of that.
  private var overlay: Durability?

  init(
    store: any PreservationStore, context: RestorationArchive.Context, protection: ProtectionClass,
    limits: RestorationArchive.Limits, nodeBudget: Int
  ) {
    self.store = store
    self.protection = protection
    table = Table(context: context, protection: protection, limits: limits, nodeBudget: nodeBudget)
  }

  // MARK: - Beginning

  /// Goes on from a state; its nodes are carried over until live objects are bound to them.
  mutating func begin(continuing loaded: LoadedState) throws(ArchiveError) {
    var baselines: [NodeID: Table.Baseline] = [:]
    if let beside {
      // An object keeps its values at the unlock if its state could be read before, or if its record came beside since.
      for (row, key) in table.holders { baselines[loaded.merging.moved.row(row)] = table.holding(key)?.baseline }
      for (row, key) in beside.table.holders where beside.keys.contains(key) {
        guard let holding = beside.table.holding(key), holding.record != nil, let here = loaded.merging.ownRows[row]
        else {
          continue
        }
        baselines[loaded.merging.moved.row(here)] = holding.baseline
      }
    }
    // Baselines are compared across tables.
    let digests = table.digests
    table = try Table(
      continuing: loaded.reader, parts: loaded.parts, loaded.plan.index, limits: table.limits,
      nodeBudget: table.nodeBudget)
    (table.digests, table.formerBaselines) = (digests, baselines)
    table.leftWeakerPartsFor = loaded.merging.leftWeakerPartsFor
    base = .opened
    files = loaded.files
    firstPartSavedAt = try loaded.reader.reader(of: .first)?.context.timeSaved
    if !loaded.damagedParts.isEmpty {
      for hole in try table.writer.irregularities().missing { try table.writer.remove(hole) }
    }
    beside = nil
    if !loaded.lockedClasses.isEmpty {
      // What earlier hierarchies of this run have edited stays.
      store.keepPending()
      var besides = Table(
        context: loaded.plan.context, protection: protection, limits: table.limits, nodeBudget: table.nodeBudget,
        isLocked: true)
      besides.digests = digests
      beside = StateBeside(classes: loaded.lockedClasses, table: besides)
    }
    succession = loaded.succession
    retiresEverything = false
    let isOnDisk =
      loaded.choice == .newest && !loaded.isMerged && succession.retiring.isEmpty && loaded.damagedParts.isEmpty
    continued = isOnDisk && loaded.state.generation.rawValue > 0 ? loaded.state.generation : nil
    (overlay, owedFailure) = (nil, nil)
  }

  /// Begins anew.
  ///
  /// - Parameter retiring: The generations that are refused, nil for all that are there; the next save sets them aside.
  mutating func begin(_ base: Base, retiring: [Generation]? = [], context: RestorationArchive.Context) {
    table = Table(
      context: context, protection: protection, limits: table.limits, nodeBudget: table.nodeBudget,
      isLocked: base == .locked)
    self.base = base
    (files, firstPartSavedAt) = ([:], nil)
    beside = nil
    succession = ArchiveSuccession(retiring: retiring ?? [])
    retiresEverything = retiring == nil
    continued = nil
    (overlay, owedFailure) = (nil, nil)
  }

  /// Begins a run on a locked device, or another hierarchy in it: earlier edits stay, as nobody's.
  mutating func beginLocked(context: RestorationArchive.Context) {
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
  /// A part whose key does not survive locks has to be in memory, or what is edited after a lock could not be saved.
  mutating func freeMemory() {
    var sources: [RestorationArchive.Part: RestorationArchive.Source] = [:]
    if base == .opened, let continued, let state = try? store.open(.newest), state.generation == continued {
      for part in state.parts where [.none, .completeUntilFirstUserAuthentication].contains(part.protection) {
        sources[part.part] = part.content.map { RestorationArchive.Source(byteCount: $0.byteCount, read: $0.read) }
      }
    }
    table.writer.release(to: sources)
  }

  /// Makes the next save a whole generation.
  mutating func requireWhole() { (continued, files) = (nil, files.filter { table.writer.away.contains($0.key) }) }

  /// Whether this run knows the state on disk, or that there is none.
  var hasRead: Bool { base == .opened || base == .empty }

  // MARK: - Edits while locked

  /// Goes on with one table after the unlock where no object's state has lain beside; says whether that is so.
  mutating func endBesideIfEmpty() -> Bool {
    guard let kept = beside, kept.keys.isEmpty, kept.durability == nil, (try? kept.table.hasRecords) == false else {
      return beside == nil
    }
    beside = nil
    return true
  }

  /// The nodes that were edited since a locked launch, as an archive; nil when there are none, and none were saved.
  var edits: Data? {
    guard var table = lockedTable, table.writer.nodeCount > 0 || (beside?.durability ?? overlay) != nil else {
      return nil
    }
    try? table.markUnheld()
    return try? PendingParts.encode(&table, overBudget: true)
  }

  /// What was edited of the state that can't be read now; nil when all can be.
  private var lockedTable: Table? { base == .locked ? table : beside?.table }

  /// What live objects have written since a locked launch, by their keys.
  var ownRecords: [CaptureBatch.Key: NodeID] {
    guard let table = lockedTable else { return [:] }
    var records: [CaptureBatch.Key: NodeID] = [:]
    for key in table.holders.values {
      if let record = table.holding(key)?.record { records[key] = record }
    }
    return records
  }

  /// What live objects have whose classes have keys while others have none: all those that have rows, with their records in these.
  var readableRecords: [CaptureBatch.Key: NodeID?] {
    guard beside != nil else { return [:] }
    var records: [CaptureBatch.Key: NodeID?] = [:]
    for key in table.holders.values { records[key] = .some(table.holding(key)?.record) }
    return records
  }

  /// Where the rows are that are only the way to others, in the part of the state that can be read.
  var ways: [NodeID: NodeID] {
    guard let beside else { return [:] }
    var ways: [NodeID: NodeID] = [:]
    for (row, key) in beside.table.holders where !beside.keys.contains(key) { ways[row] = table.row(of: key) }
    return ways
  }

  /// Writes what was taken and is not on the disk yet, of the classes that have keys, where others have none.
  ///
  /// What is loaded next has to be what is here. What has left these classes since is written beside first, as in every save. One that
  /// fails is the next save's.
  mutating func saveReadable(context: RestorationArchive.Context, loader: StateLoader) {
    guard beside != nil, table.writer.hasChanges else { return }
    if let written = try? writeAll(context: context, loader: loader) { table.owedFindings += written.findings }
  }

  /// The live objects that have rows since a locked launch: those with records, and those among which the order was changed.
  var ownRows: Set<CaptureBatch.Key> { Set(lockedTable?.holders.values.map(\.self) ?? []) }

  /// The live objects that were edited since a locked launch.
  var editedKeys: Set<CaptureBatch.Key> {
    guard let table = lockedTable else { return [] }
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
    var findings: [PreservationOutcome.Finding]
    /// Live objects whose values could not be encoded.
    var unencoded: Set<CaptureBatch.Key> = []
    /// Live objects for which the archive has no place.
    var unplaced: Set<CaptureBatch.Key> = []
    /// Those of the changed ones that don't have what they came with any more.
    var edited: Set<CaptureBatch.Key> = []
    /// True when the device is locked and nothing may be written.
    var isWaiting = false
  }

  /// What a save wrote.
  struct Written: Sendable {
    var kind: PreservationOutcome.Receipt.Kind
    var receipt: PublishReceipt
    var findings: [PreservationOutcome.Finding]
  }

  /// Brings the table up to date with a capture, wholly or not at all: a half-changed table would be saved.
  ///
  /// If it throws, every object is let go: the next capture of everything meets them anew.
  private mutating func commit(_ batch: CaptureBatch) throws(ArchiveError) {
    // Each object's values are written wholly or not at all anyway: for them alone, as after a key press, nothing is copied.
    let before = table.hasRows(of: batch) ? nil : (table, beside)
    do throws(ArchiveError) {
      try bring(batch)
    } catch {
      if let before { (table, beside) = before }
      table.letGoOfAll()
      beside?.letGoOfAll()
      throw error
    }
  }

  /// Takes a capture over, first what lies beside the table, as it may have left that.
  private mutating func bring(_ batch: CaptureBatch) throws(ArchiveError) {
    guard let (readable, divided, come) = beside?.divide(batch) else { return try table.commit(batch) }
    var besides = divided
    // What comes is edited, or not, as it was before.
    for key in come {
      guard let holding = table.holding(key) else { continue }
      // A migration that began with no record has left none.
      let hasRecord = try holding.record.flatMap(table.writer.node)?.hasRecord == true
      let isEdit = hasRecord && table.isEdited(key)
      beside?.table.update(key) {
        $0.baseline = hasRecord ? nil : holding.baseline
        $0.place.isEdit = isEdit
      }
      for index in besides.placements.indices where besides.placements[index].key == key {
        besides.placements[index].isEdit = isEdit
      }
    }
    let held = come.filter { table.holding($0)?.record != nil }
    try beside?.table.commit(besides, adopting: held.isEmpty ? nil : .init(keys: held, other: table))
    // What held the state of those whose class has no key now is written anew without it.
    let rows = Dictionary(uniqueKeysWithValues: come.compactMap { key in table.row(of: key).map { (key, $0) } })
    try table.commit(readable)
    let names = try table.namesToHide(rows)
    try beside?.table.addTokens(names)
    try table.hide(rows, as: names)
    for part in Set(rows.values.map(\.part)) { try table.leave(part, for: beside?.classes ?? []) }
  }

  /// Brings the table up to date with a capture that is not saved yet; findings are the next save's, and so is a failure.
  mutating func take(_ batch: CaptureBatch) {
    guard owedFailure == nil else { return }
    do {
      try commit(batch)
    } catch {
      return owedFailure = error
    }
    table.closeSave()
    beside?.table.closeSave()
    announced.formUnion(batch.announced)
  }

  /// Brings the table up to date with a capture and writes the changes.
  mutating func save(_ batch: CaptureBatch, context: RestorationArchive.Context, loader: StateLoader) throws -> Saved {
    var batch = batch
    if base == .unknown {
      try look(context: context, loader: loader)
      // Nobody has looked at these objects before: they are met by this save.
      if base == .locked { batch.isMeeting = true }
    }
    if let failure = owedFailure {
      owedFailure = nil
      throw failure
    }
    try commit(batch)
    if base == .locked, overlay == nil, table.written.isEmpty { return saved(nil, [], isWaiting: true) }
    let findings = table.standingFindings + (beside?.table.standingFindings ?? [])
    let written: Written?
    do {
      written = try writeAll(context: context, loader: loader)
    } catch {
      announced.formUnion(batch.announced)
      table.closeSave()
      beside?.table.closeSave()
      if let finding = nothingLost(by: error) { return saved(nil, findings + owedFindings + [finding]) }
      throw error
    }
    let result = saved(written, findings + owedFindings)
    table.noteSaved()
    beside?.table.noteSaved()
    announced = []
    return result
  }

  /// Whether an object has written something since the last save that is not *first*.
  func wasEdited(_ key: CaptureBatch.Key) -> Bool {
    [table, beside?.table].contains { $0.map { $0.changed.contains(key) && $0.isEdited(key) } ?? false }
  }

  private var owedFindings: [PreservationOutcome.Finding] { table.owedFindings + (beside?.table.owedFindings ?? []) }

  private func saved(_ written: Written?, _ findings: [PreservationOutcome.Finding], isWaiting: Bool = false) -> Saved {
    var saved = Saved(
      written: written, changedKeys: [], announcedBefore: announced,
      carriedOverNodes: isWaiting ? 0 : table.unheldCount, findings: findings, isWaiting: isWaiting)
    for table in [table, beside?.table].compactMap(\.self) {
      saved.unencoded.formUnion(table.unencoded.keys)
      saved.unplaced.formUnion(table.unplaced.keys)
      saved.edited.formUnion(table.changed.filter { wasEdited($0) })
      if written != nil { saved.changedKeys.formUnion(table.changed.subtracting([CaptureBatch.application])) }
    }
    return saved
  }

  /// Why a save had no room, if nothing is lost by that: nothing was there at the launch, and nothing was edited since.
  private func nothingLost(by error: any Error) -> PreservationOutcome.Finding? {
    guard let error = error as? ProtectionError, error.isScarceRoom, base == .empty, continued == nil,
      succession.retiring.isEmpty, table.unencoded.isEmpty,
      !table.holders.values.contains(where: table.isEdited), table.written.allSatisfy(table.isFirst)
    else { return nil }
    return .failure("Nothing is preserved yet. \(error.message)")
  }

  /// Finds out what a save would meet on disk, when nobody has restored in this run.
  ///
  /// Readable state is continued: what objects of this run have lies beside states that nobody has read.
  private mutating func look(context: RestorationArchive.Context, loader: StateLoader) throws {
    let remarks: [RestorationReport.Remark]
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

  /// Writes the changes since the last save, those first that lie beside what can't be read: what has become one of those must not be
  /// lost in between.
  private mutating func writeAll(context: RestorationArchive.Context, loader: StateLoader) throws -> Written? {
    let besides = try writeBeside(context: context)
    let readable = try write(context: context, loader: loader)
    guard let besides, var written = readable else { return readable ?? besides }
    written.receipt.bytesWritten += besides.receipt.bytesWritten
    if besides.receipt.durability == .unknown { written.receipt.durability = .unknown }
    written.findings = besides.findings + written.findings
    return written
  }

  /// Writes what was edited of the state that can't be read now; nil when nothing was, since the last save.
  private mutating func writeBeside(context: RestorationArchive.Context) throws -> Written? {
    guard var besides = beside, besides.table.writer.hasChanges || besides.durability == .unknown else { return nil }
    guard try besides.table.hasRecords || besides.durability != nil else { return nil }
    willWrite()
    besides.table.writer.context = context
    besides.durability = .unknown
    beside = besides
    let receipt = try store.publishPending(try Self.archived(&besides.table), isBeside: true)
    besides.durability = receipt.durability
    beside = besides
    return Written(kind: .pendingChange, receipt: receipt, findings: Self.takeSheddings(of: &besides.table))
  }

  /// Writes the changes since the last save; nil when there are none.
  ///
  /// - Parameter isCapture: Whether the live objects were captured, so that what none of them owns is carried over.
  mutating func write(context: RestorationArchive.Context, loader: StateLoader, isCapture: Bool = true) throws
    -> Written?
  {
    let isOwed = continued == nil && table.writer.nodeCount > 0 && overlay != .durable
    let isOld =
      base == .opened
      && table.classes.ageLimit.map {
        Freshness.isDue(firstPartSavedAt ?? table.writer.context.timeSaved, limit: $0, now: context.timeSaved)
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
      if let generation = continued, let written = try appendChange(to: generation, isOld) { return written }
      return try publish(loader, isOld)
    } catch {
      // The writer takes a delta for written: only a whole archive is sure to have it.
      continued = nil
      throw error
    }
  }

  /// Appends the changes; nil when a whole generation has to be written instead: also where more than one part has changed, as
  /// no commit is over two files.
  ///
  /// - Parameter isOld: Whether the first part has to tell the time anew.
  private mutating func appendChange(to generation: Generation, _ isOld: Bool) throws(ProtectionError) -> Written? {
    let changed = table.writer.changedParts
    guard changed.count == 1, let part = changed.first, !isOld || part == .first, table.leftWeakerPartsFor == nil,
      usedParts.allSatisfy({ files[$0] != nil }), let change = try? table.writer.makeDelta(of: part)
    else { return nil }
    // The writer takes it for written.
    let file = files.removeValue(forKey: part)
    let receipt: PublishReceipt?
    do throws(ProtectionError) {
      receipt = try store.append(change, to: generation, part: part, as: table.parts[part])
    } catch  where error.code == .locked {
      return nil
    }
    guard let receipt else { return nil }
    if receipt.durability == .durable { files[part] = file } else { continued = nil }
    if part == .first { firstPartSavedAt = table.writer.context.timeSaved }
    return Written(kind: .change, receipt: receipt, findings: Self.takeSheddings(of: &table))
  }

  private mutating func publish(_ loader: StateLoader, _ isOld: Bool) throws(ProtectionError) -> Written {
    if retiresEverything { succession.retiring = try store.generations() }
    let receipt: PublishReceipt
    do throws(ProtectionError) {
      receipt = try store.publish(try publishedParts(isOld), succession, droppingWeakerThan: table.leftWeakerPartsFor)
    } catch  where error.code == .superseded {
      try findFilesAnew()
      receipt = try store.publish(try publishedParts(isOld), succession, droppingWeakerThan: table.leftWeakerPartsFor)
    }
    base = .opened
    let isDurable = receipt.durability == .durable
    if isDurable {
      (succession, retiresEverything) = (ArchiveSuccession(), false)
      files = Dictionary(uniqueKeysWithValues: receipt.parts.map { (RestorationArchive.Part($0.place), $0) })
      for place in receipt.sealedOneWay { files[RestorationArchive.Part(place)] = nil }
      table.leftWeakerPartsFor = nil
    }
    continued = isDurable ? receipt.generation : nil
    let findings =
      receipt.setAside.map { PreservationOutcome.Finding.setAside(loader.describe($0)) }
      + receipt.removed.map { .setAsideRemoved(loader.describe($0)) }
      + (receipt.isRemade
        ? [.failure("The directory of the state had been removed while the program ran; it was made again.")] : [])
    return Written(
      kind: receipt.isSealedOneWay ? .pendingWhole : .whole, receipt: receipt,
      findings: findings + Self.takeSheddings(of: &table))
  }

  /// Forgets files that are there no longer, as another passcode has had them sealed anew: what can be read is written whole, and
  /// what can't is where the newest generation has it.
  private mutating func findFilesAnew() throws(ProtectionError) {
    files = [:]
    guard !table.writer.away.isEmpty, continued != nil else { return }
    for part in try store.open(.newest).parts where table.writer.away.contains(part.part) {
      files[part.part] = part.file
    }
  }

  /// The parts that have anything; the first one always counts.
  private var usedParts: [RestorationArchive.Part] {
    table.parts.parts.filter {
      $0 == .first || table.writer.away.contains($0) || table.writer.nodeCount(of: $0) > 0
    }
  }

  /// What the next generation has of each part: those that have not changed stay as the disk has them.
  ///
  /// - Parameter isOld: Whether the first part has to tell the time anew.
  private mutating func publishedParts(_ isOld: Bool) throws(ProtectionError) -> [PublishedPart] {
    let used = usedParts
    let away = table.writer.away
    var due = Set(used).subtracting(files.keys).union(table.writer.changedParts).subtracting(away)
    // A generation has something of its own.
    if due.isEmpty || isOld { due.insert(.first) }
    if due.contains(.first) { firstPartSavedAt = table.writer.context.timeSaved }
    var parts: [PublishedPart] = []
    for part in used {
      let content: PublishedPart.Content
      if due.contains(part) {
        files[part] = nil
        content = .new(try Self.inOwnWords { () throws(ArchiveError) in try table.writer.makeArchive(of: part) })
      } else if let file = files[part] {
        content = .unchanged(file)
      } else {
        throw ProtectionError(.locked, "A part of the state can't be named and not be read; it waits for the unlock.")
      }
      parts.append(PublishedPart(part: part, protection: table.parts[part], content: content))
    }
    return parts
  }

  private mutating func writeOverlay() throws(ProtectionError) -> Written {
    overlay = .unknown
    let receipt = try store.publishPending(try Self.archived(&table), isBeside: false)
    overlay = receipt.durability
    return Written(kind: .pendingChange, receipt: receipt, findings: Self.takeSheddings(of: &table))
  }

  private static func archived(_ table: inout Table) throws(ProtectionError) -> Data {
    try inOwnWords { () throws(ArchiveError) in try PendingParts.encode(&table) }
  }

  private static func inOwnWords<Value>(_ body: () throws(ArchiveError) -> Value) throws(ProtectionError) -> Value {
    do {
      return try body()
    } catch {
      throw ProtectionError(.corrupt, "The state could not be put together; nothing was written.", cause: error)
    }
  }

  private static func takeSheddings(of table: inout Table) -> [PreservationOutcome.Finding] {
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
