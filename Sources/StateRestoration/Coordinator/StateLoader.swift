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
      guard let place = try shelf.place(of: id) else {
        throw LoadFailure(
          outcome: .nothingPreserved, remarks: [.failure("there is no state \(id) aside")], reason: .normal)
      }
      let state = try place.openNewest()
      // Asked for by name: what ended badly before is left out, and everything else is tried again.
      let attempt = try? place.interruptedAttempt(for: state)
      let culprit = attempt?.failedAttempts ?? 0 > 0 && !configuration.isDeveloperMode ? attempt?.node : nil
      var loaded = try layOut(
        state, attempt: attempt, crash: culprit.map { .leaveOut(node: $0) } ?? .restoreEverything, pending: [],
        isNewest: false, remarks: [])
      // A save while locked takes the newest's place later, and has to know which that was: with what other runs have saved
      // whole while locked.
      _ = try? sortedPending(&loaded.remarks, sparing: id)
      _ = try? store.openNewest()
      loaded.place = place
      loaded.isOnRequest = true
      loaded.setAside = id
      return loaded
    } catch {
      var failure = failure(from: error, [])
      failure.changesNothing = true
      throw failure
    }
  }

  private var shelf: SetAsideShelf {
    SetAsideShelf(store: store, limits: limits, schemaVersion: configuration.schemaVersion)
  }

  private func setAsideRemarks() -> [RestorationReport.Remark] {
    guard let states = try? shelf.states(), !states.isEmpty else { return [] }
    return [.setAside(states)]
  }

  private func openNewest() throws(LoadFailure) -> LoadedState {
    var remarks: [RestorationReport.Remark] = []
    let pending = try sortedPending(&remarks)
    let state: StoredState
    do {
      state = try store.openNewest()
    } catch {
      // There is nothing to join it to: what it belonged to is being deleted, say.
      if error.code == .notFound { _ = setAside(pending.fitting, &remarks, sparing: nil) }
      throw failure(error, remarks)
    }
    var attempt: InterruptedAttempt?
    do {
      attempt = try store.interruptedAttempt(for: state)
    } catch {
      remarks.append(.markerIgnored(error.description))
    }
    if attempt?.meaning == .damaged { remarks.append(.markerIgnored("it is damaged")) }
    if attempt?.meaning == .livePeer { remarks.append(.markerIgnored("another process is restoring this state")) }
    var crash = CrashPlan(after: attempt, isDeveloperMode: configuration.isDeveloperMode)
    var hasTriedOlder = false
    if attempt?.meaning == .otherArchive, let next = planAfterStandIn() {
      crash = next
      hasTriedOlder = true
    }
    do throws(LoadFailure) {
      var loaded = try layOut(
        state, attempt: attempt, crash: crash, pending: pending.fitting, isNewest: true, remarks: remarks)
      loaded.pending += pending.replaced
      // What is discarded takes everything along that is older.
      if pending.leavesSome { loaded.missesPending = true }
      loaded.hasTriedOlder = hasTriedOlder
      return try appendedOverCulprit(loaded, attempt) ?? loaded
    } catch  where error.outcome == .damaged {
      // It opened well and is damaged inside: the generation before it stands in, as it would for one that doesn't open.
      guard var older = try? loadPredecessor(remarks: error.remarks, because: "the newest is damaged") else {
        throw error
      }
      let attempt = try? store.interruptedAttempt(for: older.state)
      // What requests died at is left out of it already, and they are counted apart.
      if attempt?.isRequested == true { return older }
      switch CrashPlan(after: attempt, isDeveloperMode: configuration.isDeveloperMode) {
      case .restoreEverything: break
      case .leaveOut(let node): older.crash = .leaveOut(node: node)
      // There is none before it.
      case .ask, .olderGeneration, .nothing: older.crash = .nothing
      }
      return older
    }
  }

  /// Makes what was typed while locked over what restoring died at a change of the newest generation, so that attempts at
  /// it begin anew.
  ///
  /// The former ones say nothing against it, unless there were many in a row. Nil when there is no such thing, or it can't be
  /// written now.
  private func appendedOverCulprit(
    _ loaded: LoadedState, _ attempt: InterruptedAttempt?
  ) throws(LoadFailure) -> LoadedState? {
    guard loaded.keepsCulprit, live == nil, !loaded.missesPending, let change = loaded.joinedChange, let attempt,
      attempt.endsInARow < InterruptedAttempt.endLimit
    else { return nil }
    do {
      guard try append(change, to: loaded).durability == .durable else { return nil }
      // What stays of it is joined once more.
      for pending in loaded.pending { try? store.discardPending(pending) }
    } catch {
      configuration.log.log(.warning, "what was saved while locked can't be made a change of the newest now: \(error)")
      return nil
    }
    var anew = try openNewest()
    anew.remarks = loaded.remarks
    anew.reason = loaded.reason
    anew.keptRemovals = loaded.keptRemovals
    anew.crash = .restoreEverything
    anew.beginsAnew = true
    return anew
  }

  /// Appends a change of a state where that is kept.
  private func append(_ change: Data, to loaded: LoadedState) throws(ProtectionError) -> StoreReceipt {
    try loaded.place.append(change, to: loaded.state.generation, as: loaded.state.frames.count + 1)
  }

  /// Has what restoring a set-aside state died at left out of it durably, in its own place; as well as the disk allows.
  func leaveOutCulprit(of loaded: LoadedState) {
    guard loaded.crash != .restoreEverything, let node = loaded.culprit, !loaded.plan.isKept(NodeID(rawValue: node))
    else { return }
    do {
      let context = try loaded.reader.context
      var lineage = Lineage(store: store, context: context, limits: limits, nodeBudget: configuration.nodeByteBudget)
      try lineage.continueArchive(loaded.reader, of: loaded.state.generation)
      try lineage.mark([NodeID(rawValue: node)], leftOut: true)
      guard let change = try lineage.makeChange(context: context) else { return }
      _ = try append(change, to: loaded)
    } catch {
      configuration.log.log(.warning, "what restoring died at can't be marked: \(error)")
    }
  }

  /// Loads the generation before the newest.
  func loadPredecessor(remarks: [RestorationReport.Remark], because text: String) throws(LoadFailure) -> LoadedState {
    do {
      let state = try store.openPredecessor()
      let attempt = try? store.interruptedAttempt(for: state)
      var loaded = try layOut(
        state, attempt: nil, crash: .restoreEverything, pending: [], isNewest: false,
        remarks: remarks + [.olderGeneration(text)])
      loaded.reason = .olderGeneration
      loaded.isPredecessor = true
      if let attempt, !configuration.isDeveloperMode {
        if attempt.failedAttempts > 0 { loaded.culprit = attempt.node }
        loaded.diedOnRequest = Set(attempt.requestedNodes.map(NodeID.init(rawValue:)))
      }
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

  /// What becomes of what was saved while locked.
  private struct SortedPending {
    /// What is to be joined to the newest state, oldest first.
    var fitting: [StoredPending] = []
    /// What is set aside, so that the next whole generation may take its place.
    var replaced: [StoredPending] = []
    /// Whether something stays where it is, as it can't be read or set aside.
    var leavesSome = false
  }

  /// Takes over what was saved whole while locked, and sets aside what does not fit what is there now.
  ///
  /// - Parameter spared: A state that was set aside and makes no room: it is asked for.
  private func sortedPending(
    _ remarks: inout [RestorationReport.Remark], sparing spared: UInt64? = nil
  ) throws(LoadFailure) -> SortedPending {
    let all: AllPending
    do {
      all = try store.openPending()
    } catch {
      let failure = failure(error, remarks)
      // Going on without it would put it out of reach: the next save replaces what it belongs to.
      if failure.isPassing { throw failure }
      remarks.append(.failure(UnreadablePending.all(error)))
      return SortedPending(leavesSome: true)
    }
    for problem in all.problems {
      remarks.append(.failure(UnreadablePending.one(problem)))
    }
    var fitting: [StoredPending] = []
    var conflicting: [StoredPending] = []
    for pending in all.readable {
      guard pending.isBaseUnchanged else {
        conflicting.append(pending)
        continue
      }
      guard pending.kind != .touchedNodes else {
        fitting.append(pending)
        continue
      }
      do {
        // What lies before it was known to its run and is not in it, and goes with the step that takes it over.
        for earlier in fitting {
          remarks += try shelf.put(earlier, sparing: spared).removed.map { .setAsideRemoved($0) }
        }
        if pending.kind != .whole {
          let predecessor: SetAsideShelf.Predecessor = pending.kind == .wholeAnewOverBoth ? .refused : .unknown
          try shelf.putNewest(predecessor: predecessor, sparing: spared) { placed in
            remarks += placed.removed.map { .setAsideRemoved($0) }
          }
        }
      } catch {
        throw failure(error, remarks)
      }
      configuration.log.log(.debug, "promoting what was saved while locked")
      do {
        _ = try store.promotePending(pending)
        if !fitting.isEmpty { remarks.append(.pendingConflict) }
        fitting = []
      } catch  where error.code == .superseded {
        conflicting.append(pending)
      } catch {
        let failure = failure(error, remarks)
        if failure.isPassing { throw failure }
        remarks.append(.failure(error.description))
      }
    }
    let replaced = setAside(conflicting, &remarks, sparing: spared)
    return SortedPending(
      fitting: fitting, replaced: replaced, leavesSome: !all.problems.isEmpty || replaced.count < conflicting.count)
  }

  /// Sets aside what was saved while locked and does not fit; what can't be set aside now stays where it is.
  private func setAside(
    _ conflicting: [StoredPending], _ remarks: inout [RestorationReport.Remark], sparing spared: UInt64?
  ) -> [StoredPending] {
    guard !conflicting.isEmpty else { return [] }
    if !remarks.contains(.pendingConflict) { remarks.append(.pendingConflict) }
    return conflicting.filter { pending in
      do throws(ProtectionError) {
        remarks += try shelf.put(pending, sparing: spared).removed.map { .setAsideRemoved($0) }
        return true
      } catch {
        remarks.append(.failure("what was saved while locked could not be set aside: \(error)"))
        return false
      }
    }
  }

  /// Puts what was saved while locked, and what is still in memory of it, on top of an archive.
  private func join(
    _ pending: [StoredPending], to reader: RestorationArchive.Reader, _ attempt: InterruptedAttempt?, _ crash: CrashPlan
  ) throws(ArchiveError) -> Lineage.Joined {
    guard !pending.isEmpty || live != nil else { return Lineage.Joined() }
    var lineage = Lineage(
      store: store, context: try reader.context, limits: limits, nodeBudget: configuration.nodeByteBudget)
    let pending = pending.filter { live?.includesOwn != true || !$0.isOwn }
    var culprit: Lineage.Culprit?
    if crash != .restoreEverything, let node = attempt?.node {
      // What had been joined when restoring died is not newer than that.
      let last = attempt.flatMap { attempt in pending.lastIndex { $0.mark == attempt.pendingMark } }
      culprit = .init(node: NodeID(rawValue: node), joinedBefore: last.map { $0 + 1 } ?? 0)
    }
    return try lineage.join(pending, live: live, to: reader, culprit: culprit)
  }

  /// What to do after the end of an attempt at the generation before the newest, which stood in for that; nil when none is
  /// known.
  ///
  /// Outside any node a kill from outside is likelier than a crash: once it has another try.
  private func planAfterStandIn() -> CrashPlan? {
    guard !configuration.isDeveloperMode, let older = try? store.openPredecessor(),
      let attempt = try? store.interruptedAttempt(for: older), attempt.isStandIn, attempt.failedAttempts > 0,
      attempt.meaning == .died
    else { return nil }
    return attempt.node == nil && attempt.failedAttempts == 1 ? .olderGeneration : .nothing
  }

  private func layOut(
    _ state: StoredState, attempt: InterruptedAttempt?, crash: CrashPlan, pending: [StoredPending], isNewest: Bool,
    remarks: [RestorationReport.Remark]
  ) throws(LoadFailure) -> LoadedState {
    var remarks = remarks
    do {
      let data = try state.read(0..<state.byteCount)
      var reader = try RestorationArchive.Reader(base: .init(data), deltas: state.frames, limits: limits)
      let joined = try join(pending, to: reader, attempt, crash)
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
      let hasDied = attempt.map { $0.meaning == .died && $0.failedAttempts > 0 } ?? false
      if crash != .restoreEverything || (hasDied && !configuration.isDeveloperMode) {
        reason = .afterCrash
        // A marker that is the older generation's counts no attempt of this one.
        remarks.append(.interruptedBefore(attempts: max(attempt?.failedAttempts ?? 1, 1)))
      }
      return LoadedState(
        plan: plan, state: state, reader: reader, isNewest: isNewest, crash: crash,
        culprit: attempt?.node,
        history: CrashHistory(
          failedAttempts: attempt?.failedAttempts ?? 0, hasCulprit: attempt?.node != nil,
          savedAt: plan.context.timeSaved),
        remarks: remarks, reason: reason,
        pending: joined.pending + pending.filter { live?.includesOwn == true && $0.isOwn },
        pendingMark: pending.last?.mark ?? 0, missesPending: !joined.problems.isEmpty,
        joinedChange: joined.change, keptRemovals: joined.keptRemovals,
        keepsCulprit: joined.keepsCulprit, place: store)
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
