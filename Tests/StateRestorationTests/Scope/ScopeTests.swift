import DataProtection
import FoundationEssentials
import Observation
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
      #expect(scope.value("draft", default: "none").value == "none")
      try scope.setValue("typed", forKey: "draft")
      #expect(scope.value("draft", default: "none").value == "typed")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value("draft", default: "none").value == "typed")
    }
  }

  @Test func `an optional value comes back, and nil as nil`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      let (open, closed) = (scope.value("open", default: String?.none), scope.value("closed", default: String?("x")))
      #expect(open.value == nil)
      open.value = "letter"
      closed.value = nil
      #expect(open.value == "letter")
      #expect(closed.value == nil)
      try scope.setValue(Int?(7), forKey: "number")
      #expect(try scope.value(ofType: Int?.self, forKey: "number") == 7)
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.value(ofType: Int?.self, forKey: "number") == 7)
      let open = scope.value("open", default: String?.none)
      #expect([open.value, open.value] == ["letter", "letter"])
      #expect(scope.value("closed", default: String?("x")).value == nil)
      #expect(try scope.value(ofType: String?.self, forKey: "missing") == nil)
    }
  }

  @Test func `a value that nobody asks for is carried over`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in try scope.setValue("typed", forKey: "draft") }
    for _ in 0..<2 {
      try await launch(bench) { (scope, coordinator) async throws in
        #expect(coordinator.lastReport?.notRestored.isEmpty == true)
        try scope.setValue(1, forKey: "other")
      }
    }
    try await launch(bench) { (scope, coordinator) async throws in
      #expect(scope.value("draft", default: "").value == "typed")
      #expect(coordinator.lastReport?[["scope", "draft"]]?.result == .restored(.existing))
    }
  }

  @Test func `nested scopes have keys of their own`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      try scope.setValue("outer", forKey: "text")
      try scope.scope("pane").setValue("inner", forKey: "text")
      try scope.scope("pane").scope("deep").setValue("deepest", forKey: "text")
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.scope("pane").scope("deep").value("text", default: "").value == "deepest")
      #expect(scope.scope("pane").value("text", default: "").value == "inner")
      #expect(scope.value("text", default: "").value == "outer")
    }
  }

  @Test func `a default is not preserved`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value("width", default: 80).value == 80)
      scope.value("height", default: 24).value = 25
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value("width", default: 100).value == 100)
      #expect(scope.value("height", default: 0).value == 25)
    }
  }

  @Test func `a value that is made before restoring has the stored one afterwards, and its observers hear of it`()
    async throws
  {
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.value("draft", default: "").value = "typed" }
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    let draft = scope.value("draft", default: "nothing")
    let heard = Atomic(0)
    withObservationTracking {
      _ = draft.value
    } onChange: {
      heard.wrappingAdd(1, ordering: .relaxed)
    }
    #expect(draft.value == "nothing")
    _ = try await coordinator.restore(into: scope)
    #expect(draft.value == "typed")
    #expect(heard.load(ordering: .relaxed) == 1)
  }

  @Test func `all who ask for a key have one value`() async throws {
    let scope = RestorationScope()
    let (first, second) = (scope.value("draft", default: ""), scope.value("draft", default: "nothing"))
    first.value = "typed"
    #expect(second.value == "typed")
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
    try scope.setValue("set", forKey: "draft")
    #expect(first.value == "set")
    scope.removeValue(forKey: "draft")
    #expect(first.value.isEmpty && second.value == "nothing")
  }

  @Test func `a value that gained a field takes that from the default`() async throws {
    struct Before: Codable { var text = "typed" }
    struct After: Codable, Equatable { var text = "", caret = 7 }
    let bench = Bench()
    try await launch(bench) { scope, _ in scope.value("draft", default: Before()).value = Before() }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value("draft", default: After()).value == After(text: "typed"))
    }
  }

  @Test func `a value that could not be read stays beside the one that is set`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in try scope.setValue(SessionTests.Width(points: 5), forKey: "width") }
    try await launch(bench) { (scope, _) async throws in
      let failure = #expect(throws: RestorationError.self) { try scope.value(ofType: Int.self, forKey: "width") }
      #expect(failure?.code == .newerVersion)
      try scope.setValue(3, forKey: "width")
    }
    try await launch(bench) { (scope, coordinator) async throws in
      #expect(try scope.value(ofType: Int.self, forKey: "width") == 3)
      let remarks = coordinator.lastReport?[["scope", "width"]]?.remarks
      #expect(remarks == [.superseded(1)])
    }
  }

  @Test(arguments: [10, 300_000], [0, 1, 2])
  func `what this version can't read stays beside what it sets, and the conflict can be settled`(
    size: Int, saves: Int
  ) async throws {
    struct Before: Codable { var text = "" }
    struct After: VersionedState {
      var text = ""
      static var stateVersion: StateVersion { 2 }
      static var migrations: StateMigrations<After> {
        StateMigrations(from: 1) { (old: Before) in After(text: old.text) }
      }
    }
    let newer = String(repeating: "newer ", count: size / 6 + 1)
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      scope.value("draft", default: After()).value.text = newer
      scope.scope("note").value("draft", default: After()).value.text = newer
    }
    try await launch(bench) { (scope, coordinator) async throws in
      for scope in [scope, scope.scope("note")] {
        let draft = scope.value("draft", default: Before())
        #expect(draft.value.text.isEmpty)
        draft.value.text = "older"
      }
      for _ in 0..<saves { _ = try await coordinator.preserve() }
    }
    try await launch(bench) { (scope, coordinator) async throws in
      for scope in [scope, scope.scope("note")] {
        #expect(scope.value("draft", default: After()).value.text == "older")
        var stored: [String] = []
        #expect(scope.settleConflict(ofKey: "draft") { (values: [After]) in stored = values.map(\.text) })
        #expect(stored == [newer])
      }
    }
  }

  @Test func `a value that can't be encoded leaves the key as it was`() async throws {
    struct Refuses: Encodable {
      func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }
    let scope = RestorationScope()
    try scope.setValue("typed", forKey: "draft")
    let failure = #expect(throws: RestorationError.self) { try scope.setValue(Refuses(), forKey: "draft") }
    #expect(failure?.code == .notEncodable)
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
  }

  @Test func `what nobody has read can be forgotten`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      try scope.setValue("typed", forKey: "draft")
      try scope.scope("pane").setValue(1, forKey: "tab")
    }
    try await launch(bench) { (scope, _) async throws in
      scope.removeValue(forKey: "draft")
      scope.removeValue(forKey: "pane")
    }
    let reader = try bench.newestReader()
    #expect(try reader.node(at: ["scope"]) != nil)
    #expect(try reader.node(at: ["scope", "draft"]) == nil)
    #expect(try reader.node(at: ["scope", "pane"]) == nil)
  }

  @Test func `all keys of an element that was deleted are forgotten at once`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      for key in ["tab 1/caret", "tab 1/scroll", "tab 10/caret", "tab 2/caret"] { try scope.setValue(1, forKey: key) }
    }
    try await launch(bench) { (scope, _) async throws in
      try scope.setValue(2, forKey: "tab 1/selection")
      await Task.detached { scope.removeValues(forKeysWithPrefix: "tab 1/") }.value
    }
    let reader = try bench.newestReader()
    let keys: [RestorationIdentifier] = [
      "tab 1/caret", "tab 1/scroll", "tab 1/selection", "tab 10/caret", "tab 2/caret",
    ]
    let stored = try keys.filter { try reader.node(at: ["scope", $0]) != nil }
    #expect(stored == ["tab 10/caret", "tab 2/caret"])
  }

  @Test func `locked and unreadable are not missing`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let scope = RestorationScope()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: scope)
    try scope.setValue("text", forKey: "draft")
    try scope.setValue("kept", forKey: "note")
    try await session.close()
    device.reboot()

    let locked = RestorationScope()
    let second = try await RestorationSession.open(on: try await device.startProcess().device, root: locked)
    let refusal = #expect(throws: RestorationError.self) { try locked.value(ofType: String.self, forKey: "draft") }
    #expect(refusal?.code == .locked && refusal?.path == ["scope", "draft"])
    #expect(locked.value("draft", default: "none").value == "none")
    // What is set after the turn that restores is the user's, and newer.
    try await Task.sleep(for: .milliseconds(50))
    try locked.setValue("newer", forKey: "note")
    try await second.unlock(passcode: "1234")
    #expect(locked.value("note", default: "").value == "newer")
    let failure = #expect(throws: RestorationError.self) { try locked.value(ofType: Int.self, forKey: "draft") }
    #expect(failure?.code == .unreadable && failure?.path == ["scope", "draft"])
    #expect(try locked.value(ofType: Int.self, forKey: "nothing") == nil)
    try await second.close()

    // What could not be read as a number is still there as a text.
    let third = RestorationScope()
    let last = try await RestorationSession.open(
      on: try await unlockedProcess(of: device), root: third)
    #expect(third.value("draft", default: "").value == "text")
    #expect(third.value("note", default: "").value == "newer")
    try await last.close()
  }

  @Test func `a state that can't be reached now is not missing`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in try scope.setValue("typed", forKey: "draft") }
    bench.store.state.withLock { $0.failures = ["openNewest": .io] }
    try await launch(bench) { (scope, coordinator) async throws in
      #expect(coordinator.lastReport?.outcome == .unavailable)
      bench.store.state.withLock { $0.failures = [:] }
      try scope.setValue(1, forKey: "other")
      _ = try await coordinator.preserve()
      let failure = #expect(throws: RestorationError.self) { try scope.value(ofType: String.self, forKey: "draft") }
      #expect(failure?.code == .deviceNotOpened && failure?.path == ["scope", "draft"])
      #expect(scope.value("draft", default: "none").value == "none")
      #expect(try await coordinator.restore(into: scope).outcome == .restored)
      #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
      #expect(try scope.value(ofType: String.self, forKey: "nothing") == nil)
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(scope.value("draft", default: "").value == "typed" && scope.value("other", default: 0).value == 1)
    }
  }

  @Test(arguments: [false, true]) func `nor is it missing to a scope that no save has met`(isNested: Bool) async throws
  {
    let bench = Bench()
    func launch() -> (coordinator: RestorationCoordinator, root: RestorationScope, scope: RestorationScope) {
      let scope = RestorationScope()
      return (bench.launch(), RestorationScope("root", scope), isNested ? scope.scope("nested") : scope)
    }
    let first = launch()
    _ = try await first.coordinator.restore(into: first.root)
    try first.scope.setValue("typed", forKey: "draft")
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
    let root = RestorationScope("app", scope, StoredValue("tab", 0))
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    try scope.setValue(String(repeating: "x", count: 2000), forKey: "text")
    let findings = try await coordinator.preserve(root).receipt?.findings ?? []
    #expect(
      findings.contains { if case .overBudget(["app", "pane", "text"], _, 1000) = $0 { true } else { false } })
  }

  @Test func `a value of an older version is migrated`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in try scope.setValue(12, forKey: "width") }
    try await launch(bench) { (scope, _) async throws in
      let width = try scope.value(ofType: SessionTests.Width.self, forKey: "width")
      #expect(width == SessionTests.Width(points: 12))
    }
  }

  @Test func `an unread value of a later version is forgotten`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in try scope.setValue(SessionTests.Width(points: 5), forKey: "width") }
    try await launch(bench) { scope, _ in scope.removeValue(forKey: "width") }
    try await launch(bench) { (scope, _) async throws in
      #expect(try scope.value(ofType: SessionTests.Width.self, forKey: "width") == nil)
    }
  }
}
