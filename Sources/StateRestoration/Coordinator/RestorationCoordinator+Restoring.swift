internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension RestorationCoordinator {
  /// Finds out what is there, before any user interface: ``reason`` is right afterwards.
  ///
  /// Loads off the main actor; a restoration that follows uses what was loaded. Of what is on disk only what
  /// was saved while the device was locked may change its place.
  @discardableResult
  public func prepare() async -> RestorationReason {
    guard prepared == nil, phase == .idle, occupation == nil else { return reason }
    phase = .loading
    occupation = .restoring
    let result = await load(live: nil)
    prepared = result
    phase = .idle
    switch result {
    case .success(let loaded): reason = loaded.reason
    case .failure(let failure): reason = failure.reason
    }
    setFree()
    return reason
  }

  /// Gives a hierarchy its preserved state back, and makes what is missing of it.
  ///
  /// Suspends to load, to have the disk know that restoring begins before any code of the program runs, and to hand the state
  /// on afterwards. In between, the delegate's question, factories, installing, decoding, the app-level decode and the
  /// finished hooks run in one turn of the main actor, in this order. Can be called again with a running hierarchy:
  /// objects that exist take back the state that was preserved, and what has come to their containers since leaves them, if
  /// this run has saved that state of this hierarchy, or was told by ``preserve(_:)`` that nothing has changed
  /// (``RestorationContainer/removeChildren(_:)``). While the device is locked nothing is restored and
  /// nothing on disk is touched; the report's outcome is then ``RestorationOutcome/locked``.
  ///
  /// - Parameters:
  ///   - root: The controller at the top of the hierarchy.
  ///   - source: Which of the stored states to restore.
  ///   - retriesLeftOut: Whether nodes that were left out after a crash are tried again.
  /// - Throws: ``RestorationError`` when a restoration is running already, and when another state than the newest is asked
  ///   for and what was changed while locked can't be saved before; nothing is restored then. What a file holds never
  ///   throws: the report tells.
  @discardableResult
  public func restore(
    into root: any RestorableController, from source: RestorationSource = .newest, retriesLeftOut: Bool = false
  ) async throws(RestorationError) -> RestorationReport {
    try await waitForDiscard()
    if source != .newest {
      try await saveJoined()
      try await waitForDiscard()
    }
    return await restoreNow(into: root, from: source, retriesLeftOut: retriesLeftOut)
  }

  /// Restores; late, if the device was locked at launch: then what was touched since keeps its newer state.
  func restoreNow(
    into root: any RestorableController, from source: RestorationSource, retriesLeftOut: Bool
  ) async -> RestorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    let before = phase
    let isLate = before == .deferred
    let isSameRoot = self.root === root
    let unlocks = unlockCount
    phase = .loading
    occupation = .restoring
    // What was captured while locked and not touched is no user's.
    if before == .ready { tree.rememberAcquaintances(below: isSameRoot ? root : nil) }
    let live = isLate ? await sightTouched() : nil
    // By object: what the ladder makes anew, or another hierarchy has, gets what was touched like any preserved state.
    var touched: [RestorationPath: LiveObjects.Living] = [:]
    for node in touchedKeys.compactMap({ tree.nodes[$0] }) { touched[node.path] = .init(object: node.object) }
    self.root = root
    let result = await decide(source: source, live: live?.state)
    let continues = before == .ready && isSameRoot ? await worker.run { $0.hasRead } : false
    var report: RestorationReport
    var changesNothing = false
    switch result {
    // What the hierarchy has is newer than what can't be read now, and is saved as a whole, as before.
    case .failure(let failure) where failure.changesNothing || (failure.outcome == .locked && continues):
      changesNothing = true
      phase = before
      report = RestorationReport(failure)
    case .failure(let failure) where failure.isPassing && isLate && isSameRoot:
      phase = .deferred
      report = RestorationReport(failure)
    case .failure(let failure): report = await nothingRestored(failure)
    case .success(let loaded):
      report = await restore(
        loaded, into: root, touched: touched, retriesLeftOut: retriesLeftOut, phaseBefore: before)
      if live?.hasApplication == true { report.remarks.append(.applicationStateTouched) }
    }
    if phase != .deferred, !changesNothing {
      // The objects have what they were given while locked, whatever else was restored.
      if live?.state.includesOwn == true { await worker.run { $0.replacing.sortsPending = $0.replacing.isOther } }
      touchedKeys = []
      hasPendingSave = false
    }
    report.duration = clock.now - start
    lastReport = report
    reason = report.reason
    if phase == .loading || phase == .restoring { phase = .ready }
    log.log(report.outcome == .restored ? .info : .warning, report.summary)
    setFree()
    // Whatever became of the stored state: from now on changes are noticed.
    if phase == .ready, report.outcome != .unavailable {
      armAutomaticPreservation()
    } else if !changes.isEmpty {
      // A change while the state was loaded was not followed, and the next one would not be told.
      changesWereNoticed()
    }
    // The unlock came while the locked state was looked at: nobody will say it again.
    if unlockCount != unlocks, phase == .deferred || hasPendingSave {
      Task { [weak self] in await self?.followUnlock() }
    }
    // The marker rests on the disk too: power cuts after this are not restoring's.
    await worker.run { _ in }
    // What the program makes now, in the same turn, is no edit of the user's.
    if phase == .deferred { sightNewcomers(.all) }
    return report
  }

  /// Settles what a later save may replace, after nothing could be restored.
  private func nothingRestored(_ failure: LoadFailure) async -> RestorationReport {
    let context = configuration.context
    tree.reset()
    restored = nil
    restoredSubject = nil
    keptApplication = nil
    switch failure.outcome {
    case .locked: await deferUntilUnlock(context: context)
    case .unavailable:
      await worker.run { $0.begin(.unknown, context: context) }
      phase = .ready
    default:
      let isNothing = failure.outcome == .nothingPreserved
      let replacing = isNothing ? .nothing : Lineage.Replacing.refused(withOlder: failure.refusesOlder)
      await worker.run { $0.begin(.empty, replacing: replacing, context: context) }
      phase = .ready
    }
    return RestorationReport(failure)
  }

  /// Returns when nothing is restored or deleted.
  func waitUntilFree() async {
    while occupation != nil { await withCheckedContinuation { waiting.append($0) } }
  }

  /// Ends the occupation, and has go on what waits for that.
  func setFree() {
    occupation = nil
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
    startFoldedSave()
  }
}
