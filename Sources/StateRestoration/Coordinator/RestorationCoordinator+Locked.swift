internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension RestorationCoordinator {
  /// Watches from now on what the user touches, so that late restoring does not overwrite it.
  func deferUntilUnlock(context: RestorationContext) async {
    phase = .deferred
    touchedKeys = []
    guard let root else { return }
    var batch = capture(root, scope: .all, context: context)
    batch.application = encodeApplicationState(context: context, resolving: &batch)
    let captured = batch
    await worker.run { $0.beginLocked(with: captured, context: context) }
  }

  /// Looks at what has turned up since a locked launch, before the user can touch it; at the end of this turn.
  func sightNewcomers(_ scope: CaptureTree.Scope) {
    guard !isSightingDue else { return }
    isSightingDue = true
    Task { [weak self] in
      guard let self else { return }
      isSightingDue = false
      if occupation == .discarding { await waitUntilFree() }
      guard phase == .deferred, let root else { return }
      let batch = capture(root, scope: scope, context: configuration.context)
      guard !batch.isEmpty else { return }
      await worker.run { lineage in
        if scope == .all { lineage.sighting.settle(batch) }
        lineage.sight(batch)
      }
    }
  }

  /// Looks once more at everything before late restoring; the worker then knows what was touched.
  ///
  /// - Returns: What only this run holds, and whether the app-level state was touched; nil when that is nothing.
  func sightTouched() async -> (state: LiveState, hasApplication: Bool)? {
    guard let root else { return nil }
    let context = configuration.context
    var batch = capture(root, scope: .all, context: context)
    batch.application = encodeApplicationState(context: context, resolving: &batch)
    let captured = batch
    let (state, sighting) = await worker.run { lineage in (lineage.liveState(in: captured), lineage.sighting) }
    touchedKeys = sighting.touched
    return state.map { ($0, $0.includesOwn && sighting.isApplicationTouched) }
  }

  /// Notes that the program is suspended: an unlock has to wait until it is woken.
  package func suspend() { isSuspended = true }

  /// Notes that the program runs again, and does what an unlock meanwhile has left to do.
  package func wake() {
    isSuspended = false
    guard missedUnlock else { return }
    missedUnlock = false
    Task { await followUnlock() }
  }

  /// Restores late, or takes over what was saved while locked; called after the unlock.
  package func protectedDataDidBecomeAvailable() async {
    unlockCount += 1
    await followUnlock()
  }

  /// Does what an unlock has left to do; once it is counted.
  func followUnlock() async {
    if isSuspended {
      missedUnlock = true
      return
    }
    if occupation == .discarding { await waitUntilFree() }
    // Who restores looks for an unlock meanwhile by itself.
    guard occupation == nil else { return }
    if phase == .deferred, let root {
      if let recovery, recovery.coordinatorCanRestoreLate(self) == .wait { return }
      let report = await restoreNow(into: root, from: .newest, retriesLeftOut: false)
      recovery?.coordinator(self, didRestoreLate: report)
    } else if hasPendingSave, phase == .ready || phase == .idle {
      hasPendingSave = false
      log.log(.debug, "promoting what was saved while locked")
      let context = configuration.context
      let isBegunAnew = await worker.run { lineage in
        lineage.lookAgain(context: context)
        return lineage.base == .unknown
      }
      if isBegunAnew { tree.reset() }
      automatic.isDue = false
      do throws(RestorationError) {
        let outcome = try await preserve(scope: .noticed)
        recovery?.coordinator(self, didPreserve: outcome)
      } catch {
        hasPendingSave = true
        recovery?.coordinator(self, didFailToPreserve: error)
      }
    }
  }
}
