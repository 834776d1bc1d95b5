import StateRestoration
import Testing

/// State that this run has saved, given back to the hierarchy that runs: what has come since goes.
@MainActor @Suite struct TimeTravelTests {
  /// A window with tabs: a split with a stack in its first column, and a screen.
  @MainActor private struct Hierarchy {
    let stack = NavigationController(restorationIdentifier: "stack")
    let split = SplitController(restorationIdentifier: "split")
    let tabs = TabController(restorationIdentifier: "tabs")
    let window = WindowController(restorationIdentifier: "window")

    init() {
      split.primary = stack
      tabs.setTabs([split, Screen("other")])
      window.content = tabs
    }

    var children: [[RestorationIdentifier?]] {
      [stack, split, tabs, window].map { $0.restorationChildren.map(\.restorationIdentifier) }
    }
  }

  /// Puts something into every container, and edits what was there.
  private func add(to hierarchy: Hierarchy) {
    (hierarchy.stack.stack.first as? Screen)?.text = "after"
    hierarchy.stack.push(Screen("note"))
    hierarchy.stack.present(Screen("sheet"))
    hierarchy.split.secondary = Screen("side")
    hierarchy.tabs.setTabs(hierarchy.tabs.tabs + [Screen("added")])
    hierarchy.tabs.select(2)
  }

  @Test(arguments: StoreKind.allCases)
  func `what was pushed, presented, opened and added since the state was saved goes`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let hierarchy = Hierarchy()
    hierarchy.stack.push(Screen("home", text: "before"))
    let coordinator = bench.launch()
    // Of the generation before the newest, a save has seen what came; it is in memory that one can be had.
    for source in [RestorationSource.newest, .newest, .olderGeneration] where kind == .memory || source == .newest {
      _ = try await coordinator.preserve(hierarchy.window)
      let before = hierarchy.children
      add(to: hierarchy)
      if source == .olderGeneration { try await bench.compact(coordinator, hierarchy.window) }
      #expect(try await coordinator.restore(into: hierarchy.window, from: source).outcome == .restored)
      #expect(hierarchy.children == before)
      #expect(hierarchy.tabs.selectedIndex == 0)
      #expect((hierarchy.stack.top as? Screen)?.text == "before")
    }
    _ = try await coordinator.preserve(hierarchy.window)
    let next = Hierarchy()
    next.stack.push(Screen("home"))
    let report = try await bench.launch().restore(into: next.window)
    #expect(report.nodes.filter { !$0.isRestored }.isEmpty)
  }

  @Test func `a save that finds nothing changed is a moment to go back to`() async throws {
    let bench = Bench()
    try await bench.preserve(Hierarchy().window)
    let hierarchy = Hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy.window)
    let before = hierarchy.children
    guard case .unchanged = try await coordinator.preserve(hierarchy.window) else {
      Issue.record("something was saved")
      return
    }
    hierarchy.stack.present(Screen("sheet"))
    _ = try await coordinator.restore(into: hierarchy.window)
    #expect(hierarchy.children == before)
  }

  @Test(arguments: [false, true])
  func `what another process has saved, or another hierarchy shows, takes nothing away`(isOther: Bool) async throws {
    let bench = Bench()
    let (mine, theirs) = (Hierarchy(), Hierarchy())
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(mine.window)
    if !isOther {
      let other = bench.launch()
      _ = try await other.restore(into: theirs.window)
      theirs.window.isFullScreen = true
      _ = try await other.preserve(theirs.window)
    }
    let shown = isOther ? Hierarchy() : mine
    shown.stack.present(Screen("sheet"))
    let before = shown.children
    #expect(try await coordinator.restore(into: shown.window).outcome == .restored)
    #expect(shown.children == before)
  }

  @Test(arguments: [false, true])
  func `a look that nobody asked for is none, nor is a save of another hierarchy`(isOther: Bool) async throws {
    let bench = Bench()
    let shown = Hierarchy()
    try await bench.preserve(Hierarchy().window)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: shown.window)
    if isOther {
      shown.window.isFullScreen = true
      _ = try await coordinator.preserve(shown.window)
      bench.delegate.saves = false
    } else {
      coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(3600))
      await bench.delegate.nextEvent()
    }
    let built = isOther ? Hierarchy() : shown
    built.stack.present(Screen("built"))
    let before = built.children
    if isOther { #expect(try await coordinator.preserve(built.window) == .declined) }
    for _ in 0..<2 {
      _ = try await coordinator.restore(into: built.window)
      #expect(built.children == before)
    }
  }

  @Test func `containers become empty again`() async throws {
    let bench = Bench()
    let hierarchy = Hierarchy()
    hierarchy.window.content = nil
    let outside = NavigationController(restorationIdentifier: "outside")
    let root = Screen("root", children: [hierarchy.window, outside])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    hierarchy.window.content = hierarchy.tabs
    outside.push(Screen("home"))
    _ = try await coordinator.restore(into: root)
    #expect(hierarchy.window.content == nil)
    #expect(outside.stack.isEmpty)
  }

  @Test func `what comes after that stays, whoever registers late`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("shown"), Screen("lazy", text: "lazy")]))
    let root = Screen("root", children: [Screen("shown")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.text = "saved"
    _ = try await coordinator.preserve(root)
    root.restorationChildren.append(Screen("gone"))
    _ = try await coordinator.restore(into: root)
    // An own container gives nothing up unless it says how.
    #expect(root["gone"] != nil)
    let stack = NavigationController(restorationIdentifier: "stack")
    root.restorationChildren = [root.restorationChildren[0], stack]
    _ = try await coordinator.preserve(root)
    stack.push(Screen("typed"))
    _ = try await coordinator.restore(into: root)
    #expect(stack.stack.isEmpty)
    stack.push(Screen("typed", text: "typed"))
    _ = try await coordinator.preserve(root)
    let lazy = Screen("lazy")
    root.restorationChildren.append(lazy)
    #expect(coordinator.register(lazy, at: ["root", "lazy"])?.isRestored == true)
    #expect(stack.stack.count == 1)
    _ = try await coordinator.preserve(root)
    let again = NavigationController(restorationIdentifier: "stack")
    again.push(Screen("typed"))
    _ = try await bench.launch().restore(into: Screen("root", children: [Screen("shown"), again, Screen("lazy")]))
    #expect((again.top as? Screen)?.text == "typed")
  }

  @Test func `what a launch has built stays, and so does what has only moved`() async throws {
    let bench = Bench()
    let saved = Hierarchy()
    try await bench.preserve(saved.window)
    let hierarchy = Hierarchy()
    hierarchy.tabs.setTabs(hierarchy.tabs.tabs + [Screen("new in this version")])
    hierarchy.stack.present(Screen("welcome"))
    let before = hierarchy.children
    let coordinator = bench.launch()
    for _ in 0..<2 {
      // The second time the state is still that of the run before.
      _ = try await coordinator.restore(into: hierarchy.window)
      #expect(hierarchy.children == before)
    }
    _ = try await coordinator.preserve(hierarchy.window)
    let other = try #require(hierarchy.tabs.tabs.first { $0.restorationIdentifier == "other" })
    hierarchy.tabs.setTabs(hierarchy.tabs.tabs.filter { $0 !== other })
    hierarchy.split.secondary = other
    _ = try await coordinator.restore(into: hierarchy.window)
    #expect(hierarchy.split.secondary === other)
  }
}
