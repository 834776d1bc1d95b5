import DataProtection
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

/// A scope gives its values back by key, and every answer is a different one.
@MainActor @Suite(.tags(.threads)) struct ScopeTests {
  /// Runs a launch of a program that is nothing but a scope.
  private func launch(
    _ bench: Bench, _ body: (RestorationScope, RestorationCoordinator) async throws -> Void
  ) async throws {
    let coordinator = bench.launch()
    let scope = RestorationScope()
    _ = try await coordinator.restore(into: scope)
    try await body(scope, coordinator)
    _ = try await coordinator.preserve()
  }

  @Test func `a value comes back by its key`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.value(ofType: String.self, forKey: "draft") == nil)
      #expect(scope.value(forKey: "draft", default: "none") == "none")
      scope.setValue("typed", forKey: "draft")
      #expect(scope.value(forKey: "draft", default: "none") == "typed")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value(forKey: "draft", default: "none") == "typed")
    }
  }

  @Test func `a value that nobody asks for is carried over`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue("typed", forKey: "draft") }
    for _ in 0..<2 {
      try await launch(bench) { (scope, coordinator) async throws in
        #expect(coordinator.lastReport?[["scope", "draft"]]?.notRestoredReason == .notAskedFor)
        scope.setValue(1, forKey: "other")
      }
    }
    try await launch(bench) { (scope, coordinator) async throws in
      #expect(scope.value(forKey: "draft", default: "") == "typed")
      #expect(coordinator.lastReport?[["scope", "draft"]]?.result == .restored(.registration))
    }
  }

  @Test func `nested scopes have keys of their own`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      scope.setValue("outer", forKey: "text")
      scope.scope("pane").setValue("inner", forKey: "text")
      scope.scope("pane").scope("deep").setValue("deepest", forKey: "text")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.scope("pane").scope("deep").value(forKey: "text", default: "") == "deepest")
      #expect(scope.scope("pane").value(forKey: "text", default: "") == "inner")
      #expect(scope.value(forKey: "text", default: "") == "outer")
    }
  }

  @Test func `a consumed value is gone, and one set anew is kept`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      scope.setValue("one", forKey: "a")
      scope.setValue("two", forKey: "b")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.consume(String.self, forKey: "a") == "one")
      #expect(try scope.consume(String.self, forKey: "a") == nil)
      #expect(try scope.consume(String.self, forKey: "b") == "two")
      scope.setValue("three", forKey: "b")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.value(ofType: String.self, forKey: "a") == nil)
      #expect(scope.value(forKey: "b", default: "") == "three")
    }
  }

  @Test func `a provider is asked at every save, until its key is forgotten`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, coordinator) async throws in
      var text = "first"
      scope.provide(forKey: "text") { text }
      scope.provide(forKey: "other") { 1 }
      _ = try await coordinator.preserve()
      text = "second"
      scope.forget("other")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value(forKey: "text", default: "") == "second")
      #expect(try scope.value(ofType: Int.self, forKey: "other") == nil)
    }
  }

  @Test(arguments: [false, true])
  func `what is provided takes the place of what was stored`(isConsumed: Bool) async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue("typed", forKey: "draft") }
    try await launch(bench) { (scope, _) async throws in
      if isConsumed { #expect(try scope.consume(String.self, forKey: "draft") == "typed") }
      for text in ["first", "second"] { scope.provide(forKey: "draft") { text } }
    }
    try await launch(bench) { scope, _ in #expect(scope.value(forKey: "draft", default: "") == "second") }
  }

  @Test func `a value that is provided before restoring gives way to the stored one`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue("typed", forKey: "draft") }
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    scope.provide(forKey: "draft") { "" }
    _ = try await coordinator.restore(into: scope)
    _ = try await coordinator.preserve()
    #expect(try scope.consume(String.self, forKey: "draft") == "typed")
    scope.provide(forKey: "draft") { "newer" }
    _ = try await coordinator.preserve()
    try await launch(bench) { scope, _ in #expect(scope.value(forKey: "draft", default: "") == "newer") }
  }

  @Test func `what nobody has read can be forgotten`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      scope.setValue("typed", forKey: "draft")
      scope.scope("pane").setValue(1, forKey: "tab")
    }
    try await launch(bench) { (scope, _) async throws in
      scope.forget("draft")
      scope.forget("pane")
    }
    let reader = try bench.newestReader()
    #expect(try reader.node(at: ["scope"]) != nil)
    #expect(try reader.node(at: ["scope", "draft"]) == nil)
    #expect(try reader.node(at: ["scope", "pane"]) == nil)
  }

  @Test func `locked and unreadable are not missing`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let scope = RestorationScope()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: scope)
    scope.setValue("text", forKey: "draft")
    scope.setValue("kept", forKey: "note")
    try await session.close()
    device.reboot()

    let locked = RestorationScope()
    let second = try await RestorationSession.open(on: try await device.startProcess().device, root: locked)
    let refusal = #expect(throws: RestorationError.self) { try locked.value(ofType: String.self, forKey: "draft") }
    #expect(refusal?.code == .locked && refusal?.path == ["scope", "draft"])
    #expect(locked.value(forKey: "draft", default: "none") == "none")
    // What is set after the turn that restores is the user's, and newer.
    try await Task.sleep(for: .milliseconds(50))
    locked.setValue("newer", forKey: "note")
    try await second.unlock(passcode: "1234")
    #expect(locked.value(forKey: "note", default: "") == "newer")
    let failure = #expect(throws: RestorationError.self) { try locked.value(ofType: Int.self, forKey: "draft") }
    #expect(failure?.code == .unreadable && failure?.path == ["scope", "draft"])
    #expect(try locked.value(ofType: Int.self, forKey: "nothing") == nil)
    try await second.close()

    // What could not be read as a number is still there as a text.
    let third = RestorationScope()
    let last = try await RestorationSession.open(
      on: try await unlockedProcess(of: device), root: third)
    #expect(third.value(forKey: "draft", default: "") == "text")
    #expect(third.value(forKey: "note", default: "") == "newer")
    try await last.close()
  }

  @Test func `a state that can't be reached now is not missing`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue("typed", forKey: "draft") }
    bench.store.state.withLock { $0.failures = ["openNewest": .io] }
    try await launch(bench) { (scope, coordinator) async throws in
      #expect(coordinator.lastReport?.outcome == .unavailable)
      bench.store.state.withLock { $0.failures = [:] }
      scope.setValue(1, forKey: "other")
      _ = try await coordinator.preserve()
      let failure = #expect(throws: RestorationError.self) { try scope.consume(String.self, forKey: "draft") }
      #expect(failure?.code == .deviceNotOpened && failure?.path == ["scope", "draft"])
      #expect(scope.value(forKey: "draft", default: "none") == "none")
      #expect(try await coordinator.restore(into: scope).outcome == .restored)
      #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
      #expect(try scope.value(ofType: String.self, forKey: "nothing") == nil)
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value(forKey: "draft", default: "") == "typed" && scope.value(forKey: "other", default: 0) == 1)
    }
  }

  @Test(arguments: [false, true]) func `nor is it missing to a scope that no save has met`(isNested: Bool) async throws
  {
    let bench = Bench()
    func launch() -> (coordinator: RestorationCoordinator, root: StoredGroup, scope: RestorationScope) {
      let scope = RestorationScope()
      return (bench.launch(), StoredGroup("root", scope), isNested ? scope.scope("nested") : scope)
    }
    let first = launch()
    _ = try await first.coordinator.restore(into: first.root)
    first.scope.setValue("typed", forKey: "draft")
    _ = try await first.coordinator.preserve(first.root)
    bench.store.state.withLock { $0.failures = ["openNewest": .io] }
    let next = launch()
    #expect(try await next.coordinator.restore(into: next.root).outcome == .unavailable)
    let failure = #expect(throws: RestorationError.self) { try next.scope.value(ofType: String.self, forKey: "draft") }
    #expect(failure?.code == .deviceNotOpened)
    bench.store.state.withLock { $0.failures = [:] }
    #expect(try await next.coordinator.restore(into: next.root).outcome == .restored)
    #expect(try next.scope.value(ofType: String.self, forKey: "draft") == "typed")
  }

  private func unlockedProcess(of device: SimulatedDevice) async throws -> ProtectedDevice {
    let process = try await device.startProcess()
    try await device.unlock()
    return process.device
  }

  @Test func `a scope in a hierarchy is preserved with it, over its budget too`() async throws {
    let bench = Bench()
    bench.configuration.nodeByteBudget = 1000
    let scope = RestorationScope("pane")
    let root = StoredGroup("app", scope, StoredValue("tab", 0))
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    scope.setValue(String(repeating: "x", count: 2000), forKey: "text")
    let findings = try await coordinator.preserve(root).receipt?.findings ?? []
    #expect(
      findings.contains { if case .overBudget(["app", "pane", "text"], _, 1000) = $0 { true } else { false } })
  }

  @Test func `a value of an older version is migrated`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue(12, forKey: "width") }
    try await launch(bench) { (scope, _) async throws in
      let width = try scope.value(ofType: SessionTests.Width.self, forKey: "width")
      #expect(width == SessionTests.Width(points: 12))
    }
  }

  @Test func `an unread value of a later version is forgotten`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.setValue(SessionTests.Width(points: 5), forKey: "width") }
    try await launch(bench) { scope, _ in scope.forget("width") }
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.value(ofType: SessionTests.Width.self, forKey: "width") == nil)
    }
  }
}
