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
}
