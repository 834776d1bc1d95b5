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
    let root = RestorationScope("root", page, scope)
    _ = try await coordinator.restore(into: root)
    try await body(scope, page, coordinator)
    _ = try await coordinator.preserve(root)
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `a key that is read as another type gives its value in the same turn`(
    isRestoring: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await launch(bench) { (scope, page, _) async throws in
      page.text = "a page"
      try scope.setValue(["swift"], forKey: "tags")
    }
    let coordinator = bench.launch()
    let (scope, page) = (RestorationScope(), Screen("page"))
    let root = RestorationScope("root", page, scope)
    _ = try await coordinator.restore(into: root)
    func readTwice() {
      let failure = #expect(throws: RestorationError.self) {
        try scope.value(ofType: [String: Int].self, forKey: "tags")
      }
      #expect(failure?.code == .unreadable)
      #expect(scope.value("tags", default: []).value == ["swift"])
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
    try await launch(bench) { scope, _, _ in #expect(scope.value("tags", default: []).value == ["swift"]) }
  }

  @Test(arguments: [false, true])
  func `a scope that is forgotten and used again begins empty`(wasUsed: Bool) async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _, _) async throws in
      for key in ["tab", "zoom"] { try scope.scope("pane").setValue(1, forKey: key) }
    }
    try await launch(bench) { (scope, _, _) async throws in
      if wasUsed { #expect(scope.scope("pane").value("zoom", default: 0).value == 1) }
      scope.removeValue(forKey: "pane")
      #expect(scope.scope("pane").value("zoom", default: 0).value == 0)
      try scope.scope("pane").setValue(2, forKey: "tab")
    }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.scope("pane").value("tab", default: 0).value == 2)
      #expect(scope.scope("pane").value("zoom", default: 0).value == 0)
    }
  }

  @Test func `a key that is read as a value leaves the scope of that name`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _, _ in try scope.scope("pane").setValue("inner", forKey: "tab") }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.value("pane", default: 0).value == 0)
      try scope.setValue(1, forKey: "other")
    }
    try await launch(bench) { (scope, _, _) async throws in
      #expect(scope.scope("pane").value("tab", default: "").value == "inner")
    }
  }

  @Test func `a value that is set after the time for late objects is saved`() async throws {
    let bench = Bench()
    func root(_ scope: any RestorableController) -> Screen { Screen("root", children: [scope]) }
    let former = RestorationScope("scope")
    try former.setValue("old", forKey: "draft")
    try await bench.preserve(root(former))
    let coordinator = bench.launch()
    let scope = RestorationScope("scope")
    let hierarchy = root(scope)
    try await bench.restorePastTimeLimit(coordinator, into: hierarchy)
    try scope.setValue("new", forKey: "draft")
    _ = try await coordinator.preserve(hierarchy)
    let (last, again) = (bench.launch(), RestorationScope("scope"))
    _ = try await last.restore(into: root(again))
    #expect(again.value("draft", default: "").value == "new")
  }

  @Test func `a value of a scope whose screen came too late is not missing, and stays`() async throws {
    let bench = Bench()
    func screen() -> (screen: Screen, scope: RestorationScope) {
      let scope = RestorationScope("scope")
      return (Screen("screen", children: [scope]), scope)
    }
    let stored = screen()
    try stored.scope.setValue("old", forKey: "draft")
    try await bench.preserve(Screen("root", children: [stored.screen]))
    let (coordinator, root, late) = (bench.launch(), Screen("root"), screen())
    try await bench.restorePastTimeLimit(coordinator, into: root)
    root.restorationChildren = [late.screen]
    #expect(coordinator.restore(late.screen, at: ["root", "screen"])?.notRestoredReason == .timedOut)
    await coordinator.endTurn()
    for _ in 0..<2 {
      let error = #expect(throws: RestorationError.self) {
        try late.scope.value(ofType: String.self, forKey: "draft")
      }
      #expect(error?.code == .unreadable && error?.path == ["root", "screen", "scope", "draft"])
      _ = try await coordinator.preserve(root)
    }
    let (last, again) = (bench.launch(), screen())
    _ = try await last.restore(into: Screen("root", children: [again.screen]))
    #expect(again.scope.value("draft", default: "").value == "old")
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
      let inner = { name.isEmpty ? scope : scope.scope(name) }
      switch below(12) {
      case 0...2:
        try inner().setValue(step, forKey: key)
        expected[name + key] = step
      case 3 where !isLocked:
        inner().removeValue(forKey: key)
        expected[name + key] = nil
      case 4 where !isLocked:
        #expect(inner().value(key, default: 0).value == expected[name + key] ?? 0, "step \(step)")
      case 5...7 where !isLocked:
        #expect(try inner().value(ofType: Int.self, forKey: key) == expected[name + key], "step \(step)")
      case 8 where !isLocked && !name.isEmpty:
        scope.removeValue(forKey: name)
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
