import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

// snippet: Testing
final class SearchController: RestorableController {
  let restoration: RestorationIdentity = "search"
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

private final class ItemScreen: RestorableController {
  let restoration: RestorationIdentity
  @Restored("draft") var draft = ""

  init(_ item: RestorationIdentifier) { restoration = RestorationIdentity(item, class: "item") }
}

// snippet: TestingRegistering
@MainActor struct StackTests {
  @Test func `a pushed screen comes back with its draft`() async {
    let stack = RestorationSubject {
      NavigationController("stack")
    } registering: { coordinator in
      coordinator.registry.register(ItemScreen.self, as: "item") { path, _ in path.last.map(ItemScreen.init) }
    }
    await assertRestores(stack) {
      let screen = ItemScreen("milk")
      screen.draft = "two bottles"
      $0.push(screen)
    }
    await lintRestoration(of: stack) { $0.push(ItemScreen("milk")) }
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
    #expect(await harness.lateReport()?.outcome == .restored)
    #expect(locked.root.query == "swift")
  }
}
// snippet end

// snippet: TestingHarnessRegistering
@MainActor struct StackUpdateTests {
  @Test func `a pushed screen comes back in the next version`() async throws {
    let harness = RestorationHarness<HierarchyApplication<NavigationController>>(on: try await SimulatedDevice())
    let application = try await harness.launch {
      HierarchyApplication(NavigationController("stack")) { coordinator in
        coordinator.registry.register(ItemScreen.self, as: "item") { path, _ in path.last.map(ItemScreen.init) }
      }
    }
    application.root.push(ItemScreen("milk"))
    try await harness.enterBackground()
    #expect(try await harness.relaunchAfterUpdate(to: "2.0").root.top?.restoration.identifier == "milk")
  }
}
// snippet end

// snippet: TestingWindows
@MainActor struct TwoWindowsTests {
  @Test func `both windows come back`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "windows-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await run(in: folder) { windows in
      try await windows.open("first").value = "one"
      try await windows.open("second").value = "two"
    }
    try await run(in: folder) { windows in
      #expect(windows["first"]?.value == "one")
      #expect(windows["second"]?.value == "two")
    }
  }

  private func run(
    in folder: URL, _ body: @MainActor (RestoredWindows<StoredValue<String>>) async throws -> Void
  ) async throws {
    try await RestorationSession.run(
      at: .directory(folder.path), windows: { _ in StoredValue("text", "") }, answering: [], body)
  }
}
// snippet end

// snippet: TestingTime
@MainActor struct OldStateTests {
  @Test func `state that is a month old is not restored`() async throws {
    let device = try await SimulatedDevice()
    var configuration = RestorationConfiguration()
    configuration.maximumAge = .seconds(30 * 24 * 3600)
    let harness = RestorationHarness<HierarchyApplication<SearchController>>(on: device, configuration: configuration)
    try await harness.launch { HierarchyApplication(SearchController()) }.root.query = "swift"
    try await harness.enterBackground()
    harness.killWithoutNotice()

    await device.advance(by: .seconds(31 * 24 * 3600))
    #expect(try await harness.relaunch().root.query == "")
    #expect(harness.report?.outcome == .expired)
  }
}
// snippet end

// snippet: TestingGolden
@MainActor struct GoldenTests {
  @Test func `version 1.0 comes back`() async {
    let search = RestorationSubject { SearchController() }
    await assertGoldenArchive(at: firstVersion, of: search) { $0.query = "the first version" }
  }
}
// snippet end

/// The program of a later version.
enum LaterVersion {
  final class SearchController: RestorableController {
    let restoration: RestorationIdentity = "search"
    @Restored("words", formerly: "query") var words = ""
  }

  // snippet: TestingRenaming
  @MainActor struct FirstVersionTests {
    // In version 1.0 the property was `query`; it is @Restored("words", formerly: "query") now.
    @Test func `version 1.0 is still restored`() async {
      await assertGoldenArchive(
        at: firstVersion, of: RestorationSubject { SearchController() },
        expecting: { #expect($0.words == "the first version") })
    }
  }
  // snippet end
}

private let firstVersion = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "Fixtures/Goldens/quick-start-1.json")
