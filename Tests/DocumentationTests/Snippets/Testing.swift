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

private final class ItemScreen: RestorableController {
  let restorationIdentifier: RestorationIdentifier?
  let restorationClass: RestorationClass? = "item"
  @Restored("draft") var draft = ""

  init(_ item: RestorationIdentifier) { restorationIdentifier = item }
}

// snippet: TestingRegistering
@MainActor struct StackTests {
  @Test func `a pushed screen comes back with its draft`() async {
    let stack = RestorationSubject {
      NavigationController(restorationIdentifier: "stack")
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

@MainActor private final class WindowsProgram: RestorationCoordinatorDelegate {
  var texts: [SceneSession.ID: StoredValue<String>] = [:]

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func makeText(_ name: SceneSession.ID) -> StoredValue<String> {
    let text = StoredValue("text", "")
    texts[name] = text
    return text
  }
}

// snippet: TestingWindows
@MainActor struct TwoWindowsTests {
  @Test func `both windows come back`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "windows-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let (program, scenes) = try await launch(in: folder)
      for name: SceneSession.ID in ["first", "second"] {
        try await scenes.open(name).restore(into: program.makeText(name))
        program.texts[name]?.value = "text of \(name.rawValue)"
      }
      try await scenes.preserveAll()
      #expect(program.texts.count == 2)  // the program lives until here
    }
    let (program, scenes) = try await launch(in: folder)
    _ = try await scenes.restoreOpenScenes { program.makeText($0.id) }
    #expect(program.texts["first"]?.value == "text of first")
    #expect(program.texts["second"]?.value == "text of second")
  }

  private func launch(in folder: URL) async throws -> (WindowsProgram, SceneSessions) {
    let program = WindowsProgram()
    let device = try await ProtectedDevice.open(at: .directory(folder.path))
    let scenes = try SceneSessions(device: device, delegate: program)
    try await scenes.load()
    return (program, scenes)
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

// snippet: TestingRenaming
@MainActor struct FirstVersionTests {
  // In version 1.0 the property was `query`; it is @Restored("words", formerly: "query") now.
  @Test func `version 1.0 is still restored`() async {
    await assertGoldenArchive(
      at: firstVersion, of: RestorationSubject { RenamedController() },
      expecting: { #expect($0.words == "the first version") })
  }
}
// snippet end

private final class RenamedController: RestorableController {
  let restorationIdentifier: RestorationIdentifier? = "search"
  @Restored("words", formerly: "query") var words = ""
}

private let firstVersion = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "Fixtures/Goldens/quick-start-1.json")
