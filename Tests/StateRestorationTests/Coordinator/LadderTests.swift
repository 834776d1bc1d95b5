import FoundationEssentials
import StateRestoration
import Testing

/// R2.4–R2.6: who gives the object of a path, what containers get, and which object gets the state.
@MainActor @Suite struct LadderTests {
  /// Preserves a root with one child of a tag.
  func preserved(tag: RestorationIdentity.ClassTag?, on kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("child", text: "kept", tag: tag)]))
    return bench
  }

  func makeChild(_ path: RestorationPath, _ text: String) -> Screen {
    let screen = Screen(path.last, tag: "screen")
    screen.restorableState.number = text.count
    return screen
  }

  @Test(arguments: StoreKind.allCases)
  func `the restoration class is asked before delegate, existing object and blueprint`(on kind: StoreKind) async throws
  {
    let bench = try await preserved(tag: "screen", on: kind)
    bench.delegate.make = { path, _ in Screen(path.last, tag: "screen") }
    let existing = Screen("child", tag: "screen")
    let root = Screen("root", children: [existing])
    let report = try await bench.launch {
      $0.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") }
      $0.registerBlueprint("child") { path, _ in Screen(path.last, tag: "screen") }
    }.restore(into: root)
    #expect(report[["root", "child"]]?.result == .restored(.restorationClass))
    #expect(root["child"] !== existing)
    #expect(root["child"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `nil from the restoration class is final and names the class`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: "screen", on: kind)
    bench.delegate.make = { path, _ in Screen(path.last, tag: "screen") }
    let root = Screen("root", children: [Screen("child", tag: "screen")])
    let report = try await bench.launch { $0.register(Screen.self, as: "screen") { _, _ in nil } }.restore(into: root)
    #expect(report[["root", "child"]]?.notRestoredReason == .refusedByClass("screen"))
    #expect(root["child"]?.text == "")
  }

  @Test(arguments: StoreKind.allCases)
  func `the delegate is asked before the existing object`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: nil, on: kind)
    bench.delegate.make = { path, _ in path == ["root", "child"] ? Screen(path.last) : nil }
    let existing = Screen("child")
    let root = Screen("root", children: [existing])
    let report = try await bench.launch().restore(into: root)
    #expect(report[["root", "child"]]?.result == .restored(.delegate))
    #expect(existing.text == "")
    #expect(root["child"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `an existing object is taken before a blueprint`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: nil, on: kind)
    let root = Screen("root", children: [Screen("child")])
    let report = try await bench.launch { $0.registerBlueprint("child") { path, _ in Screen(path.last) } }
      .restore(into: root)
    #expect(report[["root", "child"]]?.result == .restored(.existing))
    #expect(root["child"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `a blueprint makes what nobody else gave`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: nil, on: kind)
    let root = Screen("root")
    let report = try await bench.launch { $0.registerBlueprint("child") { path, _ in Screen(path.last) } }
      .restore(into: root)
    #expect(report[["root", "child"]]?.result == .restored(.blueprint))
    #expect(root["child"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `a subtree that nobody gives an object for is not restored and the report says why`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("child", children: [Screen("below")])]))
    let report = try await bench.launch().restore(into: Screen("root"))
    #expect(report[["root", "child"]]?.notRestoredReason == .noObject)
    #expect(report[["root", "child", "below"]]?.notRestoredReason == .parentNotRestored)
  }

  @Test(arguments: StoreKind.allCases)
  func `an unknown tag goes on down the ladder to the delegate`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: "from another version", on: kind)
    bench.delegate.make = { path, _ in Screen(path.last, tag: "from another version") }
    let root = Screen("root")
    let report = try await bench.launch().restore(into: root)
    #expect(report[["root", "child"]]?.result == .restored(.delegate))
    #expect(report[["root", "child"]]?.remarks == [.unregisteredClass("from another version")])
    bench.delegate.make = { _, _ in nil }
    let other = try await bench.launch().restore(into: Screen("root"))
    #expect(other[["root", "child"]]?.notRestoredReason == .unknownClass("from another version"))
  }

  @Test(arguments: StoreKind.allCases)
  func `containers get all children, the failed ones as nil, parents first and before any decoding`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen(
        "root", text: "r",
        children: [Screen("a", text: "a", children: [Screen("b", text: "b")]), Screen("gone"), Screen("c", text: "c")]))
    var order: [String] = []
    bench.delegate.make = { path, _ in
      guard path.last != "gone" else { return nil }
      order.append("make \(path.last?.rawValue ?? "")")
      return Screen(path.last)
    }
    let root = Screen("root")
    _ = try await bench.launch().restore(into: root)
    #expect(root.installed.map(\.identifier) == ["a", "gone", "c"])
    #expect(root.installed.map { $0.controller == nil } == [false, true, false])
    #expect(root["a"]?.installed.map(\.identifier) == ["b"])
    #expect(order == ["make a", "make b", "make c"])
    #expect(root["a"]?["b"]?.text == "b")
  }

  @Test(arguments: StoreKind.allCases)
  func `a made object that its container does not take is reported and its state kept`(on kind: StoreKind) async throws
  {
    let bench = try await preserved(tag: nil, on: kind)
    bench.delegate.make = { path, _ in Screen(path.last) }
    let root = Screen("root")
    root.takesChildren = false
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "child"]]?.notRestoredReason == .notInstalled)
    root.text = "changed"
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("child")])
    bench.delegate.make = { _, _ in nil }
    _ = try await bench.launch().restore(into: again)
    #expect(again["child"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `an object of another class than the recorded one is not given the state`(on kind: StoreKind) async throws {
    let bench = try await preserved(tag: "screen", on: kind)
    bench.delegate.make = { path, _ in Panel(path.last) }
    let root = Screen("root")
    let report = try await bench.launch { $0.register(Screen.self, as: "screen") }.restore(into: root)
    #expect(report[["root", "child"]]?.notRestoredReason == .classMismatch(recorded: "screen", found: "Panel"))
  }

  @Test(arguments: [0, 1, 2])
  func `an object that is given for another path than its own is not used there, and the state stays`(maker: Int)
    async throws
  {
    let bench = Bench()
    func stack(_ screens: [Screen]) -> NavigationController {
      let stack = NavigationController("stack")
      stack.setStack(screens)
      return stack
    }
    let tag: RestorationIdentity.ClassTag? = maker == 1 ? "screen" : nil
    try await bench.preserve(stack([Screen("old", text: "1", tag: tag), Screen("new", text: "2", tag: tag)]))
    let only = Screen("old", tag: tag)
    if maker != 1 { bench.delegate.make = { _, _ in only } }
    // In the last case the object is there already, where it has a place of its own.
    let root = stack(maker == 2 ? [only] : [])
    let coordinator = bench.launch { $0.register(Screen.self, as: "screen") { _, _ in only } }
    let report = try await coordinator.restore(into: root)
    #expect(root.stack.map { $0 === only } == [true])
    #expect(only.text == "1")
    #expect(report[["stack", "new"]]?.notRestoredReason == .otherIdentifier("old"))
    only.text = "3"
    _ = try await coordinator.preserve(root)
    bench.delegate.make = { _, _ in nil }
    let next = stack([Screen("old", tag: tag), Screen("new", tag: tag)])
    _ = try await bench.launch().restore(into: next)
    #expect(next.stack.map { ($0 as? Screen)?.text } == ["3", "2"])
  }

  final class WidePanel: Panel {}

  @Test(arguments: StoreKind.allCases)
  func `an object of a subclass of the recorded class is given the state`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let panel = Panel("child", value: 9)
    panel.tag = "panel"
    try await bench.preserve(Screen("root", children: [panel]))
    let wide = WidePanel("child")
    let report = try await bench.launch { $0.register(Panel.self, as: "panel") }
      .restore(into: Screen("root", children: [wide]))
    #expect(wide.value == 9)
    #expect(report[["root", "child"]]?.isRestored == true)
  }

  @Test(arguments: StoreKind.allCases)
  func `a tag inherited by an unregistered subclass is named when it is preserved`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let wide = WidePanel("child")
    wide.tag = "panel"
    let coordinator = bench.launch { $0.register(Panel.self, as: "panel") }
    let receipt = try await coordinator.preserve(Screen("root", children: [wide])).receipt
    #expect(
      receipt?.findings
        == [.inheritedTag(path: ["root", "child"], tag: "panel", registered: "Panel", found: "WidePanel")])
  }
}
