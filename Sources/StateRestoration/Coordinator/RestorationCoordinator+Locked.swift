internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension RestorationCoordinator {
  /// Watches from now on what the user touches, so that late restoring does not overwrite it.
  func deferUntilUnlock(context: RestorationContext) async {
    phase = .deferred
    touchedKeys = []
    guard let root else { return }
    var baseline = capture(root, scope: .all, context: context)
    baseline.records = []
    let batch = baseline
    await worker.run { lineage in
      lineage.begin(.locked, context: context)
      _ = try? lineage.apply(batch)
    }
  }

  /// Restores late, or takes over what was saved while locked; called after the unlock.
  package func protectedDataDidBecomeAvailable() async {
    if phase == .deferred, let root {
      if let recovery, recovery.coordinatorCanRestoreLate(self) == .wait { return }
      touchedKeys.formUnion(changes.peek())
      let report = await restore(into: root, from: .newest, retriesLeftOut: false, isLate: true)
      touchedKeys = []
      recovery?.coordinator(self, didRestoreLate: report)
    } else if hasPendingSave {
      hasPendingSave = false
      log.log(.debug, "promoting what was saved while locked")
      await worker.run { lineage in
        lineage.merging = try? lineage.store.openPending()
        lineage.requireWhole()
      }
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
