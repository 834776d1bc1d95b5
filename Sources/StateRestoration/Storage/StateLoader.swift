internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// Opens a state, merges the nodes that were saved while locked, and lays it out; runs on the worker.
struct StateLoader: Sendable {
  let store: any PreservationStore
  let configuration: RestorationConfiguration
  let classes: ClassTable
  /// What an archive that is made now records of the program; taken on the main actor, as it calls the program's clock.
  let context: RestorationArchive.Context
  /// The nodes that this run edited while the device was locked, as an archive: newer than all that it saved of them.
  var edits: Data?
  /// Where the rows of those are in the stored state that are only the way to others.
  var ways: [NodeID: NodeID] = [:]

  private var limits: RestorationArchive.Limits { configuration.limits }

  /// Loads a state; one that the program asks for by name changes nothing if it can't be loaded.
  func load(_ source: RestorationCoordinator.Source) throws(LoadFailure) -> LoadedState {
    var loaded =
      switch source {
      case .newest: try loadNewest()
      case .olderGeneration: try loadPredecessor([], because: "as the program asked", isFallback: false)
      case .setAside(let id): try loadSetAside(id)
      }
    guard source != .newest else { return loaded }
    loaded.isRequest = true
    loaded.retiring = superseded(by: source)
    loaded.crash = CrashPlan(request: loaded.history, isDeveloperMode: configuration.isDeveloperMode)
    return loaded
  }

  /// Loads the newest state, and names the states set aside beside it.
  func loadNewest() throws(LoadFailure) -> LoadedState {
    do throws(LoadFailure) {
      var loaded = try openNewest()
      loaded.remarks += setAsideRemarks()
      return loaded
    } catch {
      var failure = error
      if !failure.isTransient { failure.remarks += setAsideRemarks() }
      throw failure
    }
  }

  private func openNewest() throws(LoadFailure) -> LoadedState {
    var remarks: [RestorationReport.Remark] = []
    let state: StoredState
    let pending: [PendingArchive]
    let waits: Bool
    do throws(ProtectionError) {
      state = try store.open(.newest)
      let all = try openPending(&remarks)
      (pending, waits) = (all.archives, !all.waiting.isEmpty)
    } catch {
      guard error.code == .notFound else { throw failure(error, remarks) }
      return try loadPendingAlone()
    }
    do throws(LoadFailure) {
      var loaded = try layOut(state, .newest, merging: pending, waits: waits, remarks)
      // The newest is known to be damaged: it must not become the one to fall back to.
      if case .olderGeneration = state.standing {
        loaded.retiring += ((try? store.generations()) ?? []).filter { one in
          one > state.generation && !pending.contains { $0.generation == one }
        }
      }
      loaded.history = attempts(at: state, &loaded.remarks)
      loaded.crash = CrashPlan(newest: loaded.history, isDeveloperMode: configuration.isDeveloperMode)
      if loaded.history.deaths > 0, !configuration.isDeveloperMode {
        loaded.reason = .afterCrash
        loaded.remarks.append(.interruptedBefore(attempts: loaded.history.deaths))
      }
      return loaded
    } catch {
      // It opened well and is damaged inside: the generation before it is its fallback, as for one that doesn't open.
      guard error.outcome == .damaged,
        var fallback = try? loadPredecessor(error.remarks, because: "the newest is damaged")
      else { throw error }
      fallback.retiring.append(state.generation)
      // It is the newest that there is.
      fallback.crash = CrashPlan(newest: fallback.history, isDeveloperMode: configuration.isDeveloperMode)
      return fallback
    }
  }

  /// Loads the generation before the newest: a fallback, onto which edits are merged as onto the newest, or on request.
  func loadPredecessor(
    _ remarks: [RestorationReport.Remark], because text: String, isFallback: Bool = true
  ) throws(LoadFailure) -> LoadedState {
    do {
      var remarks = remarks.filter { if case .mergedPendingChanges = $0 { false } else { true } }
      remarks.append(.olderGeneration(text))
      let pending = isFallback ? try openPending(&remarks).archives : []
      var loaded = try layOut(try store.open(.predecessor), .predecessor, merging: pending, remarks)
      loaded.history = attempts(at: loaded.state, &loaded.remarks)
      loaded.crash = CrashPlan(fallback: loaded.history, isDeveloperMode: configuration.isDeveloperMode)
      loaded.reason = .olderGeneration
      return loaded
    } catch {
      let outcome = failure(from: error, []).outcome
      throw LoadFailure(outcome: outcome, remarks: remarks + [.failure("there is no older generation: \(error)")])
    }
  }

  private func loadSetAside(_ id: RestorationCoordinator.SetAsideState.ID) throws(LoadFailure) -> LoadedState {
    let generation = Generation(rawValue: id)
    do {
      guard try store.setAsideRecords().contains(where: { $0.generation == id }) else {
        throw LoadFailure(outcome: .nothingPreserved, remarks: [.failure("there is no state \(id) aside")])
      }
      var loaded = try layOut(try store.open(.setAside(generation)), .setAside(generation), merging: [], [])
      loaded.history = attempts(at: loaded.state, &loaded.remarks)
      return loaded
    } catch {
      throw failure(from: error, [])
    }
  }

  /// The generations that a requested state takes the place of: the newest, with its pending ones; and the one
  /// before, when that is the last good one, or none of them when it is asked for itself.
  private func superseded(by source: RestorationCoordinator.Source) -> [Generation] {
    let all = (try? store.generations()) ?? []
    if source != .olderGeneration {
      guard let newest = try? openNewest(), newest.choice == .newest else { return all }
    }
    let predecessor = try? store.open(.predecessor).generation
    return all.filter { $0 != predecessor }
  }

  /// The states that are set aside, oldest first.
  func setAsideStates() throws(ProtectionError) -> [RestorationCoordinator.SetAsideState] {
    try store.setAsideRecords().map(describe)
  }

  /// A generation that is set aside, with what its archive says of itself where it can be read.
  func describe(_ record: Ledger.Record) -> RestorationCoordinator.SetAsideState {
    var description = RestorationCoordinator.SetAsideState(
      id: record.generation, byteCount: Int(clamping: record.byteCount), isReadable: false,
      isDamaged: record.flags.contains(.damaged))
    let context: RestorationArchive.Context
    do {
      let state = try store.open(.setAside(Generation(rawValue: record.generation)))
      guard let content = state.parts.first?.content else { return description }
      context = try RestorationArchive.Reader(
        base: .init(byteCount: content.byteCount, read: content.read), deltas: content.frames, limits: limits
      ).context
    } catch {
      let isTransient = (error as? ProtectionError)?.code.isTransient ?? false
      if !isTransient { description.isDamaged = true }
      return description
    }
    description.savedAt = context.timeSaved
    description.applicationVersion = context.applicationVersion.rawValue
    description.schemaVersion = context.schemaVersion
    description.isReadable = context.schemaVersion <= configuration.schemaVersion
    return description
  }

  // MARK: - Parts

  private func setAsideRemarks() -> [RestorationReport.Remark] {
    guard let states = try? setAsideStates(), !states.isEmpty else { return [] }
    return [.setAside(states)]
  }

  private func attempts(at state: StoredState, _ remarks: inout [RestorationReport.Remark]) -> AttemptHistory {
    do {
      return try store.attempts(at: state)
    } catch {
      remarks.append(.markerIgnored(error.description))
      return AttemptHistory()
    }
  }

  private func openPending(_ remarks: inout [RestorationReport.Remark]) throws(ProtectionError) -> PendingArchives {
    let all: PendingArchives
    do throws(ProtectionError) {
      all = try store.openPending()
    } catch  where !error.code.isTransient {
      remarks.append(.failure("what was saved while locked could not be read: \(error)"))
      return PendingArchives()
    }
    for problem in all.problems.values.sorted(by: { $0.description < $1.description }) {
      remarks.append(.failure("something that was saved while locked could not be read: \(problem)"))
    }
    return all
  }

  /// Loads nodes that were saved while locked, where there is no generation below them.
  private func loadPendingAlone() throws(LoadFailure) -> LoadedState {
    var remarks: [RestorationReport.Remark] = []
    let pending: [PendingArchive]
    let base: Data
    do {
      pending = try openPending(&remarks).archives
      let oldest = (pending.map(\.content) + [edits].compactMap(\.self)).first
      let context = try? oldest.map { try PendingParts.decode($0, limits: limits).reader.context }
      var table = Table(
        context: context ?? self.context, protection: configuration.protection, limits: limits,
        nodeBudget: configuration.nodeByteBudget)
      base = try table.writer.makeArchive(of: .first)
    } catch {
      throw failure(from: error, remarks)
    }
    guard !pending.isEmpty || edits != nil else { throw LoadFailure(outcome: .nothingPreserved, remarks: remarks) }
    let content = StoredState.Content(byteCount: base.count) { range in base.subdata(in: range) }
    let state = StoredState(
      generation: Generation(rawValue: 0), parts: [.init(protection: configuration.protection, content: content)])
    return try layOut(state, .newest, merging: pending, remarks)
  }

  private func layOut(
    _ state: StoredState, _ choice: StateChoice, merging pending: [PendingArchive], waits: Bool = false,
    _ remarks: [RestorationReport.Remark]
  ) throws(LoadFailure) -> LoadedState {
    var remarks = remarks
    do {
      var state = state
      var parts = try PartsInMemory(&state, in: store, limits: limits)
      var reader = try parts.reader
      // The part of all that names no class has the class that the program wants now.
      let further = state.parts.dropFirst().filter { $0.damage == nil }
      let isComplete = { (part: StoredState.Part) in part.protection == .complete }
      var classes = PartClasses(
        configuration.protection,
        Dictionary(
          uniqueKeysWithValues: further.map { part in
            // The file's class is that of a file that is made without a key; the state's was stronger.
            let isOfComplete = part.isSealedOneWay && !further.contains(where: isComplete)
            return (part.part, isOfComplete ? .complete : part.protection)
          }))
      // The nodes that this run has saved itself are among its edits, as they are now.
      var merged = pending.filter { edits != nil && $0.isOwn }
      let others = pending.filter { edits == nil || !$0.isOwn }
      var changes: [RestorationArchive.Part: Table.PartChange] = [:]
      var merging = LoadedState.Merging()
      var names = NodeNames()
      let stored = try RestorePlan(reader: reader, classes: self.classes)
      if !others.isEmpty || edits != nil || stored.isToBeSettled {
        changes = try merge(others, onto: reader, &classes, stored, &merged, &merging, &names, &remarks)
      }
      for (part, change) in changes { parts.add(change, to: part) }
      if !changes.isEmpty { reader = try parts.reader }
      var loaded = LoadedState(
        plan: changes.isEmpty ? stored : try RestorePlan(reader: reader, classes: self.classes), state: state,
        reader: reader, parts: classes, choice: choice,
        crash: .restoreEverything, history: AttemptHistory(), remarks: remarks, reason: .normal, merged: merged,
        retiring: pending.map(\.generation).filter { one in !merged.contains { $0.generation == one } },
        merging: merging, names: names,
        lockedClasses: store.lockedClasses.union(state.lockedClasses),
        hasLockedState: !state.lockedClasses.isEmpty || waits,
        isMerged: !changes.isEmpty || !merged.isEmpty)
      for part in state.parts where changes[part.part] == nil && part.damage == nil {
        // One of another class than is wanted now is written anew, and so is what was sealed one-way for want of a key.
        if part.content == nil || !part.isSealedOneWay && part.protection == classes[part.part] {
          loaded.files[part.part] = part.file
        }
      }
      addFacts(of: state, to: &loaded)
      return loaded
    } catch let error as ArchiveError {
      let outcome: RestorationReport.Outcome = error.code == .unsupportedVersion ? .newerVersion : .damaged
      throw LoadFailure(
        outcome: outcome, remarks: remarks + [.failure(error.description)], retiring: [state.generation])
    } catch {
      throw failure(from: error, remarks)
    }
  }

  private func addFacts(of state: StoredState, to loaded: inout LoadedState) {
    if loaded.plan.context.applicationVersion != configuration.applicationVersion { loaded.reason = .afterUpdate }
    switch state.standing {
    case .current: break
    case .olderGeneration(let code):
      loaded.reason = .olderGeneration
      if let code { loaded.remarks.append(.olderGeneration("the newest is \(code.description)")) }
    case .rollbackUnverifiable: loaded.remarks.append(.rollbackUnverifiable)
    }
    for part in state.parts {
      if let code = part.fallback {
        loaded.remarks.append(.olderGeneration("the newest of class \(part.protection) is \(code.description)"))
      }
      if let code = part.damage {
        loaded.remarks.append(
          .failure("the state of class \(part.protection) is \(code.description), and is set aside"))
      } else if part.content == nil {
        loaded.remarks.append(.waitsForUnlock(loaded.parts[part.part]))
      }
    }
    if state.tailDropped > 0 { loaded.remarks.append(.tailDropped(bytes: state.tailDropped)) }
  }

  /// Merges the pending generations, oldest first, and last the edits of this run.
  ///
  /// - Parameters:
  ///   - merging: Gets the traces of the merge.
  ///   - names: What a marker calls the nodes that the disk has elsewhere.
  /// - Returns: The change of the archive; nil when there is none.
  private func merge(
    _ pending: [PendingArchive], onto reader: RestorationArchive.PartedReader, _ parts: inout PartClasses,
    _ stored: RestorePlan, _ merged: inout [PendingArchive],
    _ merging: inout LoadedState.Merging, _ names: inout NodeNames,
    _ remarks: inout [RestorationReport.Remark]
  ) throws(ArchiveError) -> [RestorationArchive.Part: Table.PartChange] {
    var table = try Table(
      continuing: reader, parts: parts, stored.index, limits: limits, nodeBudget: configuration.nodeByteBudget)
    table.classes = classes
    try table.separate(stored.namesakes)
    for row in stored.rivals { try table.noteLaterOfWeaker(besides: row) }
    if stored.isToBeSettled { _ = try table.uniteTwins() }
    var context = try reader.context
    var nodes = 0
    var sources: [(generation: Generation, rows: [NodeID: NodeID], records: [NodeID: NodeID])] = []
    let ownGeneration = edits == nil ? nil : merged.last?.generation
    for one in pending {
      var attempt = table
      do throws(ArchiveError) {
        let overlay = try PendingParts.decode(one.content, limits: limits)
        var attemptContext = context
        let (rows, records) = try attempt.merge(
          overlay.reader, overlay.parts, &attemptContext, isBeside: one.isBeside)
        // Rows alone say nothing: what was written in them has gone in that run.
        if !records.isEmpty || attempt.revealed > table.revealed {
          (table, context) = (attempt, attemptContext)
          sources.append((one.generation, rows, records))
        }
        nodes += records.count
        merged.append(one)
      } catch {
        remarks.append(.failure("what was saved while locked could not be merged: \(error)"))
      }
    }
    if let edits {
      let overlay = try PendingParts.decode(edits, limits: limits)
      let (rows, records) = try table.merge(overlay.reader, overlay.parts, &context, ways: ways)
      (merging.ownRows, merging.ownRecords) = (rows, records)
      if let ownGeneration { sources.append((ownGeneration, rows, records)) }
    }
    for (former, record) in table.moved.movedRecords where try reader.node(former) != nil {
      names.add(record, formerly: former)
    }
    for (generation, rows, records) in sources {
      for (source, row) in rows where try reader.node(table.currentRow(row)) == nil {
        names.add(table.currentRow(row), from: source, of: generation)
      }
      for (source, record) in records where try reader.node(table.current(record)) == nil {
        names.add(table.current(record), from: source, of: generation)
      }
    }
    (merging.moved, merging.leftWeakerPartsFor) = (table.moved, table.leftWeakerPartsFor)
    if nodes > 0 { remarks.append(.mergedPendingChanges(nodes: nodes)) }
    for finding in table.owedFindings { remarks.append(.failure(finding.description)) }
    table.writer.context = context
    var changes: [RestorationArchive.Part: Table.PartChange] = [:]
    let read = Set(reader.parts)
    for part in table.writer.changedParts {
      if read.contains(part), !table.writer.partsToRemake.contains(part) {
        if let delta = try table.writer.makeDeltaOverBudget(of: part) { changes[part] = .delta(delta) }
      } else {
        changes[part] = .base(try table.writer.makeArchiveOverBudget(of: part))
      }
    }
    parts = table.parts
    return changes
  }

  // MARK: - Failures

  private func failure(from error: any Error, _ remarks: [RestorationReport.Remark]) -> LoadFailure {
    switch error {
    case let error as LoadFailure: error
    case let error as ProtectionError: failure(error, remarks)
    default: LoadFailure(outcome: .unavailable, remarks: remarks + [.failure("\(error)")])
    }
  }

  private func failure(_ error: ProtectionError, _ remarks: [RestorationReport.Remark]) -> LoadFailure {
    let outcome = error.code.outcome
    let text = outcome == .nothingPreserved ? [] : [RestorationReport.Remark.failure(error.description)]
    return LoadFailure(
      outcome: outcome, remarks: remarks + text, reason: outcome == .locked ? .deferredUntilUnlock : .normal)
  }
}

extension ProtectionError.Code {
  /// Keeps the outcomes apart: only `notFound` means that nothing was preserved.
  var outcome: RestorationReport.Outcome {
    switch self {
    case .notFound: .nothingPreserved
    case .locked: .locked
    case .missing: .missing
    case .corrupt, .wrongIdentity, .wrongClass: .damaged
    case .otherDevice: .otherDevice
    case .keysMissing: .keysMissing
    case .rolledBack: .rolledBack
    case .unsupportedVersion: .newerVersion
    default: .unavailable
    }
  }
}
