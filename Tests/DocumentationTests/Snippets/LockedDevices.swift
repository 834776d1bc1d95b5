import StateRestoration

struct LockedDevicesSnippets {
  // snippet: Locked
  @MainActor func launch(
    _ window: WindowController, with restorer: RestorationCoordinator, on device: ProtectedDevice, passcode: String
  ) async throws {
    let report = try await restorer.restore(into: window)
    guard report.outcome == .locked else { return }
    // Nothing was restored, nothing on disk was touched. The user may begin to work.
    try await device.unlock(passcode: Passcode(passcode))
    // The coordinator now restores what the user has not touched meanwhile, and tells its delegate.
  }
  // snippet end

  // snippet: Late
  final class AppDelegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> LateRestoration {
      .restoreUntouched
    }

    func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
      print("Your notes are back: \(report.restoredCount) of \(report.nodes.count).")
    }
  }
  // snippet end
}
