import SeededRandom
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

/// What a scope is asked while a save asks it, and several times in one turn.
@MainActor @Suite(.tags(.threads)) struct ScopeTurnTests {
  /// Runs a launch of a program that is a page and a scope.
  private func launch(
    _ bench: Bench, _ body: (RestorationScope, Screen, RestorationCoordinator) async throws -> Void
  ) async throws {
    let coordinator = bench.launch()
    let (scope, page) = (RestorationScope(), Screen("page"))
    let root = StoredGroup("root", page, scope)
    _ = try await coordinator.restore(into: root)
    try await body(scope, page, coordinator)
    _ = try await coordinator.preserve(root)
  }

  @Test func `a provider may read a key that has another type now`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _, _ in scope.setValue("12", forKey: "zoom") }
    try await launch(bench) { (scope, page, coordinator) async throws in
      scope.provide(forKey: "percent") { [unowned scope] in scope.value(forKey: "zoom", default: 1.0) * 100 }
      for number in 1...3 {
        scope.setValue(number, forKey: "draft")
        page.text = "typed \(number)"
        #expect(try await coordinator.preserve().receipt?.changedNodes ?? 0 >= 2)
      }
    }
    try await launch(bench) { (scope, page, _) async throws in
      #expect(scope.value(forKey: "draft", default: 0) == 3)
      #expect(scope.value(forKey: "zoom", default: "") == "12")
      #expect(page.text == "typed 3")
    }
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `a key that is read as another type gives its value in the same turn`(
    isRestoring: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await launch(bench) { (scope, page, _) async throws in
      page.text = "a page"
      scope.setValue(["swift"], forKey: "tags")
    }
    let coordinator = bench.launch()
    let (scope, page) = (RestorationScope(), Screen("page"))
    let root = StoredGroup("root", page, scope)
    _ = try await coordinator.restore(into: root)
    func readTwice() {
      let failure = #expect(throws: RestorationError.self) {
        try scope.value(ofType: [String: Int].self, forKey: "tags")
      }
      #expect(failure?.code == .unreadable)
      #expect(scope.value(forKey: "tags", default: []) == ["swift"])
    }
    if isRestoring {
      page.onFinish = readTwice
      _ = try await coordinator.restore(into: root)
      #expect(page.finishedCount == 2)
    } else {
      readTwice()
    }
    #expect(coordinator.lastReport?[["root", "scope", "tags"]]?.isRestored == true)
    _ = try await coordinator.preserve(root)
    try await launch(bench) { scope, _, _ in #expect(scope.value(forKey: "tags", default: []) == ["swift"]) }
  }

  @Test(arguments: StoreKind.allCases)
  func `a provider may open a scope while the device is locked`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await launch(bench) { scope, _, _ in scope.setValue("stored", forKey: "draft") }
    try await bench.lock()
    try await launch(bench) { (scope, _, coordinator) async throws in
      await coordinator.endTurn()
      scope.provide(forKey: "percent") { [unowned scope] in
        scope.scope("pane").value(forKey: "zoom", default: 1.0) * 100
      }
      for draft in ["typed", "typed more"] {
        scope.setValue(draft, forKey: "draft")
        _ = try await coordinator.preserve()
      }
    }
    try await bench.unlock()
    try await launch(bench) { scope, _, _ in #expect(scope.value(forKey: "draft", default: "") == "typed more") }
  }

  @Test(arguments: [false, true])
  func `a scope that is forgotten and used again begins empty`(wasUsed: Bool) async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _, _) async throws in
      for key in ["tab", "zoom"] as [RestorationIdentifier] { scope.scope("pane").setValue(1, forKey: key) }
    }
    try await launch(bench) { (scope, _, _) async throws in
      if wasUsed { #expect(scope.scope("pane").value(forKey: "zoom", default: 0) == 1) }
      scope.forget("pane")
      #expect(scope.scope("pane").value(forKey: "zoom", default: 0) == 0)
      scope.scope("pane").setValue(2, forKey: "tab")
    }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.scope("pane").value(forKey: "tab", default: 0) == 2)
      #expect(scope.scope("pane").value(forKey: "zoom", default: 0) == 0)
    }
  }

  @Test func `a key that is read as a value leaves the scope of that name`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _, _ in scope.scope("pane").setValue("inner", forKey: "tab") }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.value(forKey: "pane", default: 0) == 0)
      scope.setValue(1, forKey: "other")
    }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.scope("pane").value(forKey: "tab", default: "") == "inner")
    }
  }

  @Test func `a value that is set after the time for late objects is saved`() async throws {
    let bench = Bench()
    func root(_ scope: any RestorableController) -> Screen { Screen("root", children: [scope]) }
    try await bench.preserve(root(StoredGroup("scope", StoredValue("draft", "old" as String?))))
    let coordinator = bench.launch()
    let scope = RestorationScope("scope")
    let hierarchy = root(scope)
    try await bench.restorePastTimeLimit(coordinator, into: hierarchy)
    scope.setValue("new", forKey: "draft")
    _ = try await coordinator.preserve(hierarchy)
    let (last, again) = (bench.launch(), RestorationScope("scope"))
    _ = try await last.restore(into: root(again))
    #expect(again.value(forKey: "draft", default: "") == "new")
  }

  @Test func `a value below a scope that came too late is not missing`() async throws {
    let bench = Bench()
    func root(_ scope: any RestorableController) -> Screen { Screen("root", children: [scope]) }
    let stored = RestorationScope("scope")
    stored.scope("pane").setValue("old", forKey: "draft")
    try await bench.preserve(root(stored))
    let (coordinator, scope) = (bench.launch(), RestorationScope("scope"))
    let hierarchy = root(scope)
    try await bench.restorePastTimeLimit(coordinator, into: hierarchy)
    for _ in 0..<2 {
      let error = #expect(throws: RestorationError.self) {
        try scope.scope("pane").value(ofType: String.self, forKey: "draft")
      }
      #expect(error?.code == .unreadable)
      _ = try await coordinator.preserve(hierarchy)
    }
    let (last, again) = (bench.launch(), RestorationScope("scope"))
    _ = try await last.restore(into: root(again))
    #expect(again.scope("pane").value(forKey: "draft", default: "") == "old")
  }

  /// Random scripts against a dictionary: keys of a scope and of two scopes in it, in runs that begin locked or not.
  @Test(arguments: 0..<60) func `a scope is a dictionary that outlives its runs`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed &* 15_485_863 &+ 3)
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    let bench = Bench()
    var expected: [String: Int] = [:]
    var (coordinator, scope) = (bench.launch(), RestorationScope())
    _ = try await coordinator.restore(into: scope)
    var isLocked = false
    for step in 1...60 {
      let (name, key) = (["", "p", "q"][below(3)], "k\(below(4))")
      let inner = { name.isEmpty ? scope : scope.scope(RestorationIdentifier(name)) }
      let identifier = RestorationIdentifier(key)
      switch below(12) {
      case 0...2:
        inner().setValue(step, forKey: identifier)
        expected[name + key] = step
      case 3 where !isLocked:
        inner().forget(identifier)
        expected[name + key] = nil
      case 4 where !isLocked:
        #expect(try inner().consume(Int.self, forKey: identifier) == expected[name + key], "step \(step)")
        expected[name + key] = nil
      case 5...7 where !isLocked:
        #expect(try inner().value(ofType: Int.self, forKey: identifier) == expected[name + key], "step \(step)")
      case 8 where !isLocked && !name.isEmpty:
        scope.forget(RestorationIdentifier(name))
        expected = expected.filter { !$0.key.hasPrefix(name) }
      case 9: _ = try await coordinator.preserve()
      case 10 where isLocked:
        try await bench.unlock(coordinator)
        isLocked = false
      case 11:
        _ = try await coordinator.preserve()
        if isLocked { try await bench.unlock() }
        isLocked = below(2) == 0
        if isLocked { try await bench.lock() }
        (coordinator, scope) = (bench.launch(), RestorationScope())
        _ = try await coordinator.restore(into: scope)
        await coordinator.endTurn()
      default: break
      }
    }
  }
}
