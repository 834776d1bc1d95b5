import Foundation
import Observation
import StateRestoration

struct LockedDevicesSnippets {
  // snippet: Merging
  @Observable final class Page: RestorableView, MergingObject {
    let restoration = RestorationIdentity("page", protection: .complete)
    var restorableState = ""

    func merged(stored: String, pending: String) -> String { stored + "\n" + pending }
  }
  // snippet end

  // snippet: AwaitLate
  @MainActor func unlock(_ device: ProtectedDevice, _ application: RestorableApplication) async throws {
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    if let report = await application.finishLateRestoration() { print(report) }
  }
  // snippet end

  // snippet: ManagedHandle
  @MainActor func openDiary(
    _ device: ProtectedDevice, _ application: RestorableApplication
  ) throws -> ProtectedFiles.Handle {
    let diary = try device.files(in: "diary")
    try diary.append(Data("Dear diary, ".utf8), to: "today")
    let handle = try diary.open("today")
    application.manage(handle)
    try handle.append(Data("hello.".utf8))
    try handle.write(Data("D".utf8), at: 0)
    return handle
  }
  // snippet end

  // snippet: Late
  final class AppDelegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> RestorationCoordinator.LateRestoration {
      .restoreUntouched
    }

    func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
      print("Your notes are back: \(report.restoredCount) of \(report.nodes.count).")
    }
  }
  // snippet end
}
