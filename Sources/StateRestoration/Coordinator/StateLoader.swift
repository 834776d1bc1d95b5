internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// Opens, checks and lays out a state; runs on the worker.
struct StateLoader: Sendable {
  let store: any PreservationStore
  let limits: RestorationArchive.Limits
  let configuration: RestorationConfiguration
  /// What this run holds and the disk does not; nil when that is nothing.
  var live: LiveState?

  /// Loads the newest state, and says what is set aside beside it.
  func loadNewest() throws(LoadFailure) -> LoadedState {
    do throws(LoadFailure) {
      var loaded = try openNewest()
      loaded.remarks += setAsideRemarks()
      return loaded
    } catch {
      var failure = error
      if failure.outcome != .locked, failure.outcome != .unavailable { failure.remarks += setAsideRemarks() }
      throw failure
    }
  }

  /// Loads a state that was set aside; what can't be loaded changes nothing.
  func loadSetAside(_ id: UInt64) throws(LoadFailure) -> LoadedState {
    do {
      guard let state = try setAside.open(id) else {
        throw LoadFailure(
          outcome: .nothingPreserved, remarks: [.failure("there is no state \(id) aside")], reason: .normal)
      }
      // Asked for by name: what ended badly before is left out, and everything else is tried again.
      let history = (try? store.attempts(at: state)) ?? AttemptHistory()
      let hasDied = (history.requestDied || history.deaths > 0) && !configuration.isDeveloperMode
      var loaded = try layOut(
        state, history: history,
        crash: hasDied ? history.node.map { .leaveOut(node: $0) } ?? .restoreEverything : .restoreEverything,
        pending: [], isNewest: false, remarks: [])
      loaded.isOnRequest = true
      loaded.setAside = id
      return loaded
    } catch {
      var failure = failure(from: error, [])
      failure.changesNothing = true
      throw failure
    }
  }

  private var setAside: SetAsideStates {
    SetAsideStates(store: store, limits: limits, schemaVersion: configuration.schemaVersion)
  }

  private func setAsideRemarks() -> [RestorationReport.Remark] {
    guard let states = try? setAside.all(), !states.isEmpty else { return [] }
    return [.setAside(states)]
  }

  private func openNewest() throws(LoadFailure) -> LoadedState {
    var remarks: [RestorationReport.Remark] = []
    let pending = try openPending(&remarks)
    let state: StoredState
    do {
      state = try store.open(.newest)
    } catch {
      throw failure(error, remarks)
    }
    var history = AttemptHistory()
    do {
      history = try store.attempts(at: state)
    } catch {
      remarks.append(.markerIgnored(error.description))
    }
    var crash = CrashPlan(after: history, isDeveloperMode: configuration.isDeveloperMode)
    if crash == .restoreEverything, history.requestDied, !configuration.isDeveloperMode, let node = history.node {
      crash = .leaveOut(node: node)
    }
    do throws(LoadFailure) {
      var loaded = try layOut(
        state, history: history, crash: crash, pending: pending.readable, isNewest: true, remarks: remarks)
      // What is discarded takes everything along that is older.
      if !pending.problems.isEmpty { loaded.missesPending = true }
      return loaded
    } catch  where error.outcome == .damaged {
      // It opened well and is damaged inside: the generation before it stands in, as it would for one that doesn't open.
      guard var older = try? loadPredecessor(remarks: error.remarks, because: "the newest is damaged") else {
        throw error
      }
      switch CrashPlan(after: older.attempts, isDeveloperMode: configuration.isDeveloperMode) {
      case .restoreEverything: break
      case .leaveOut(let node): older.crash = .leaveOut(node: node)
      // There is none before it.
      case .ask, .olderGeneration, .nothing: older.crash = .nothing
      }
      return older
    }
  }

  /// Loads the generation before the newest.
  func loadPredecessor(remarks: [RestorationReport.Remark], because text: String) throws(LoadFailure) -> LoadedState {
    do {
      let state = try store.open(.predecessor)
      let history = (try? store.attempts(at: state)) ?? AttemptHistory()
      var loaded = try layOut(
        state, history: AttemptHistory(), crash: .restoreEverything, pending: [], isNewest: false,
        remarks: remarks + [.olderGeneration(text)])
      loaded.reason = .olderGeneration
      loaded.isPredecessor = true
      loaded.attempts = history
      if !configuration.isDeveloperMode, history.deaths > 0 || history.requestDied { loaded.culprit = history.node }
      return loaded
    } catch let error as LoadFailure {
      throw error
    } catch {
      var failure = LoadFailure(
        outcome: .unavailable, remarks: remarks + [.failure("there is no older generation: \(error)")],
        reason: .normal)
      if let error = error as? ProtectionError { failure.outcome = self.failure(error, []).outcome }
      throw failure
    }
  }

  /// Opens what was saved while locked; what can't be opened stays where it is.
  private func openPending(_ remarks: inout [RestorationReport.Remark]) throws(LoadFailure) -> AllPending {
    do {
      let all = try store.openPending()
      for (_, problem) in all.problems.sorted(by: { $0.key < $1.key }) {
        remarks.append(.failure(UnreadablePending.one(problem)))
      }
      return all
    } catch {
      let failure = failure(error, remarks)
      // Going on without it would put it out of reach: the next save replaces what it belongs to.
      if failure.isPassing { throw failure }
      remarks.append(.failure(UnreadablePending.all(error)))
      return AllPending()
    }
  }

  /// Puts what was saved while locked, and what is still in memory of it, on top of an archive.
  private func join(
    _ pending: [StoredPending], to reader: RestorationArchive.Reader, _ history: AttemptHistory, _ crash: CrashPlan
  ) throws(ArchiveError) -> Lineage.Joined {
    guard !pending.isEmpty || live != nil else { return Lineage.Joined() }
    var lineage = Lineage(
      store: store, context: try reader.context, limits: limits, nodeBudget: configuration.nodeByteBudget)
    let pending = pending.filter { live?.includesOwn != true || !$0.isOwn }
    var culprit: Lineage.Culprit?
    if crash != .restoreEverything, let node = history.node {
      culprit = .init(node: NodeID(rawValue: node), joinedBefore: pending.count)
    }
    return try lineage.join(pending, live: live, to: reader, culprit: culprit)
  }

  private func layOut(
    _ state: StoredState, history: AttemptHistory, crash: CrashPlan, pending: [StoredPending], isNewest: Bool,
    remarks: [RestorationReport.Remark]
  ) throws(LoadFailure) -> LoadedState {
    var remarks = remarks
    do {
      let data = try state.read(0..<state.byteCount)
      var reader = try RestorationArchive.Reader(base: .init(data), deltas: state.frames, limits: limits)
      let joined = try join(pending, to: reader, history, crash)
      for problem in joined.problems {
        remarks.append(.failure("what was saved while locked could not be joined: \(problem)"))
      }
      if let change = joined.change {
        reader = try RestorationArchive.Reader(base: .init(data), deltas: state.frames + [change], limits: limits)
      }
      var plan = try RestorationPlan(reader: reader)
      plan.source = .init(
        generation: state.generation.rawValue, savedAt: plan.context.timeSaved,
        applicationVersion: plan.context.applicationVersion.rawValue, byteCount: state.byteCount,
        changes: state.frames.count)
      if joined.nodeCount > 0 { remarks.append(.mergedPendingChanges(nodes: joined.nodeCount)) }
      var reason = RestorationReason.normal
      if plan.context.applicationVersion != configuration.applicationVersion { reason = .afterUpdate }
      switch state.standing {
      case .current: break
      case .olderGeneration(let code):
        reason = .olderGeneration
        if let code { remarks.append(.olderGeneration("the newest is \(code.description)")) }
      case .rollbackUnverifiable: remarks.append(.rollbackUnverifiable)
      }
      if state.tailDropped > 0 { remarks.append(.tailDropped(bytes: state.tailDropped)) }
      let hasDied = history.deaths > 0 || history.requestDied
      if crash != .restoreEverything || (hasDied && !configuration.isDeveloperMode) {
        reason = .afterCrash
        // A marker that is the older generation's counts no attempt of this one.
        remarks.append(.interruptedBefore(attempts: max(history.deaths, 1)))
      }
      return LoadedState(
        plan: plan, state: state, reader: reader, isNewest: isNewest, crash: crash,
        culprit: history.node,
        history: CrashHistory(
          failedAttempts: history.deaths, hasCulprit: history.node != nil,
          savedAt: plan.context.timeSaved),
        remarks: remarks, reason: reason,
        pending: joined.pending + pending.filter { live?.includesOwn == true && $0.isOwn },
        missesPending: !joined.problems.isEmpty,
        joinedChange: joined.change, keptRemovals: joined.keptRemovals,
        keepsCulprit: joined.keepsCulprit, store: store, attempts: history)
    } catch let error as ArchiveError {
      let outcome: RestorationOutcome = error.code == .unsupportedVersion ? .newerVersion : .damaged
      throw LoadFailure(outcome: outcome, remarks: remarks + [.failure(error.description)], reason: .normal)
    } catch {
      throw failure(from: error, remarks)
    }
  }

  private func failure(from error: any Error, _ remarks: [RestorationReport.Remark]) -> LoadFailure {
    switch error {
    case let error as LoadFailure: error
    case let error as ProtectionError: failure(error, remarks)
    default: LoadFailure(outcome: .unavailable, remarks: remarks + [.failure("\(error)")], reason: .normal)
    }
  }

  /// Keeps the outcomes apart: only `notFound` means that nothing was preserved.
  private func failure(_ error: ProtectionError, _ remarks: [RestorationReport.Remark]) -> LoadFailure {
    let outcome: RestorationOutcome =
      switch error.code {
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
    let text = outcome == .nothingPreserved ? [] : [RestorationReport.Remark.failure(error.description)]
    return LoadFailure(
      outcome: outcome, remarks: remarks + text, reason: outcome == .locked ? .deferredUntilUnlock : .normal)
  }
}
