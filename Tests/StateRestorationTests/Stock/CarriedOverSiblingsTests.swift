import StateRestoration
import Testing

/// What the user had last wins over what an earlier run has left behind, wherever there is room for one only.
@MainActor @Suite struct CarriedOverSiblingsTests {
  /// Where a container has room for one.
  enum Place: CaseIterable {
    case content, column, presented

    @MainActor func makeContainer() -> ContainerController {
      switch self {
      case .content: WindowController("root")
      case .column: SplitController("root")
      case .presented: ContainerController("root")
      }
    }

    @MainActor func show(_ screen: any RestorableController, in container: ContainerController) {
      switch container {
      case let window as WindowController: window.content = screen
      case let split as SplitController: split.secondary = screen
      default: container.present(screen)
      }
    }

    @MainActor func shown(in container: ContainerController) -> (any RestorableController)? {
      switch container {
      case let window as WindowController: window.content
      case let split as SplitController: split.secondary
      default: container.presentedController
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `what the user had last is shown, not what could not be made before`(place: Place) async throws {
    let bench = Bench()
    let first = place.makeContainer()
    place.show(Screen("a", text: "a"), in: first)
    try await bench.preserve(first)
    let second = place.makeContainer()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: second)
    #expect(place.shown(in: second) == nil)
    bench.delegate.make = { path, _ in Screen(path.last) }
    place.show(Screen("b", text: "b"), in: second)
    #expect(try await coordinator.preserve(second).receipt != nil)
    for _ in 0..<3 {
      let again = place.makeContainer()
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: again)
      let shown = try #require(place.shown(in: again) as? Screen)
      #expect(shown.restoration.identifier == "b" && shown.text == "b")
      #expect(report[["root", "a"]]?.notRestoredReason == .notInstalled)
      _ = try await coordinator.preserve(again)
    }
  }

  @Test func `a run that can't make the selected tab leaves it selected for the next one`() async throws {
    let bench = Bench()
    func tabs() -> TabController { TabController("root", tabs: [Screen("a")]) }
    let first = tabs()
    first.setTabs(first.tabs + [Screen("b")])
    first.select(1)
    try await bench.preserve(first)
    let second = tabs()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: second)
    #expect(second.selected?.restoration.identifier == "a")
    _ = try await coordinator.preserve(second)
    bench.delegate.make = { path, _ in Screen(path.last) }
    let third = tabs()
    _ = try await bench.launch().restore(into: third)
    #expect(third.selected?.restoration.identifier == "b")
  }

  @Test func `a carried-over controller waits while the one that it stood on has another identifier`() async throws {
    let bench = Bench()
    func makeStack(_ bottom: Screen) -> NavigationController {
      NavigationController("root", root: bottom)
    }
    let first = makeStack(Screen("a"))
    first.push(Screen("b", text: "b"))
    try await bench.preserve(first)
    for (name, next) in [("a", "renamed"), ("renamed", "a")] as [(RestorationIdentifier, RestorationIdentifier)] {
      let bottom = Screen(name)
      let stack = makeStack(bottom)
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: stack)
      #expect(stack.stack.count == 1)
      #expect(report[["root", "b"]]?.notRestoredReason == (name == "a" ? .noObject : .notInstalled))
      bench.delegate.make = { path, _ in path.last == "b" ? Screen("b") : nil }
      bottom.restoration.identifier = next
      _ = try await coordinator.preserve(stack)
    }
    let last = makeStack(Screen("a"))
    _ = try await bench.launch().restore(into: last)
    #expect((last.top as? Screen)?.text == "b")
  }

  @Test(arguments: Place.allCases)
  func `what could not be made once comes back when the user has shown nothing else`(place: Place) async throws {
    let bench = Bench()
    let first = place.makeContainer()
    place.show(Screen("a", text: "a"), in: first)
    try await bench.preserve(first)
    let second = bench.launch()
    let without = place.makeContainer()
    _ = try await second.restore(into: without)
    _ = try await second.preserve(without)
    bench.delegate.make = { path, _ in Screen(path.last) }
    for _ in 0..<2 {
      let again = place.makeContainer()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: again)
      #expect((place.shown(in: again) as? Screen)?.text == "a")
      _ = try await coordinator.preserve(again)
      #expect(try bench.newestReader().node(at: ["root", "a"])?.attributes.flags.contains(.carriedOver) == false)
    }
  }

  @Test(arguments: Place.allCases)
  func `what was left out after a crash comes back when it is asked for`(place: Place) async throws {
    let bench = Bench()
    let first = place.makeContainer()
    place.show(Screen("a", text: "a"), in: first)
    try await bench.preserve(first)
    bench.delegate.make = { path, _ in Screen(path.last) }
    try await bench.die(at: ["root", "a"])
    let coordinator = bench.launch()
    let second = place.makeContainer()
    _ = try await coordinator.restore(into: second)
    place.show(Screen("b", text: "b"), in: second)
    _ = try await coordinator.preserve(second)
    _ = try await coordinator.restore(into: second, retriesLeftOut: true)
    #expect((place.shown(in: second) as? Screen)?.text == "a")
  }

  @Test func `a stack comes back as it was left, without what could not be made before`() async throws {
    let bench = Bench()
    var refused: Set<RestorationIdentifier> = []
    bench.delegate.make = { path, _ in path.last.flatMap { refused.contains($0) ? nil : Screen($0) } }
    func stack() -> NavigationController {
      NavigationController("nav", root: Screen("list"))
    }
    let first = stack()
    for name in ["a", "b"] as [RestorationIdentifier] { first.push(Screen(name, text: name.rawValue)) }
    try await bench.preserve(first)
    refused = ["a"]
    let second = bench.launch()
    let shorter = stack()
    _ = try await second.restore(into: shorter)
    shorter.push(Screen("c", text: "c"))
    _ = try await second.preserve(shorter)
    refused = []
    for _ in 0..<3 {
      let again = stack()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: again)
      #expect(again.stack.map(\.restoration.identifier) == ["list", "c"])
      #expect((again.top as? Screen)?.text == "c")
      _ = try await coordinator.preserve(again)
    }
  }

  @Test func `a stack that the user has left where it had to end comes back whole`() async throws {
    let bench = Bench()
    var refused: Set<RestorationIdentifier> = []
    bench.delegate.make = { path, _ in path.last.flatMap { refused.contains($0) ? nil : Screen($0) } }
    let first = NavigationController("nav", root: Screen("list"))
    for name in ["a", "b", "c"] as [RestorationIdentifier] { first.push(Screen(name, text: name.rawValue)) }
    try await bench.preserve(first)
    for missing in [["b"], ["a", "c"], []] as [Set<RestorationIdentifier>] {
      refused = missing
      let coordinator = bench.launch()
      let again = NavigationController("nav", root: Screen("list"))
      _ = try await coordinator.restore(into: again)
      #expect(again.stack.count == (missing == ["b"] ? 2 : missing.isEmpty ? 4 : 1))
      _ = try await coordinator.preserve(again)
    }
    refused = []
    let whole = NavigationController("nav", root: Screen("list"))
    _ = try await bench.launch().restore(into: whole)
    #expect(whole.stack.map { ($0 as? Screen)?.text } == ["", "a", "b", "c"])
  }

  @Test func `a tab that was not made in the last run comes back beside the others`() async throws {
    let bench = Bench()
    func tabs(_ names: [RestorationIdentifier]) -> TabController {
      TabController("tabs", tabs: names.map { Screen($0, text: $0.rawValue) })
    }
    try await bench.preserve(tabs(["a", "hidden"]))
    let second = bench.launch()
    let without = tabs(["a"])
    _ = try await second.restore(into: without)
    _ = try await second.preserve(without)
    bench.delegate.make = { path, _ in Screen(path.last) }
    let again = tabs([])
    _ = try await bench.launch().restore(into: again)
    #expect(again.tabs.map { ($0 as? Screen)?.text } == ["a", "hidden"])
  }
}
