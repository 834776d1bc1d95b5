import DataProtection
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

/// Scenes on a protected device.
@MainActor @Suite(.tags(.threads)) struct DeviceScenesTests {
  private func scenes(_ bench: Bench) throws -> SceneSessions {
    try SceneSessions(
      device: try #require(bench.process).device, delegate: bench.delegate, configuration: bench.configuration)
  }

  @Test func `a scene that was locked at launch is restored late, and another one at once`() async throws {
    let bench = try await Bench(.device)
    let sessions = try scenes(bench)
    for name in ["a", "b"] {
      let window = Screen("window", text: name, children: [Screen("child", text: name)])
      _ = try await sessions.open(RestoredWindow.ID(rawValue: name)).preserve(window)
    }
    try await bench.kill()
    let again = try scenes(bench)
    try await again.load()
    try await bench.lock()
    let a = Screen("window", children: [Screen("child")])
    #expect(try await again.coordinator(for: "a").restore(into: a).outcome == .locked)
    a.text = "typed"
    _ = try await again.coordinator(for: "a").preserve(a)
    try await bench.unlock()
    let b = Screen("window", children: [Screen("child")])
    #expect(try await again.coordinator(for: "b").restore(into: b).outcome == .restored)
    #expect(b.text == "b")
    await bench.delegate.nextLateReport()
    #expect(a.text == "typed")
    #expect(a["child"]?.text == "a")
  }

  @Test(arguments: [true, false])
  func `what is opened, closed and discarded while locked is in the list after the unlock`(isLoaded: Bool) async throws
  {
    let bench = try await Bench(.device)
    let first = try scenes(bench)
    for name in ["a", "b", "c"] {
      _ = try await first.open(RestoredWindow.ID(rawValue: name)).preserve(Screen("window", text: name))
    }
    try await bench.kill()
    let sessions = try scenes(bench)
    if isLoaded { try await sessions.load() }
    try await bench.lock()
    if !isLoaded { await #expect(throws: RestorationError.self) { try await sessions.load() } }
    for name in ["a", "new"] as [RestoredWindow.ID] {
      let window = Screen("window")
      let coordinator = try await sessions.open(name)
      _ = try await coordinator.restore(into: window)
      window.text = "typed in \(name)"
      _ = try await coordinator.preserve(window)
    }
    try await sessions.close("a")
    try await sessions.discard("b")
    // A second run that is locked, too.
    try await bench.kill()
    let second = try scenes(bench)
    _ = try await second.open("late")
    try await bench.kill()
    try await bench.unlock()
    let again = try scenes(bench)
    let found = try await again.load()
    #expect(Set(found.map(\.id)) == ["a", "c", "new", "late"])
    #expect(Set(found.filter(\.isOpen).map(\.id)) == ["c", "new", "late"])
    let window = Screen("window")
    _ = try await again.coordinator(for: "new").restore(into: window)
    #expect(window.text == "typed in new")
    // The next change writes one list, and nothing is left beside it.
    try await again.activate("c")
    try await bench.kill()
    #expect(try await Set(scenes(bench).load().map(\.id)) == ["a", "c", "new", "late"])
  }

  @Test func `two processes share the list, whichever of them the device is locked for`() async throws {
    let bench = try await Bench(.device)
    func launch() async throws -> (SimulatedProcess, SceneSessions) {
      let process = try await #require(bench.device).startProcess()
      return (
        process,
        try SceneSessions(device: process.device, delegate: bench.delegate, configuration: bench.configuration)
      )
    }
    let ids: [RestoredWindow.ID] = ["a", "b", "gone"]
    for id in ids { _ = try await scenes(bench).open(id, role: "document") }
    let (locked, one) = try await launch()
    let (_, other) = try await launch()
    try await one.load()
    try await other.load()
    locked.device.lock()
    _ = try await one.open("a")
    _ = try await one.open("new", role: "note")
    try await other.discard("gone")
    try await other.close("b")
    #expect(Set(other.sessions.map(\.id)) == ["a", "b", "new"])
    _ = try await one.open("late")
    try await other.activate("b")
    try await bench.unlock()
    let (_, again) = try await launch()
    let found = try await again.load()
    #expect(Set(found.map(\.id)) == ["a", "b", "new", "late"])
    #expect(Set(found.filter(\.isOpen).map(\.id)) == ["a", "new", "late"])
    #expect(found.first { $0.id == "a" }?.role == "document" && found.first { $0.id == "new" }?.role == "note")
  }

  @Test func `a list that moves to another class keeps what was saved while locked, and what others write`()
    async throws
  {
    let bench = try await Bench(.device)
    _ = try await scenes(bench).open("before")
    try await bench.lock()
    try await bench.kill()
    _ = try await scenes(bench).open("locked")
    try await bench.unlock()
    bench.configuration.protection = .completeUntilFirstUserAuthentication
    let (one, other) = (try scenes(bench), try scenes(bench))
    _ = try await one.open("after")
    _ = try await other.open("other")
    try await one.activate("after")
    let ids: Set<RestoredWindow.ID> = ["before", "locked", "after", "other"]
    #expect(Set(one.sessions.map(\.id)) == ids)
    #expect(try await Set(scenes(bench).load().map(\.id)) == ids)
  }
}
