import DataProtection
import FaultyFileSystem
import FoundationEssentials
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// Closed scenes are kept for a while: the last few, and none for ever.
@MainActor @Suite(.tags(.threads)) struct RecentlyClosedTests {
  typealias Stores = SceneSessionsTests.Stores

  /// Opens a scene, saves a text in it and closes it.
  private func openAndClose(_ id: RestoredWindow.ID, _ scenes: SceneSessions, title: String = "") async throws {
    let window = Screen("window", text: id.rawValue)
    _ = try await scenes.open(id).preserve(window)
    try await scenes.close(id, title: title)
  }

  /// The text that a scene has when it is opened.
  private func text(of id: RestoredWindow.ID, in scenes: SceneSessions) async throws -> String {
    let window = Screen("window")
    _ = try await scenes.open(id).restore(into: window)
    return window.text
  }

  private func hasState(_ id: RestoredWindow.ID, _ stores: Stores) -> Bool {
    stores.scenes[id]?.state.withLock { $0.generations.isEmpty } == false
  }

  @Test(arguments: [false, true])
  func `the scenes that were closed last are known by title, the very last first`(clockIsSetBack: Bool) async throws {
    let stores = Stores()
    stores.limit = 3
    let scenes = stores.launch()
    _ = try await scenes.open("open")
    for number in 1...5 {
      stores.time += clockIsSetBack ? -1 : 1
      try await openAndClose("\(number)", scenes, title: "Title \(number)")
    }
    let again = stores.launch()
    try await again.load()
    for scenes in [scenes, again] {
      #expect(scenes.recentlyClosed.map(\.id) == ["5", "4", "3"])
      #expect(scenes.recentlyClosed.map(\.title) == ["Title 5", "Title 4", "Title 3"])
      #expect(Set(scenes.sessions.map(\.id)) == ["open", "5", "4", "3"])
    }
    #expect(try await text(of: "4", in: again) == "4")
    #expect(again.recentlyClosed.map(\.id) == ["5", "3"])
    // It keeps its title until it is given another one.
    try await again.close("4")
    #expect(again.recentlyClosed.map(\.title) == ["Title 4", "Title 5", "Title 3"])
    // The others are gone.
    #expect(!hasState("1", stores) && !hasState("2", stores) && hasState("3", stores))
    #expect(try await text(of: "1", in: again) == "")
  }

  @Test func `a scene that was closed long ago is gone after a launch`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    _ = try await scenes.open("open").preserve(Screen("window"))
    try await openAndClose("old", scenes)
    stores.time += 600
    try await openAndClose("new", scenes)
    stores.time += 600
    #expect(scenes.recentlyClosed.map(\.id) == ["new"])
    let again = stores.launch()
    try await again.load()
    try await again.restoreOpenScenes { _ in Screen("window") }
    #expect(Set(again.sessions.map(\.id)) == ["open", "new"])
    #expect(try await Set(stores.launch().load().map(\.id)) == ["open", "new"])
    #expect(!hasState("old", stores) && hasState("new", stores) && hasState("open", stores))
  }

  @Test func `without limits everything is kept, and with none of it nothing is`() async throws {
    let stores = Stores()
    (stores.limit, stores.age) = (.max, nil)
    for number in 1...30 { try await openAndClose("\(number)", stores.launch()) }
    stores.time += 1e12
    #expect(try await stores.launch().load().count == 30)
    stores.limit = 0
    let scenes = stores.launch()
    try await openAndClose("last", scenes)
    #expect(scenes.sessions.isEmpty && scenes.recentlyClosed.isEmpty)
    #expect(!stores.scenes.keys.contains { hasState($0, stores) })
  }

  @Test func `opening and closing cost the same whatever their number`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    /// What one opening and closing does to the list and to all archives.
    func cost(_ number: Int) async throws -> (calls: [String], bytes: Int) {
      stores.time += 1
      let kept = stores.scenes.values.map { $0.takeCalls() }
      withExtendedLifetime(kept) {}
      _ = stores.list.takeCalls()
      try await openAndClose("\(1000 + number)", scenes, title: "a title")
      let calls = stores.list.takeCalls() + stores.scenes.values.flatMap { $0.takeCalls() }.sorted()
      return (calls, stores.list.state.withLock { $0.generations.last?.base.count ?? 0 })
    }
    var costs: [(calls: [String], bytes: Int)] = []
    for number in 0..<300 { costs.append(try await cost(number)) }
    #expect(costs[299].calls == costs[40].calls)
    #expect(abs(costs[299].bytes - costs[40].bytes) < 64)
    #expect(scenes.sessions.count == 20)
    #expect(stores.scenes.keys.count { hasState($0, stores) } == 20)
  }

  @Test func `on a device nothing is left of the closed windows that are kept no longer`() async throws {
    let device = try await SimulatedDevice()
    let process = try await device.startProcess()
    let answers = YesDelegate()
    let scenes = try SceneSessions(device: process.device, delegate: answers)
    func slots() throws -> Int {
      try #require(device.memory).names(atPath: "/device/archives").count
    }
    for number in 0..<25 { try await openAndClose("\(number)", scenes) }
    let before = try slots()
    for number in 100..<125 { try await openAndClose("\(number)", scenes) }
    #expect(try slots() == before)
  }

  @Test func `a scene that another process has opened again meanwhile stays`() async throws {
    let stores = Stores()
    stores.limit = 1
    let (one, other) = (stores.launch(), stores.launch())
    try await openAndClose("a", one)
    try await other.load()
    let window = Screen("window")
    let coordinator = try await other.open("a")
    _ = try await coordinator.restore(into: window)
    stores.time += 1
    for id in ["b", "c"] as [RestoredWindow.ID] { try await openAndClose(id, one) }
    #expect(hasState("a", stores) && one.sessions.first { $0.id == "a" }?.isOpen == true)
    #expect(one.recentlyClosed.map(\.id) == ["c"])
    withExtendedLifetime(coordinator) {}
  }

  @Test func `a closed scene that can't be deleted now goes with a later one`() async throws {
    let stores = Stores()
    stores.limit = 1
    let scenes = stores.launch()
    try await openAndClose("a", scenes)
    let store = try #require(stores.scenes["a"])
    store.state.withLock { $0.failures = ["deleteAll": .io] }
    try await openAndClose("b", scenes)
    #expect(scenes.recentlyClosed.map(\.id) == ["b"])
    #expect(hasState("a", stores) && scenes.sessions.count == 2)
    store.state.withLock { $0.failures = [:] }
    try await openAndClose("c", scenes)
    #expect(!hasState("a", stores) && !hasState("b", stores) && scenes.sessions.count == 1)
  }

  @Test func `while locked nothing that was closed is deleted`() async throws {
    let stores = Stores()
    stores.limit = 1
    let scenes = stores.launch()
    try await openAndClose("a", scenes)
    let coordinator = try await scenes.open("b")
    stores.list.lock(true)
    try await scenes.close("b")
    #expect(hasState("a", stores))
    stores.list.lock(false)
    try await openAndClose("c", scenes)
    #expect(scenes.sessions.map(\.id) == ["c"])
    withExtendedLifetime(coordinator) {}
  }
}
