internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension RestorationCoordinator {
  /// Restores what was loaded, in one turn of the main actor, and hands it on to the next save.
  ///
  /// - Parameters:
  ///   - loaded: What is there.
  ///   - root: The controller at the top of the hierarchy.
  ///   - touched: The objects that were edited while the device was locked, by their paths: theirs is newer.
  ///   - retriesLeftOut: Whether nodes that were left out after a crash are tried again.
  ///   - phaseBefore: Where the coordinator was: there it stays, when a state that was asked for is refused.
  func restore(
    _ loaded: LoadedState, into root: any RestorableController, touched: [RestorationPath: LiveObjects.Living],
    retriesLeftOut: Bool, phaseBefore: Phase
  ) async -> RestorationReport {
    var report = RestorationReport(outcome: .restored, reason: loaded.reason, source: loaded.plan.source)
    report.remarks = loaded.remarks
    let phaseIfRefused = loaded.isOnRequest ? phaseBefore : nil
    if let refusal = refusal(of: loaded, report: report) { return await refuse(loaded, refusal, phaseIfRefused) }
    do {
      attempt?.end()
      attempt = nil
      attempt = try await worker.run { _ in try loaded.subject.begin() }
    } catch {
      report.remarks.append(.markerIgnored("no marker could be made: \(error)"))
    }
    phase = .restoring
    let clock = ContinuousClock()
    let start = clock.now
    let run = RestorationRun(
      plan: loaded.plan, registry: registry, delegate: delegate, log: log, now: configuration.now(),
      note: { [weak self] in self?.note(node: $0) })
    run.touched = touched
    // What has come to the hierarchy since the state was preserved leaves it, if this run has saved the state.
    let goesBack = phaseBefore == .ready && savedRoot === root && hasSaved(loaded)
    run.decodesInReverse = configuration.decodesInReverse
    run.retries = { [weak self] path in
      guard let self else { return false }
      return retriesLeftOut || recovery?.coordinator(self, shouldRetryNodeAt: path) == true
    }
    if !retriesLeftOut {
      if case .leaveOut(let node) = loaded.crash { run.culprits.insert(NodeID(rawValue: node)) }
      if !run.culprits.isEmpty {
        run.leftOut = Set(loaded.plan.nodes.indices.filter { run.culprits.contains(loaded.plan.nodes[$0].id) })
      }
    }
    let application = run.applicationSource()
    if case .stored = application, let damage = run.plan.applicationDamage {
      report.remarks.append(.applicationStateFailed(damage))
    }
    // Until everything is decoded there is nothing to give to whoever turns up.
    let before = restored
    restored = nil
    arrivals = []
    run.noteApplication(application)
    guard mayRestore(run.record(of: application), loaded.plan.context) else {
      restored = before
      arrivals = []
      report.outcome = .declined
      if delegate == nil { report.remarks.append(.noDelegate) }
      finishAttempt()
      return await refuse(loaded, report, phaseIfRefused)
    }
    log.log(.debug, "restoring generation \(loaded.plan.source?.generation ?? 0)")
    run.makeObjects(root: root)
    if goesBack { run.removeNewcomers() }
    run.installChildren()
    run.decode()
    restored = run
    giveArrivalsState()
    run.noteApplication(application)
    let takenBack = decodeApplicationState(run, application, &report)
    run.finish()
    run.noteEnd()
    report.nodes = run.reports()
    report.mainActorDuration = clock.now - start
    await settle(run, loaded: loaded, application: application, takenBack: takenBack)
    run.letGo()
    let unheld = run.leaveUnheld()
    if !unheld.isEmpty {
      tree.disclaim(unheld)
      report.nodes = run.reports()
    }
    restoredSubject = loaded.subject
    if extensions.count == 0 { restAttempt() } else { startExtensionLimit() }
    return report
  }

  /// Whether this run has saved the state as it is: nobody else has saved anything since.
  private func hasSaved(_ loaded: LoadedState) -> Bool {
    !loaded.isJoined && loaded.setAside == nil && savedStamps[loaded.state.generation] == loaded.state.frames.count
  }

  /// Age and versions of the whole, before anybody is asked.
  private func refusal(of loaded: LoadedState, report: RestorationReport) -> RestorationReport? {
    var report = report
    let context = loaded.plan.context
    if context.schemaVersion > configuration.schemaVersion {
      report.outcome = .newerVersion
      return report
    }
    if let limit = configuration.maximumAge,
      Freshness.expiry(of: context.timeSaved, limit: limit, now: configuration.now()) != nil
    {
      report.outcome = .expired
      return report
    }
    return nil
  }

  /// Restores nothing; what is on disk is set aside by the next save, or goes on as before when it was asked for.
  private func refuse(
    _ loaded: LoadedState, _ report: RestorationReport, _ phaseIfRefused: Phase?
  ) async -> RestorationReport {
    if let phaseIfRefused {
      phase = phaseIfRefused
      await guardRestored()
      return report
    }
    await refuseStored(older: loaded.isPredecessor)
    return report
  }

  /// Begins anew: what is on disk is set aside by the next save.
  ///
  /// - Parameter older: Whether the generation before the newest was refused, too.
  func refuseStored(older: Bool = false) async {
    let context = configuration.context
    tree.reset()
    restored = nil
    keptApplication = nil
    await worker.run { $0.begin(.empty, replacing: .refused(withOlder: older), context: context) }
    finishAttempt()
    phase = .ready
  }

  private func mayRestore(_ application: any StateRecord, _ context: RestorationContext) -> Bool {
    guard let delegate else { return false }
    let decoder = RestorationDecoder(record: application, path: [], context: context)
    defer { decoder.finish() }
    return delegate.shouldRestoreApplicationState(with: decoder)
  }

  /// Lets the delegate read the app-level state; nothing is in it when restoring died there before.
  ///
  /// What it could not read stays until it has something newer.
  ///
  /// - Returns: The kept state that it took back.
  private func decodeApplicationState(
    _ run: RestorationRun, _ source: RestorationRun.ApplicationSource, _ report: inout RestorationReport
  ) -> NodeID? {
    let decoder = RestorationDecoder(
      record: run.record(of: source), path: [], context: run.plan.context, resolve: { run.resolve($0) })
    defer { decoder.finish() }
    let former = keptApplication
    keptApplication = nil
    var isRead = true
    if case .leftOut = source {
      isRead = false
      report.remarks.append(.applicationStateFailed("left out, because restoring died there"))
    } else if case .stored = source, run.plan.applicationDamage != nil {
      isRead = false
    }
    run.missesTarget = false
    do throws(RestorationError) {
      try delegate?.didDecodeRestorableState(with: decoder)
    } catch {
      // What is left out or damaged is not there for the delegate, which has been said.
      if isRead { report.remarks.append(.applicationStateFailed(error.description)) }
      isRead = false
    }
    guard isRead else {
      if run.plan.hasApplicationState { keepStoredApplicationState(refusedBefore: former) }
      return nil
    }
    hasApplicationState = true
    guard case .kept(let kept) = source else {
      if run.missesTarget { keepStoredReferencesOfApplication() }
      return nil
    }
    // What is stored is newer, and makes room in its turn.
    keptApplication = .init(fingerprintWhenRefused: [])
    return kept.id
  }

  /// Hands the state to the worker as what the next save continues, and tells the tree what came from where.
  private func settle(
    _ run: RestorationRun, loaded: LoadedState, application: RestorationRun.ApplicationSource, takenBack: NodeID?
  ) async {
    tree.reset()
    run.claim(in: tree)
    run.noteTaking(after: tree.captureNumber)
    let dropped = run.droppedNodes + [takenBack].compactMap(\.self)
    var leftOut = run.leftOutNodes
    if case .leftOut = application, !loaded.plan.isApplicationLeftOut {
      leftOut += [loaded.plan.applicationNode].compactMap(\.self)
    }
    let newlyLeftOut = leftOut
    let reinstatements = run.reinstatements
    let retried = run.retriedNodes
    let context = configuration.context
    await worker.run { lineage in
      // What was saved while locked is in the reader; the next whole generation takes its place.
      lineage.merging = loaded.pending
      do {
        let isOnDisk = loaded.isNewest && !loaded.isJoined
        try lineage.continueArchive(loaded.reader, of: isOnDisk ? loaded.state.generation : nil)
        lineage.owesJoined = loaded.isJoined
        lineage.owedFindings = loaded.keptRemovals
        if !loaded.isNewest {
          lineage.replacing = .init(
            isOther: true, reclaimed: loaded.setAside)
        }
        try lineage.drop(dropped)
        try lineage.mark(retried, leftOut: false)
        for (kept, node) in reinstatements { try lineage.reinstate(kept, over: node) }
        if !newlyLeftOut.isEmpty || loaded.keepsCulprit {
          // Durable before the marker rests: the next launch must not try the culprit again.
          try lineage.mark(newlyLeftOut, leftOut: true)
          if loaded.isOnRequest {
            // A look replaces nothing.
            return
          }
          // A stand-in replaces nothing either, before a save does.
          if loaded.isPredecessor { return }
          // If the disk can't take it now, it is owed by the next save, like everything else; that one's receipt tells what it
          // cost.
          let written = try? lineage.write(context: context, isCapture: false)
          lineage.owedFindings += written?.findings ?? []
        }
      } catch {
        lineage.begin(
          .empty, replacing: .refused(withOlder: loaded.isPredecessor), context: context)
      }
    }
  }

  /// Notes which node's code runs; once restoring is over, nothing is put down to it between two nodes.
  private func note(node: UInt32) {
    if node == .max, phase != .restoring, !isRestorationExtended {
      attempt?.end()
    } else {
      attempt?.note(node: node == .max ? nil : node)
    }
  }

  /// Has restoring be over: who turns up from now on notes its own node.
  func restAttempt() { attempt?.end() }

  /// Has nothing be put down to what was restored any more.
  func finishAttempt() {
    attempt?.end()
    attempt = nil
  }
}
