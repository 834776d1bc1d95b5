internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

extension RestorationCoordinator {
  /// Looks at the stored state, before any user interface: ``reason`` is right afterwards.
  ///
  /// Loads off the main actor; a restoration that follows uses the loaded state. Nothing on disk changes.
  @discardableResult
  public func prepare() async -> RestorationReport.Reason {
    guard prepared == nil, standing == .new, operations.beginNow(.loading) else { return reason }
    defer { operations.end() }
    let result = await load(edits: nil)
    prepared = result
    switch result {
    case .success(let loaded): reason = loaded.reason
    case .failure(let failure): reason = failure.reason
    }
    return reason
  }

  /// Gives a hierarchy its preserved state back, and makes the missing objects.
  ///
  /// Suspends to load and to mark that restoring begins. Then the delegate's question, factories, installing, decoding,
  /// the app-level decode and the finished hooks run in one turn of the main actor, in this order. While the device is
  /// locked nothing is restored and nothing on disk is touched; the report's outcome is
  /// ``RestorationReport/Outcome/locked``. Where only some classes of protection have no key, everything else is
  /// restored, and the rest after the unlock, into the same objects: the outcome is
  /// ``RestorationReport/Outcome/partlyRestored``.
  ///
  /// Can be called again with a running hierarchy. What there is now is saved first; if another state is restored, it is the
  /// generation before. Objects that exist take back the state that is restored. Containers that had
  /// children are given those of then. What came since stays where its container keeps it: a container that had no children
  /// then keeps those of now, new tabs stay behind the restored ones, and a dialog that was presented since stays. Remove what
  /// must not stay before the call.
  ///
  /// - Parameters:
  ///   - root: The controller at the top of the hierarchy.
  ///   - source: Which of the stored states to restore.
  ///   - retriesLeftOut: Whether nodes that were left out after a crash are tried again.
  /// - Throws: ``RestorationError`` when a restoration is running already, and when another state than the newest is asked
  ///   for and the changes made while locked can't be saved before; nothing is restored then. Nothing that a file holds
  ///   throws: the report tells.
  @discardableResult
  public func restore(
    into root: any RestorableController, from source: RestorationCoordinator.Source = .newest,
    retriesLeftOut: Bool = false
  ) async throws(RestorationError) -> RestorationReport {
    guard !operations.isPlanned(.restoring, .loading) else {
      throw RestorationError(
        .restorationInProgress, "A restoration is running already; wait for it before you start another.")
    }
    try await saveBefore()
    let report = await operations.run(.restoring) {
      await performRestoration(into: root, from: source, retriesLeftOut: retriesLeftOut)
    }
    noticeChanges(after: report)
    return report
  }

  /// Notices changes from now on, whatever became of the stored state.
  func noticeChanges(after report: RestorationReport) {
    if standing == .live, report.outcome != .unavailable {
      armAutomaticPreservation()
    } else if !changes.isEmpty {
      // A change while the state was loaded was not followed, and the next one would not be told.
      changesWereNoticed()
    }
  }

  /// Restores; after a locked launch, objects that were edited since keep theirs.
  func performRestoration(
    into root: any RestorableController, from source: RestorationCoordinator.Source, retriesLeftOut: Bool
  ) async -> RestorationReport {
    let clock = ContinuousClock()
    let start = clock.now
    let before = standing
    let isSameRoot = self.root === root
    let unlocks = unlock.count
    let edits = await takeEdits()
    self.root = root
    var report: RestorationReport
    switch await decide(source: source, edits: edits.archive) {
    case .success(let loaded):
      stopExtensionLimit()
      report = await restore(loaded, into: root, keeping: edits, isSameRoot, retriesLeftOut: retriesLeftOut)
      startExtensionLimit()
    case .failure(let failure):
      // The hierarchy is newer than a state that can't be read now, and is saved as a whole, as before.
      let continues =
        before == .live && isSameRoot && failure.isTransient ? await worker.run { $0.hasRead } : false
      if source != .newest || continues || (failure.isTransient && before == .locked && isSameRoot) {
        report = RestorationReport(failure)
      } else {
        report = await nothingRestored(failure)
      }
    }
    report.duration = clock.now - start
    lastReport = report
    reason = report.reason
    let isExpected = [.restored, .partlyRestored, .nothingPreserved, .locked].contains(report.outcome)
    log.log(isExpected ? .info : .warning, report.summary)
    // The unlock came while the locked state was looked at: nobody will say it again.
    if unlock.count != unlocks, waitsForUnlock {
      turns.perform { [weak self] in self?.beginFollowingUnlock() }
    }
    return report
  }

  /// Settles what a later save may replace, after nothing could be restored.
  private func nothingRestored(_ failure: LoadFailure) async -> RestorationReport {
    switch failure.outcome {
    case .locked:
      tree.reset()
      restored = nil
      await deferUntilUnlock()
      // What the program makes now, in the same turn, is no edit of the user's.
      lookAtNewcomers(.all)
    case .unavailable:
      await beginAnew(.unknown)
      joinScopes()
    default: await beginAnew(retiring: failure.retiring)
    }
    return RestorationReport(failure)
  }

  /// Goes on from nothing: the generations that are refused are set aside by the next save.
  func beginAnew(_ base: PreservationSession.Base = .empty, retiring: [Generation]? = []) async {
    let context = configuration.context
    tree.reset()
    restored = nil
    (standing, isPartlyLocked) = (.live, false)
    await worker.run { $0.begin(base, retiring: retiring, context: context) }
  }
}
