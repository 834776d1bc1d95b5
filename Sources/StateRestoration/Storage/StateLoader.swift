internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// Opens a state, merges the nodes that were saved while locked, and lays it out; runs on the worker.
struct StateLoader: Sendable {
  let store: any PreservationStore
  let configuration: RestorationConfiguration
  let classes: ClassTable
  /// What an archive that is made now records of the program; taken on the main actor, as it calls the program's clock.
  let context: RestorationContext
  /// The nodes that this run edited while the device was locked, as an archive: newer than all that it saved of them.
  var edits: Data?

  private var limits: RestorationArchive.Limits { configuration.limits }

  /// Loads a state; one that the program asks for by name changes nothing if it can't be loaded.
  func load(_ source: RestorationSource) throws(LoadFailure) -> LoadedState {
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
    var remarks: [RestorationRemark] = []
    let state: StoredState
    let pending: [PendingArchive]
    do throws(ProtectionError) {
      state = try store.open(.newest)
      pending = try openPending(&remarks)
    } catch {
      guard error.code == .notFound else { throw failure(error, remarks) }
      return try loadPendingAlone()
    }
    do throws(LoadFailure) {
      var loaded = try layOut(state, .newest, merging: pending, remarks)
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
    _ remarks: [RestorationRemark], because text: String, isFallback: Bool = true
  ) throws(LoadFailure) -> LoadedState {
    do {
      var remarks = remarks.filter { if case .mergedPendingChanges = $0 { false } else { true } }
      remarks.append(.olderGeneration(text))
      let pending = isFallback ? try openPending(&remarks) : []
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

  private func loadSetAside(_ id: SetAsideState.ID) throws(LoadFailure) -> LoadedState {
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
  private func superseded(by source: RestorationSource) -> [Generation] {
    let all = (try? store.generations()) ?? []
    if source != .olderGeneration {
      guard let newest = try? openNewest(), newest.choice == .newest else { return all }
    }
    let predecessor = try? store.open(.predecessor).generation
    return all.filter { $0 != predecessor }
  }

  /// The states that are set aside, oldest first.
  func setAsideStates() throws(ProtectionError) -> [SetAsideState] {
    try store.setAsideRecords().map(describe)
  }

  /// A generation that is set aside, with what its archive says of itself where it can be read.
  func describe(_ record: Ledger.Record) -> SetAsideState {
    var description = SetAsideState(
      id: record.generation, byteCount: Int(clamping: record.byteCount), isReadable: false,
      isDamaged: record.flags.contains(.damaged))
    let context: RestorationContext
    do {
      context = try reader(of: try store.open(.setAside(Generation(rawValue: record.generation)))).context
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

  private func setAsideRemarks() -> [RestorationRemark] {
    guard let states = try? setAsideStates(), !states.isEmpty else { return [] }
    return [.setAside(states)]
  }

  private func attempts(at state: StoredState, _ remarks: inout [RestorationRemark]) -> AttemptHistory {
    do {
      return try store.attempts(at: state)
    } catch {
      remarks.append(.markerIgnored(error.description))
      return AttemptHistory()
    }
  }

  private func openPending(_ remarks: inout [RestorationRemark]) throws(ProtectionError) -> [PendingArchive] {
    let all: PendingArchives
    do throws(ProtectionError) {
      all = try store.openPending()
    } catch  where !error.code.isTransient {
      remarks.append(.failure("what was saved while locked could not be read: \(error)"))
      return []
    }
    for problem in all.problems.values.sorted(by: { $0.description < $1.description }) {
      remarks.append(.failure("something that was saved while locked could not be read: \(problem)"))
    }
    return all.archives
  }

  /// Loads nodes that were saved while locked, where there is no generation below them.
  private func loadPendingAlone() throws(LoadFailure) -> LoadedState {
    var remarks: [RestorationRemark] = []
    let pending: [PendingArchive]
    let base: Data
    do {
      pending = try openPending(&remarks)
      let oldest = (pending.map(\.content) + [edits].compactMap(\.self)).first
      let context = try? oldest.map { try RestorationArchive.Reader(base: .init($0), limits: limits).context }
      var table = Table(
        context: context ?? self.context, limits: limits, nodeBudget: configuration.nodeByteBudget)
      base = try table.writer.makeArchive()
    } catch {
      throw failure(from: error, remarks)
    }
    guard !pending.isEmpty || edits != nil else { throw LoadFailure(outcome: .nothingPreserved, remarks: remarks) }
    let state = StoredState(generation: Generation(rawValue: 0), byteCount: base.count) { range in
      base.subdata(in: range)
    }
    return try layOut(state, .newest, merging: pending, remarks)
  }

  private func layOut(
    _ state: StoredState, _ choice: StateChoice, merging pending: [PendingArchive],
    _ remarks: [RestorationRemark]
  ) throws(LoadFailure) -> LoadedState {
    var remarks = remarks
    do {
      let data = try state.read(0..<state.byteCount)
      var reader = try RestorationArchive.Reader(base: .init(data), deltas: state.frames, limits: limits)
      // The nodes that this run has saved itself are among its edits, as they are now.
      var merged = pending.filter { edits != nil && $0.isOwn }
      let others = pending.filter { edits == nil || !$0.isOwn }
      var change: Data?
      var ownRecords: [NodeID: NodeID] = [:]
      let stored = try RestorePlan(reader: reader, classes: classes)
      if !others.isEmpty || edits != nil || stored.hasTwins {
        change = try merge(others, onto: reader, stored, &merged, &ownRecords, &remarks)
      }
      if let change {
        reader = try RestorationArchive.Reader(base: .init(data), deltas: state.frames + [change], limits: limits)
      }
      var loaded = LoadedState(
        plan: change == nil ? stored : try RestorePlan(reader: reader, classes: classes), state: state, reader: reader,
        choice: choice,
        crash: .restoreEverything, history: AttemptHistory(), remarks: remarks, reason: .normal, merged: merged,
        retiring: pending.map(\.generation).filter { one in !merged.contains { $0.generation == one } },
        ownRecords: ownRecords, isMerged: change != nil || !merged.isEmpty)
      addFacts(of: state, to: &loaded)
      return loaded
    } catch let error as ArchiveError {
      let outcome: RestorationOutcome = error.code == .unsupportedVersion ? .newerVersion : .damaged
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
    if state.tailDropped > 0 { loaded.remarks.append(.tailDropped(bytes: state.tailDropped)) }
  }

  /// Merges the pending generations, oldest first, and last the edits of this run.
  ///
  /// - Parameter ownRecords: Where the records of this run's edits are, by their numbers among the edits.
  /// - Returns: The change of the archive; nil when there is none.
  private func merge(
    _ pending: [PendingArchive], onto reader: RestorationArchive.Reader, _ stored: RestorePlan,
    _ merged: inout [PendingArchive],
    _ ownRecords: inout [NodeID: NodeID], _ remarks: inout [RestorationRemark]
  ) throws(ArchiveError) -> Data? {
    var table = try Table(
      continuing: reader, stored.index, limits: limits, nodeBudget: configuration.nodeByteBudget)
    table.classes = classes
    if stored.hasTwins { _ = try table.uniteTwins() }
    var context = try reader.context
    var nodes = 0
    for one in pending {
      var attempt = table
      do throws(ArchiveError) {
        let overlay = try RestorationArchive.Reader(base: .init(one.content), limits: limits)
        nodes += try attempt.merge(overlay, &context).count
        table = attempt
        merged.append(one)
      } catch {
        remarks.append(.failure("what was saved while locked could not be merged: \(error)"))
      }
    }
    if let edits {
      ownRecords = try table.merge(try RestorationArchive.Reader(base: .init(edits), limits: limits), &context)
    }
    if nodes > 0 { remarks.append(.mergedPendingChanges(nodes: nodes)) }
    for finding in table.owedFindings { remarks.append(.failure(finding.description)) }
    table.writer.context = context
    return try table.writer.makeDeltaOverBudget()
  }

  private func reader(of state: StoredState) throws(ArchiveError) -> RestorationArchive.Reader {
    try RestorationArchive.Reader(
      base: .init(byteCount: state.byteCount) { try state.read($0) }, deltas: state.frames, limits: limits)
  }

  // MARK: - Failures

  private func failure(from error: any Error, _ remarks: [RestorationRemark]) -> LoadFailure {
    switch error {
    case let error as LoadFailure: error
    case let error as ProtectionError: failure(error, remarks)
    default: LoadFailure(outcome: .unavailable, remarks: remarks + [.failure("\(error)")])
    }
  }

  private func failure(_ error: ProtectionError, _ remarks: [RestorationRemark]) -> LoadFailure {
    let outcome = error.code.outcome
    let text = outcome == .nothingPreserved ? [] : [RestorationRemark.failure(error.description)]
    return LoadFailure(
      outcome: outcome, remarks: remarks + text, reason: outcome == .locked ? .deferredUntilUnlock : .normal)
  }
}

extension ProtectionError.Code {
  /// Keeps the outcomes apart: only `notFound` means that nothing was preserved.
  var outcome: RestorationOutcome {
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
