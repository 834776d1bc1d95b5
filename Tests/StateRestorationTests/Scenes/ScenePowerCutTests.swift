import DataProtection
import StateRestoration
import StateRestorationTesting
import Testing

/// Power that is cut while the list of scenes, or a scene, is written.
@MainActor @Suite struct ScenePowerCutTests {
  private func scenes(_ bench: Bench) throws -> SceneSessions {
    try SceneSessions(
      device: try #require(bench.process).device, delegate: bench.delegate, configuration: bench.configuration)
  }

  @Test(arguments: [SimulatedDevice.PowerCutLoss.everythingUnsynchronized, .endOfLastWrite(keeping: 3)])
  func `opening a scene that is cut short leaves the others as they were`(loss: SimulatedDevice.PowerCutLoss)
    async throws
  {
    try await cutPowerAtEveryCall(losing: loss) {
      let bench = try await Bench(.device)
      _ = try await scenes(bench).open("a").preserve(Screen("window", text: "a"))
      let sessions = try scenes(bench)
      try await sessions.load()
      return Interruptible(bench: bench) {
        let outcome = try await sessions.open("b").preserve(Screen("window", text: "b"))
        return outcome.receipt?.durability == .durable
      } wasDone: {
        let again = try scenes(bench)
        let ids = try await again.load().map(\.id)
        #expect(ids.contains("a"))
        let reports = try await again.restoreOpenScenes { _ in Screen("window") }
        #expect(reports.first { $0.window.id == "a" }?.report.outcome == .restored)
        let b = reports.first { $0.window.id == "b" }?.report.outcome
        #expect(b == nil || b == .restored || b == .nothingPreserved)
        return b == .restored
      }
    }
  }

  @Test(arguments: [SimulatedDevice.PowerCutLoss.everythingUnsynchronized, .endOfLastWrite(keeping: 3)])
  func `discarding a scene that is cut short leaves the others as they were`(loss: SimulatedDevice.PowerCutLoss)
    async throws
  {
    try await cutPowerAtEveryCall(losing: loss) {
      let bench = try await Bench(.device)
      let sessions = try scenes(bench)
      for name in ["a", "b"] {
        _ = try await sessions.open(RestoredWindow.ID(rawValue: name)).preserve(Screen("window", text: name))
      }
      return Interruptible(bench: bench) {
        try await sessions.discard("b")
        return true
      } wasDone: {
        let again = try scenes(bench)
        let ids = try await again.load().map(\.id)
        let a = Screen("window")
        _ = try await again.coordinator(for: "a").restore(into: a)
        #expect(a.text == "a")
        let b = Screen("window")
        let outcome = try await again.coordinator(for: "b").restore(into: b).outcome
        #expect(outcome == .nothingPreserved || (b.text == "b" && ids.contains("b")))
        return outcome == .nothingPreserved && ids == ["a"]
      }
    }
  }

  @Test(arguments: [SimulatedDevice.PowerCutLoss.everythingUnsynchronized, .endOfLastWrite(keeping: 3)])
  func `closing a scene that is cut short costs no scene but the one that is kept no longer`(
    loss: SimulatedDevice.PowerCutLoss
  )
    async throws
  {
    try await cutPowerAtEveryCall(losing: loss) {
      let bench = try await Bench(.device)
      bench.configuration.recentlyClosedLimit = 1
      let sessions = try scenes(bench)
      var windows: [Screen] = []
      for name in ["open", "old", "new"] {
        let window = Screen("window", text: name)
        windows.append(window)
        _ = try await sessions.open(RestoredWindow.ID(rawValue: name)).preserve(window)
        if name == "old" { try await sessions.close("old") }
      }
      return Interruptible(bench: bench) { [windows] in
        try await sessions.close("new")
        withExtendedLifetime(windows) {}
        return true
      } wasDone: {
        let again = try scenes(bench)
        let found = try await again.load()
        for name in ["open", "new", "old"] {
          let id = RestoredWindow.ID(rawValue: name)
          let window = Screen("window")
          let outcome = try await again.coordinator(for: id).restore(into: window).outcome
          if name == "old" {
            #expect(outcome == .nothingPreserved || (window.text == "old" && found.contains { $0.id == id }))
          } else {
            #expect(window.text == name && found.contains { $0.id == id })
          }
        }
        return found.first { $0.id == "new" }?.isOpen == false && !found.contains { $0.id == "old" }
      }
    }
  }
}
