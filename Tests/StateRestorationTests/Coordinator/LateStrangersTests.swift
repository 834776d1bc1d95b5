import StateRestoration
import Testing

/// Objects that turn up after restoring where another class's or model's state lies, or below it: they are given nothing
/// of it, and take nothing of it along.
@MainActor @Suite struct LateStrangersTests {
  /// In what the two editors differ.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model
  }

  /// What becomes of the object that turned up.
  enum Fate: CaseIterable, Sendable {
    case closed, renamed, moved
  }

  private let path: RestorationPath = ["root", "editor"]

  private func editor(_ difference: Difference, _ value: String, _ children: [Screen] = []) -> Screen {
    let editor = Screen("editor", children: children)
    switch difference {
    case .tag: editor.restorationClass = RestorationClass(value)
    case .model: editor.restorationModelIdentifier = ModelIdentifier(value)
    }
    return editor
  }

  /// An editor with two pages is saved.
  private func preserved(_ difference: Difference) async throws -> Bench {
    let bench = Bench()
    let one = editor(difference, "one", [Screen("page", text: "one's page"), Screen("list", text: "one's list")])
    one.text = "one"
    try await bench.preserve(Screen("root", children: [one]))
    return bench
  }

  /// What a launch of its own gives an editor and its two pages.
  private func restored(_ bench: Bench, _ difference: Difference, _ value: String) async throws -> [String?] {
    let editor = editor(difference, value, [Screen("page"), Screen("list")])
    _ = try await bench.launch().restore(into: Screen("root", children: [editor]))
    return [editor.text, editor["page"]?.text, editor["list"]?.text]
  }

  private func befall(_ screen: Screen, _ fate: Fate, below parent: Screen, _ root: Screen) {
    switch fate {
    case .renamed: screen.restorationIdentifier = "renamed"
    case .closed, .moved:
      parent.restorationChildren.removeAll { $0 === screen }
      if fate == .moved { root["side"]?.restorationChildren = [screen] }
    }
  }

  @Test(arguments: Difference.allCases, Fate.allCases)
  func `what is registered below another one's editor takes nothing along`(
    difference: Difference, fate: Fate
  ) async throws {
    for (isSetAside, isSaved) in [(false, false), (false, true), (true, false), (true, true)] {
      let bench = try await preserved(difference)
      let two = editor(difference, "two", [Screen("list")])
      let root = Screen("root", children: [two, Screen("side")])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      if isSetAside {
        two["list"]?.text = "two's list"
        _ = try await coordinator.preserve(root)
      }
      let page = Screen("page")
      two.restorationChildren.append(page)
      let reason = coordinator.register(page, at: path.appending("page"))?.notRestoredReason
      #expect(reason == .parentNotRestored && page.text.isEmpty)
      if isSaved { _ = try await coordinator.preserve(root) }
      befall(page, fate, below: two, root)
      _ = try await coordinator.preserve(root)
      let texts = try await restored(bench, difference, "one")
      #expect(texts == ["one", "one's page", "one's list"], "\(isSetAside) \(isSaved)")
    }
  }

  @Test(arguments: Difference.allCases, Fate.allCases)
  func `what comes too late in another one's place takes nothing along`(
    difference: Difference, fate: Fate
  ) async throws {
    for isSaved in [false, true] {
      let bench = try await preserved(difference)
      let root = Screen("root", children: [Screen("side")])
      let coordinator = bench.launch()
      try await bench.restorePastTimeLimit(coordinator, into: root)
      let two = editor(difference, "two", [Screen("page")])
      root.restorationChildren.append(two)
      #expect(coordinator.register(two, at: path)?.notRestoredReason == .timedOut)
      if isSaved { _ = try await coordinator.preserve(root) }
      befall(two, fate, below: root, root)
      _ = try await coordinator.preserve(root)
      #expect(try await restored(bench, difference, "one") == ["one", "one's page", "one's list"], "\(isSaved)")
      coordinator.completeStateRestoration()
    }
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `what is typed below what came too late in another one's place lands in nobody else's`(
    difference: Difference, isDeeper: Bool
  ) async throws {
    let bench = Bench()
    let one = editor(difference, "one", [Screen("page", text: "one's page")])
    one.text = "one"
    try await bench.preserve(Screen("root", children: isDeeper ? [Screen("panel", children: [one])] : [one]))
    func launch(_ editor: Screen, isLate: Bool) async throws -> (RestorationCoordinator, Screen) {
      let panel = Screen("panel", children: [editor])
      let root = Screen("root")
      let coordinator = bench.launch()
      if isLate { try await bench.restorePastTimeLimit(coordinator, into: root) }
      root.restorationChildren = [isDeeper ? panel : editor]
      if !isLate { _ = try await coordinator.restore(into: root) }
      return (coordinator, root)
    }
    let two = editor(difference, "two", [Screen("page")])
    let (coordinator, root) = try await launch(two, isLate: true)
    let report =
      isDeeper
      ? root["panel"].flatMap { coordinator.register($0, at: ["root", "panel"]) } : coordinator.register(two, at: path)
    #expect(report?.notRestoredReason == .timedOut)
    _ = try await coordinator.preserve(root)
    two["page"]?.text = "two's page"
    _ = try await coordinator.preserve(root)
    coordinator.completeStateRestoration()
    for name in ["one", "two"] {
      let again = editor(difference, name, [Screen("page")])
      _ = try await launch(again, isLate: false)
      #expect([again.text, again["page"]?.text] == [name == "one" ? "one" : "", "\(name)'s page"])
    }
  }

  @Test(arguments: Difference.allCases, Fate.allCases)
  func `what comes too late below another one's editor takes nothing along`(
    difference: Difference, fate: Fate
  ) async throws {
    let bench = try await preserved(difference)
    let two = editor(difference, "two")
    let root = Screen("root", children: [two, Screen("side")])
    let coordinator = bench.launch()
    try await bench.restorePastTimeLimit(coordinator, into: root)
    let page = Screen("page")
    two.restorationChildren = [page]
    #expect(coordinator.register(page, at: path.appending("page"))?.notRestoredReason == .timedOut)
    _ = try await coordinator.preserve(root)
    befall(page, fate, below: two, root)
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench, difference, "one") == ["one", "one's page", "one's list"])
    coordinator.completeStateRestoration()
  }
}
