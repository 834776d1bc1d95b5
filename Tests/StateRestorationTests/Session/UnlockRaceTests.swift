import DataProtection
import Foundation
import Patience
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

/// What the program does between the unlock and the restoration that follows it.
@MainActor @Suite(.tags(.threads)) struct UnlockRaceTests {
  /// A list whose data is there at once.
  private func makeList() -> ListController { ListController("list") }

  @Test func `data that comes right after the unlock is no edit: the selection comes back`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let list = makeList()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: list)
    list.dataSourceDidLoad(elementCounts: [3])
    list.select([[0, 2]])
    try await session.close()
    device.reboot()

    for pause in 0..<40 {
      let again = makeList()
      let process = try await device.startProcess()
      let locked = try await RestorationSession.open(on: process.device, root: again)
      #expect(locked.report.outcome == .locked)
      try await device.unlock()
      for _ in 0..<pause { await Task.yield() }
      again.dataSourceDidLoad(elementCounts: [3])
      try await waitUntil("the restoration after \(pause) turns") {
        locked.coordinator.lastReport?.outcome == .restored
      }
      let report = locked.coordinator.lastReport
      #expect(again.selection == [[0, 2]], "after \(pause) turns: \(String(describing: report))")
      process.fileSystem.die()
      try await device.lock()
    }
  }
}
