import Foundation
import StateRestoration
import Testing

// snippet: Testing
final class SearchController: RestorableController {
  let restorationIdentifier: RestorationIdentifier? = "search"
  @Restored("query") var query = ""
}

@MainActor struct SearchRestorationTests {
  final class Delegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  @Test func `the query comes back`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let device = try await ProtectedDevice.open(at: .directory(folder.path))
    let delegate = Delegate()

    let before = SearchController()
    before.query = "swift"
    _ = try await RestorationCoordinator(device: device, delegate: delegate).preserve(before)

    let after = SearchController()
    let report = try await RestorationCoordinator(device: device, delegate: delegate).restore(into: after)
    #expect(after.query == "swift", "\(report)")
  }
}
// snippet end
