import Observation
import StateRestoration

struct LockedDevicesSnippets {
  // snippet: Merging
  @Observable final class PageController: MergingController {
    let restorationIdentifier: RestorationIdentifier? = "page"
    var restorableState = ""

    func merged(stored: String, pending: String) -> String { stored + "\n" + pending }
  }
  // snippet end

  // snippet: LockScreen
  @MainActor func lockScreen(of session: RestorationSession) async throws {
    while session.report.outcome == .locked {
      print("Passcode: ", terminator: "")
      guard let text = await Task.detached(operation: { readLine() }).value else { return }
      do {
        let report = try await session.unlock(passcode: text)
        print(report)  // what came back
      } catch {
        guard error.code == .wrongPasscode || error.code == .passcodeDelayed else { throw error }
        print("Wrong. The next one is checked after a while.")
      }
    }
  }
  // snippet end

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
