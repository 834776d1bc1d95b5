import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

// snippet: Testing
final class SearchController: RestorableController {
  let restorationIdentifier: RestorationIdentifier? = "search"
  @Restored("query") var query = ""
}

@MainActor struct SearchRestorationTests {
  let search = RestorationSubject { SearchController() }

  @Test func `the query comes back`() async {
    await assertRestores(search) { $0.query = "swift" }
  }

  @Test func `a save can be killed at every step`() async {
    await assertRestoresAtEveryKillPoint(search) {
      $0.query = "old"
    } to: {
      $0.query = "new"
    }
  }
}
// snippet end

// snippet: TestingLocked
@MainActor struct LockedLaunchTests {
  @Test func `a locked launch shows nothing and loses nothing`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = RestorationHarness<HierarchyApplication<SearchController>>(on: device)
    try await harness.launch { HierarchyApplication(SearchController()) }.root.query = "swift"
    try await harness.enterBackground()

    try await device.lock()
    let locked = try await harness.relaunch()
    #expect(harness.report?.outcome == .locked)
    #expect(locked.root.query == "")

    try await device.unlock()
    #expect(try await harness.relaunch().root.query == "swift")
  }
}
// snippet end

/// Archives that are kept; in a program's own tests, its own.
private let archives = URL(filePath: #filePath).deletingLastPathComponent()
  .appending(path: "../../Fixtures/Archives/released").standardizedFileURL.resolvingSymlinksInPath()

private final class EditorController: StatefulController {
  let restorationIdentifier: RestorationIdentifier? = "editor"
  var restorableState = ""
}

// snippet: TestingArchives
@MainActor struct OldArchiveTests {
  @Test func `every released version can still be read`() throws {
    let registry = RestorationRegistry()
    registry.register(EditorController.self, as: "editor")
    for check in try RestorationCoordinator.check(archives: archives, registry: registry, schemaVersion: 3) {
      #expect(check.isSound, "\(check)")
    }
  }
}
// snippet end
