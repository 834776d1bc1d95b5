import DataProtection
import FoundationEssentials
import Observation
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// Scenes: several at once, each with its archive, opened, closed and discarded independently.
@MainActor @Suite(.tags(.threads)) struct SceneSessionsTests {
  /// The stores of a program's scenes, which outlive its processes.
  @MainActor final class Stores {
    let list = MemoryStore()
    var scenes: [RestoredWindow.ID: MemoryStore] = [:]
    let delegate = YesDelegate()
    var time = Date(timeIntervalSinceReferenceDate: 0)
    /// How many closed scenes a process keeps, and for how long.
    var limit = 20
    var age: Duration? = .seconds(1000)

    func launch() -> SceneSessions {
      var configuration = RestorationConfiguration(application: "test")
      configuration.recentlyClosedLimit = limit
      configuration.recentlyClosedAge = age
      configuration.log = .silent
      configuration.now = { MainActor.assumeIsolated { self.time } }
      return SceneSessions(list: list, configuration: configuration) { id in
        let store = self.scenes[id] ?? MemoryStore()
        self.scenes[id] = store
        return RestorationCoordinator(store: store, delegate: self.delegate, configuration: configuration, window: id)
      }
    }
  }

  @Test func `every scene has an archive of its own`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    for id in ["left", "right"] as [RestoredWindow.ID] {
      _ = try await scenes.open(id).preserve(Screen("window", text: id.rawValue))
    }
    let again = stores.launch()
    try await again.load()
    for id in ["left", "right"] as [RestoredWindow.ID] {
      let window = Screen("window")
      _ = try await again.coordinator(for: id).restore(into: window)
      #expect(window.text == id.rawValue)
    }
  }

  @Test func `who shows the scenes is told when they change`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let changes = Mutex(0)
    func isTold(of change: () async throws -> Void) async throws -> Bool {
      let before = changes.withLock { $0 }
      _ = withObservationTracking {
        (scenes.frontmost, scenes.sessions)
      } onChange: {
        changes.withLock { $0 += 1 }
      }
      try await change()
      return changes.withLock { $0 } > before
    }
    #expect(try await isTold { _ = try await scenes.open("left") })
    #expect(try await isTold { _ = try await scenes.open("right") })
    #expect(try await isTold { try await scenes.close("right") })
    #expect(scenes.frontmost?.id == "left")
    #expect(try await isTold { try await scenes.discard("left") })
    #expect(try await !isTold { try await scenes.load() })
    // What another process does is seen when the list is read.
    _ = try await stores.launch().open("other")
    #expect(try await isTold { try await scenes.load() })
  }

  @Test func `a scene that is opened or activated after the clock was set back is the frontmost`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    stores.time += 1_000_000
    _ = try await scenes.open("a")
    stores.time -= 500_000
    _ = try await scenes.open("b")
    #expect(scenes.frontmost?.id == "b")
    try await scenes.activate("a")
    #expect(try await stores.launch().load().map(\.id) == ["a", "b"])
  }

  @Test func `the list of scenes goes with the last one`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    for id in ["a", "b"] as [RestoredWindow.ID] { _ = try await scenes.open(id) }
    let other = stores.launch()
    try await other.load()
    try await scenes.discard("a")
    #expect(throws: Never.self) { try stores.list.open(.newest) }
    try await scenes.discard("b")
    #expect(throws: ProtectionError.self) { try stores.list.open(.newest) }
    #expect(try await other.load().isEmpty)
    _ = try await other.open("c")
    #expect(try await scenes.load().map(\.id) == ["c"])
  }

  @Test func `scenes whose names Unicode calls equivalent are two, as their archives are`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let names: [RestoredWindow.ID] = ["caf\u{e9}", "cafe\u{301}"]
    #expect(Set(names).count == 2)
    for (number, id) in names.enumerated() {
      _ = try await scenes.open(id).preserve(Screen("window", text: "\(number)"))
    }
    #expect(scenes.sessions.count == 2)
    let again = stores.launch()
    try await again.load()
    // Opened at the same moment; the one that was opened later is in front.
    #expect(again.sessions.map { Array($0.id.rawValue.utf8) } == names.reversed().map { Array($0.rawValue.utf8) })
    try await again.discard(names[1])
    #expect(again.sessions.map { Array($0.id.rawValue.utf8) } == [Array(names[0].rawValue.utf8)])
    let window = Screen("window")
    _ = try await again.coordinator(for: names[0]).restore(into: window)
    #expect(window.text == "0")
    let other = try await again.coordinator(for: names[1]).restore(into: Screen("window"))
    #expect(other.outcome == .nothingPreserved)
  }

  @Test func `open scenes are restored with the frontmost first, closed ones not`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    for id in ["one", "two", "three", "closed"] as [RestoredWindow.ID] {
      stores.time += 1
      _ = try await scenes.open(id).preserve(Screen("window", text: id.rawValue))
    }
    stores.time += 1
    try await scenes.close("closed")
    try await scenes.activate("one")
    let again = stores.launch()
    try await again.load()
    #expect(again.frontmost?.id == "one")
    let reports = try await again.restoreOpenScenes { _ in Screen("window") }
    #expect(reports.map(\.window.id) == ["one", "three", "two"])
    #expect(reports.allSatisfy { $0.report.outcome == .restored })
    #expect(again.sessions.map(\.id) == ["one", "closed", "three", "two"])
  }

  @Test func `a scene that can't be restored keeps none of the others from it`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    for id in ["behind", "front"] as [RestoredWindow.ID] {
      stores.time += 1
      _ = try await scenes.open(id).preserve(Screen("window", text: id.rawValue))
    }
    let again = stores.launch()
    try await again.load()
    let held = try #require(stores.scenes["front"]).hold(at: "openNewest")
    let coordinator = try again.coordinator(for: "front")
    let window = Screen("window")
    async let first = coordinator.restore(into: window)
    try await held.arrived()
    let other = Screen("window")
    let error = await #expect(throws: RestorationError.self) {
      try await again.restoreOpenScenes { $0.id == "front" ? Screen("window") : other }
    }
    #expect(error?.code == .restorationInProgress)
    #expect(other.text == "behind")
    held.release()
    #expect(try await first.outcome == .restored)
  }

  @Test func `a closed scene keeps its state and can be opened again`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    _ = try await scenes.open("a").preserve(Screen("window", text: "kept"))
    try await scenes.close("a")
    let window = Screen("window")
    _ = try await scenes.open("a").restore(into: window)
    #expect(window.text == "kept")
  }

  /// Opens the scene “a” with a window into which something was typed that waits to be saved by itself.
  private func openWaiting(
    _ scenes: SceneSessions, _ stores: Stores
  ) async throws -> (coordinator: RestorationCoordinator, window: Screen) {
    let coordinator = try await scenes.open("a")
    let window = Screen("window", text: "opened")
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(3600))
    _ = try await coordinator.preserve(window)
    window.text = "noticed"
    await stores.delegate.nextEvent()
    window.text = "typed"
    return (coordinator, window)
  }

  @Test(arguments: [false, true])
  func `what waits to be saved by itself is saved before a scene closes`(fails: Bool) async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let (_, window) = try await openWaiting(scenes, stores)
    defer { withExtendedLifetime(window) {} }
    let store = try #require(stores.scenes["a"])
    if fails {
      store.state.withLock { $0.failures = ["append": .io, "publish": .io] }
      await #expect(throws: RestorationError.self) { try await scenes.close("a") }
      #expect(scenes.sessions.map(\.isOpen) == [true])
      store.state.withLock { $0.failures = [:] }
    }
    try await scenes.close("a")
    #expect(scenes.sessions.map(\.isOpen) == [false])
    let again = Screen("window")
    _ = try await scenes.open("a").restore(into: again)
    #expect(again.text == "typed")
  }

  @Test func `a scene that is opened again while it closes is open afterwards, with what was saved`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let (coordinator, window) = try await openWaiting(scenes, stores)
    defer { withExtendedLifetime(window) {} }
    let held = try #require(stores.scenes["a"]).hold(at: "append")
    let closing = Task { try await scenes.close("a") }
    try await held.arrived()
    let opening = Task { try await scenes.open("a") }
    await Task.yield()
    held.release()
    try await closing.value
    let opened = try await opening.value
    #expect(opened !== coordinator)
    #expect(scenes.sessions.map(\.isOpen) == [true])
    let again = Screen("window")
    _ = try await opened.restore(into: again)
    #expect(again.text == "typed")
    #expect(try await stores.launch().load().map(\.isOpen) == [true])
  }

  @Test func `a scene that is opened again while it is discarded begins anew and is saved`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let window = Screen("window", text: "former")
    _ = try await scenes.open("a").preserve(window)
    let held = try #require(stores.scenes["a"]).hold(at: "deleteAll")
    let discarding = Task { try await scenes.discard("a") }
    try await held.arrived()
    let opening = Task { try await scenes.open("a") }
    await Task.yield()
    held.release()
    try await discarding.value
    let opened = try await opening.value
    window.text = "later"
    #expect(try await opened.preserve(window).receipt != nil)
    #expect(scenes.sessions.map(\.isOpen) == [true])
    let again = stores.launch()
    try await again.load()
    #expect(again.sessions.map(\.isOpen) == [true])
    let restored = Screen("window")
    _ = try await again.coordinator(for: "a").restore(into: restored)
    #expect(restored.text == "later")
  }

  @Test func `two discards that fail leave a scene saving by itself`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let coordinator = try await scenes.open("a")
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(3600))
    let store = try #require(stores.scenes["a"])
    store.state.withLock { $0.failures = ["deleteAll": .io] }
    let held = store.hold(at: "deleteAll")
    let discards = [1, 2].map { _ in Task { try await scenes.discard("a") } }
    try await held.arrived()
    held.release()
    for discard in discards { await #expect(throws: RestorationError.self) { try await discard.value } }
    #expect(coordinator.preservesAutomatically != .never)
    store.state.withLock { $0.failures = [:] }
    #expect(try await coordinator.preserve(Screen("window", text: "later")).receipt != nil)
  }

  @Test(arguments: [false, true])
  func `a scene that goes while another one is restored is not restored`(isDiscarded: Bool) async throws {
    let stores = Stores()
    let former = stores.launch()
    for id in ["a", "b"] as [RestoredWindow.ID] {
      stores.time += 1
      _ = try await former.open(id).preserve(Screen("window", text: id.rawValue))
    }
    let scenes = stores.launch()
    try await scenes.load()
    let held = try #require(stores.scenes["b"]).hold(at: "openNewest")
    var asked: [RestoredWindow.ID] = []
    let restoring = Task {
      try await scenes.restoreOpenScenes { session in
        asked.append(session.id)
        return Screen("window")
      }
    }
    try await held.arrived()
    if isDiscarded { try await scenes.discard("a") } else { try await scenes.close("a") }
    held.release()
    #expect(try await restoring.value.map(\.window.id) == ["b"])
    #expect(asked == ["b"])
  }

  @Test func `a scene that can't be discarded stays as it was`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let coordinator = try await scenes.open("a")
    let window = Screen("window", text: "former")
    _ = try await coordinator.preserve(window)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(3600))
    let store = try #require(stores.scenes["a"])
    store.state.withLock { $0.failures = ["deleteAll": .io] }
    await #expect(throws: RestorationError.self) { try await scenes.discard("a") }
    #expect(scenes.sessions.map(\.isOpen) == [true])
    #expect(coordinator.preservesAutomatically != .never)
    store.state.withLock { $0.failures = [:] }
    window.text = "later"
    #expect(try await coordinator.preserve(window).receipt != nil)
  }

  @Test(arguments: [false, true], [false, true])
  func `a known scene that is opened without naming a role keeps its role`(isLoaded: Bool, isLocked: Bool) async throws
  {
    let stores = Stores()
    _ = try await stores.launch().open("w1", role: "document")
    let scenes = stores.launch()
    if isLoaded { try await scenes.load() }
    stores.list.lock(isLocked)
    _ = try await scenes.open("w1")
    stores.list.lock(false)
    #expect(try await stores.launch().load().map(\.role) == ["document"])
    #expect(try await scenes.load().map(\.role) == ["document"])
  }

  @Test(arguments: [false, true], [false, true])
  func `a known scene that is opened in another role gets that`(isLoaded: Bool, isLocked: Bool) async throws {
    let stores = Stores()
    _ = try await stores.launch().open("w1", role: "document")
    let scenes = stores.launch()
    if isLoaded { try await scenes.load() }
    stores.list.lock(isLocked)
    _ = try await scenes.open("w1", role: "viewer")
    stores.list.lock(false)
    #expect(try await stores.launch().load().map(\.role) == ["viewer"])
  }

  @Test func `the coordinator of a discarded scene brings nothing back`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    let coordinator = try await scenes.open("a")
    let window = Screen("window", text: "a")
    _ = try await coordinator.preserve(window)
    try await scenes.discard("a")
    window.text = "changed"
    #expect(try await coordinator.preserve(window) == .deferred(.discarded))
    let again = Screen("window")
    _ = try await scenes.open("a").restore(into: again)
    #expect(again.text.isEmpty)
  }

  @Test func `a list that nobody can read begins anew, and one that is locked does not`() async throws {
    let stores = Stores()
    _ = try await stores.launch().open("a")
    stores.list.lock(true)
    _ = try await stores.launch().open("b")
    stores.list.lock(false)
    #expect(try await Set(stores.launch().load().map(\.id)) == ["a", "b"])
    stores.list.state.withLock { $0.generations[$0.generations.count - 1].isDamaged = true }
    let scenes = stores.launch()
    _ = try await scenes.open("c")
    #expect(Set(scenes.sessions.map(\.id)) == ["b", "c"], "what was sealed beside the list is whole")
  }

  @Test func `of a list that is damaged inside the one before it counts`() async throws {
    let stores = Stores()
    for id in ["a", "b"] as [RestoredWindow.ID] { _ = try await stores.launch().open(id) }
    stores.list.state.withLock { $0.generations[$0.generations.count - 1].failsReading = true }
    let scenes = stores.launch()
    #expect(try await scenes.load().map(\.id) == ["a"])
    #expect(scenes.isListIncomplete)
  }

  @Test func `a discarded scene leaves nothing and the others stay`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    _ = try await scenes.open("a").preserve(Screen("window", text: "a"))
    _ = try await scenes.open("b").preserve(Screen("window", text: "b"))
    try await scenes.discard("a")
    #expect(stores.scenes["a"]?.state.withLock { $0.generations.isEmpty } == true)
    #expect(stores.scenes["b"]?.state.withLock { $0.generations.count } == 1)
    let again = stores.launch()
    #expect(try await again.load().map(\.id) == ["b"])
  }

  @Test func `a list that is locked is neither taken for empty nor written over`() async throws {
    let stores = Stores()
    _ = try await stores.launch().open("a").preserve(Screen("window"))
    stores.list.lock(true)
    let scenes = stores.launch()
    await #expect(throws: RestorationError.self) { try await scenes.load() }
    let generations = stores.list.state.withLock { $0.generations.map(\.base) }
    _ = try await scenes.open("b")
    #expect(stores.list.state.withLock { $0.generations.map(\.base) } == generations)
    stores.list.lock(false)
    #expect(try await scenes.load().map(\.id).contains("a"))
    try await scenes.activate("b")
    let again = stores.launch()
    #expect(try await Set(again.load().map(\.id)) == ["a", "b"])
  }

  @Test func `a scene that is discarded after the device was locked stays discarded`() async throws {
    let stores = Stores()
    let scenes = stores.launch()
    for id in ["a", "b"] as [RestoredWindow.ID] { _ = try await scenes.open(id) }
    stores.list.state.withLock { $0.failures["publish"] = .locked }
    try await scenes.discard("b")
    stores.list.state.withLock { $0.failures = [:] }
    let again = stores.launch()
    #expect(try await again.load().map(\.id) == ["a"])
  }

  @Test func `saves of one run that overlap lose nothing of what another process adds meanwhile`() async throws {
    let stores = Stores()
    let (one, other) = (stores.launch(), stores.launch())
    _ = try await one.open("mine")
    let held = stores.list.hold(at: "openNewest")
    stores.time += 1
    let closing = Task { try await one.close("mine") }
    try await held.arrived()
    let opening = Task { try await one.open("mine") }
    let adding = Task { try await one.open("second") }
    _ = try await other.open("theirs")
    held.release()
    try await closing.value
    _ = try await opening.value
    _ = try await adding.value
    let found = try await stores.launch().load()
    #expect(Set(found.map(\.id)) == ["mine", "second", "theirs"])
    #expect(found.filter(\.isOpen).count == 3)
    #expect(one.sessions == found)
  }

  @Test func `sessions stay known when the list is damaged while the program runs`() async throws {
    let stores = Stores()
    let first = stores.launch()
    for id in ["a", "b"] as [RestoredWindow.ID] { _ = try await first.open(id) }
    let scenes = stores.launch()
    try await scenes.load()
    stores.list.state.withLock { state in
      for index in state.generations.indices { state.generations[index].isDamaged = true }
    }
    try await scenes.activate("b")
    #expect(try await Set(stores.launch().load().map(\.id)) == ["a", "b"])
  }
}
