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
