import StateRestoration
import Testing

/// Who exists and is made anew by the factory of its class stands in the hierarchy once: the new object in place of the old.
@MainActor @Suite struct ReplacingTests {
  enum Kind: CaseIterable {
    case tabs, stack, split, window, presented

    /// A container with what the program shows at launch.
    @MainActor func makeContainer() -> ContainerController {
      let (home, doc) = (Screen("home", tag: "screen"), Screen("doc", tag: "screen"))
      switch self {
      case .tabs: return TabController("root", tabs: [home, doc])
      case .stack:
        let stack = NavigationController("root", root: home)
        stack.push(doc)
        return stack
      case .split: return SplitController("root", primary: home, secondary: doc)
      case .window: return WindowController("root", content: doc)
      case .presented:
        let window = WindowController("root", content: home)
        window.present(doc)
        return window
      }
    }
  }

  enum Occasion: CaseIterable {
    case launch, running, unlock, unlockAfterTyping
  }

  private func launch(_ bench: Bench) -> RestorationCoordinator {
    bench.launch { $0.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") } }
  }

  @Test(arguments: Kind.allCases, Occasion.allCases)
  func `what exists and is made anew is there once`(kind: Kind, occasion: Occasion) async throws {
    let bench = Bench()
    var coordinator = launch(bench)
    var container = kind.makeContainer()
    let names = container.restorationChildren.map(\.restoration.identifier)
    (container.restorationChildren.last as? Screen)?.text = "stored"
    _ = try await coordinator.preserve(container)
    if occasion != .running {
      coordinator = launch(bench)
      container = kind.makeContainer()
    }
    let old = try #require(container.restorationChildren.last as? Screen)
    if occasion == .unlock || occasion == .unlockAfterTyping {
      try await bench.lock()
      #expect(try await coordinator.restore(into: container).outcome == .locked)
      for _ in 0..<5 { await Task.yield() }
      if occasion == .unlockAfterTyping { old.text = "typed while locked" }
      try await bench.unlock(coordinator)
    } else {
      _ = try await coordinator.restore(into: container)
    }
    for launch in 0..<3 {
      #expect(container.restorationChildren.map(\.restoration.identifier) == names)
      let new = try #require(container.restorationChildren.last as? Screen)
      #expect(new.text == (occasion == .unlockAfterTyping ? "typed while locked" : "stored"))
      // What was edited while locked is in use.
      #expect(launch > 0 || (new === old) == (occasion == .unlockAfterTyping))
      _ = try await coordinator.preserve(container)
      if occasion != .running { container = kind.makeContainer() }
      coordinator = self.launch(bench)
      _ = try await coordinator.restore(into: container)
    }
  }

  @Test func `the selected tab that is made anew stays selected`() {
    let (home, doc, new) = (LeafController("home"), LeafController("doc"), LeafController("doc"))
    let tabs = TabController("tabs", tabs: [home, doc])
    tabs.select(1)
    tabs.installRestoredChildren([child("home", nil), child("doc", new)])
    #expect(tabs.tabs.count == 2 && tabs.tabs.first === home)
    #expect(tabs.selected === new)
    tabs.installRestoredChildren([child("doc", LeafController("doc")), child("home", LeafController("home"))])
    #expect(tabs.tabs.map(\.restoration.identifier) == ["doc", "home"])
    #expect(tabs.selectedIndex == 0)
  }

  @Test func `of two tabs with one identifier only the first makes room`() {
    let (first, second, new) = (LeafController("doc"), LeafController("doc"), LeafController("doc"))
    let tabs = TabController("tabs", tabs: [first, second])
    tabs.select(1)
    tabs.installRestoredChildren([child("doc", first)])
    #expect(tabs.tabs.count == 2 && tabs.tabs.first === first && tabs.selected === second)
    tabs.installRestoredChildren([child("doc", new)])
    #expect(tabs.tabs.count == 2 && tabs.tabs.first === new && tabs.selected === second)
  }

  @Test(arguments: [false, true])
  func `who comes into one column has left the other`(isMade: Bool) {
    let (old, other) = (LeafController("doc"), LeafController("list"))
    let restored = isMade ? LeafController("doc") : old
    let split = SplitController("split", primary: old)
    split.installRestoredChildren([child("doc", restored, role: .secondary)])
    #expect(split.primary == nil && split.secondary === restored)
    let back = isMade ? LeafController("doc") : restored
    split.installRestoredChildren([child("doc", back, role: .primary)])
    #expect(split.primary === back && split.secondary == nil)
    split.secondary = other
    let again = isMade ? LeafController("doc") : back
    split.installRestoredChildren([child("list", other, role: .primary), child("doc", again, role: .secondary)])
    #expect(split.primary === other && split.secondary === again)
  }

  @Test(arguments: [Kind.tabs, .stack, .split, .window], [false, true])
  func `who was presented and is contained by now stays contained, also when it is made anew`(
    kind: Kind, isMade: Bool
  ) throws {
    let container = kind.makeContainer()
    let names = container.restorationChildren.map(\.restoration.identifier)
    let doc = try #require(container.restorationChildren.last as? Screen)
    let restored = isMade ? Screen("doc") : doc
    var children = [RestoredChild(path: ["root", "doc"], role: .presented, controller: restored)]
    if kind != .window { children.insert(child("home", container.restorationChildren[0], role: .primary), at: 0) }
    container.installRestoredChildren(children)
    #expect(container.presentedController == nil)
    #expect(container.restorationChildren.map(\.restoration.identifier) == names)
    #expect(container.restorationChildren.last === restored)
  }

  @Test(arguments: [Kind.tabs, .stack, .split, .window], [false, true])
  func `who is presented and comes back contained is presented no more`(kind: Kind, isMade: Bool) throws {
    let home = Screen("home")
    let dialog = PresentationTests.Sheet()
    let restored: any RestorableController = isMade ? PresentationTests.Sheet() : dialog
    let container: ContainerController =
      switch kind {
      case .tabs: TabController("root", tabs: [home])
      case .stack: NavigationController("root", root: home)
      case .split: SplitController("root", primary: home)
      default: WindowController("root")
      }
    container.present(dialog)
    var children = [child("rename", restored, role: kind == .split ? .secondary : nil)]
    if kind != .window { children.insert(child("home", home, role: .primary), at: 0) }
    container.installRestoredChildren(children)
    #expect(container.presentedController == nil && dialog.presentation == nil)
    #expect(container.restorationChildren.map(\.restoration.identifier).last == "rename")
    #expect(container.restorationChildren.last === restored)
    #expect(container.restorationChildren.count == children.count)
  }
}
