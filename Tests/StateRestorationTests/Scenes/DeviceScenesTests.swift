import DataProtection
import StateRestoration
import StateRestorationTesting
import Testing

/// Scenes on a protected device.
@MainActor @Suite struct DeviceScenesTests {
  private func scenes(_ bench: Bench) throws -> SceneSessions {
    try SceneSessions(
      device: try #require(bench.process).device, delegate: bench.delegate, configuration: bench.configuration)
  }

  @Test func `a scene that was locked at launch is restored late, and another one at once`() async throws {
    let bench = try await Bench(.device)
    let sessions = try scenes(bench)
    for name in ["a", "b"] {
      let window = Screen("window", text: name, children: [Screen("child", text: name)])
      _ = try await sessions.open(SceneSession.ID(rawValue: name)).preserve(window)
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
}
