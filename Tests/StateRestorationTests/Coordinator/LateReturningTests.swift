import StateRestoration
import StateRestorationTesting
import Testing

/// What made room for another class's or model's comes back below an object that turns up after restoring, as it does when
/// restoring.
@MainActor @Suite struct LateReturningTests {
  /// In what the two objects differ that share a place.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model
  }

  private let path: RestorationPath = ["root", "panel", "editor"]

  private func editor(_ difference: Difference, _ value: String) -> Screen {
    let editor = Screen("editor", children: [Screen("page")])
    switch difference {
    case .tag: editor.restorationClass = RestorationClass(value)
    case .model: editor.restorationModelIdentifier = ModelIdentifier(value)
    }
    return editor
  }

  /// One run in which everything is there at launch: what comes back is read, then replaced and saved.
  private func run(
    _ bench: Bench, _ difference: Difference, _ value: String, typing text: String? = nil
  ) async throws -> [String?] {
    let editor = editor(difference, value)
    let root = Screen("root", children: [Screen("panel", children: [editor])])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let texts = [editor.text, editor["page"]?.text]
    if let text {
      editor.text = text
      editor["page"]?.text = "\(text)'s page"
    }
    _ = try await coordinator.preserve(root)
    return texts
  }

  /// A launch without the panel, where state of one is kept and state of two has the place.
  private func launched(_ difference: Difference) async throws -> (Bench, RestorationCoordinator, Screen) {
    let bench = try await preserved(difference)
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    return (bench, coordinator, root)
  }

  /// Lets the panel turn up with an editor; returns what that is given.
  private func open(_ editor: Screen, _ coordinator: RestorationCoordinator, below root: Screen) -> [String?] {
    let panel = Screen("panel", children: [editor])
    root.restorationChildren = [panel]
    #expect(coordinator.register(panel, at: ["root", "panel"])?.isRestored == true)
    return [editor.text, editor["page"]?.text]
  }

  /// State of one is kept, and state of two is in the place.
  private func preserved(_ difference: Difference) async throws -> Bench {
    let bench = Bench()
    for name in ["one", "two"] { _ = try await run(bench, difference, name, typing: name) }
    return bench
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `what is kept for an object below one that turns up is given to it`(
    difference: Difference, isEdited: Bool
  ) async throws {
    let (bench, coordinator, root) = try await launched(difference)
    let one = editor(difference, "one")
    #expect(open(one, coordinator, below: root) == ["one", "one's page"])
    #expect(one.finishedCount == 1 && one["page"]?.finishedCount == 1)
    #expect(coordinator.lastReport?[path]?.findings.contains(.broughtBack) == true)
    #expect(coordinator.lastReport?[path.appending("page")]?.isRestored == true)
    _ = try await coordinator.preserve(root)
    if isEdited {
      one.text = "edited"
      _ = try await coordinator.preserve(root)
    }
    #expect(try await run(bench, difference, "one") == [isEdited ? "edited" : "one", "one's page"])
    #expect(try await run(bench, difference, "two") == ["two", "two's page"])
  }

  @Test(arguments: Difference.allCases)
  func `what was brought back below an object that turned up leaves with it`(difference: Difference) async throws {
    let (bench, coordinator, root) = try await launched(difference)
    #expect(open(editor(difference, "one"), coordinator, below: root) == ["one", "one's page"])
    _ = try await coordinator.preserve(root)
    // Nobody but the program holds it.
    weak let editor = root["panel"]?["editor"]
    root.dropChildren()
    #expect(editor == nil)
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, difference, "one") == ["", ""])
  }

  @Test(arguments: Difference.allCases, ["one", "two"])
  func `what was brought back below an object that no capture met is the next one's`(
    difference: Difference, next: String
  ) async throws {
    let (bench, coordinator, root) = try await launched(difference)
    #expect(open(editor(difference, "one"), coordinator, below: root) == ["one", "one's page"])
    root.dropChildren()
    root.text = "something else"
    _ = try await coordinator.preserve(root)
    for _ in 0..<2 {
      #expect(open(editor(difference, next), coordinator, below: root) == [next, "\(next)'s page"])
      root.dropChildren()
    }
    #expect(open(editor(difference, next), coordinator, below: root) == [next, "\(next)'s page"])
    _ = try await coordinator.preserve(root)
    for name in ["one", "two"] { #expect(try await run(bench, difference, name) == [name, "\(name)'s page"]) }
  }

  @Test(arguments: Difference.allCases)
  func `what is given below an object that turns up in the middle of restoring is told of the end once`(
    difference: Difference
  ) async throws {
    let bench = try await preserved(difference)
    let coordinator = bench.launch()
    let root = Screen("root")
    let one = editor(difference, "one")
    root.onFinish = { [unowned root] in #expect(self.open(one, coordinator, below: root) == ["one", "one's page"]) }
    let report = try await coordinator.restore(into: root)
    #expect(one.finishedCount == 1)
    #expect(report[path]?.isRestored == true)
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, difference, "one") == ["one", "one's page"])
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `what is kept for an object below one that is not installed stays kept, and the other one's stays whole`(
    difference: Difference, isMade: Bool
  ) async throws {
    for isEdited in [false, true] {
      let bench = try await preserved(difference)
      let coordinator = bench.launch()
      let root = Screen("root")
      let one = editor(difference, "one")
      let panel = Screen("panel", children: [one])
      if isMade {
        root.takesChildren = false
        bench.delegate.make = { path, _ in path == ["root", "panel"] ? panel : nil }
      }
      let report = try await coordinator.restore(into: root)
      let panelReport = isMade ? report[["root", "panel"]] : coordinator.register(panel, at: ["root", "panel"])
      #expect(panelReport?.notRestoredReason == .notInstalled)
      #expect(coordinator.lastReport?[path]?.notRestoredReason == .parentNotRestored)
      #expect(one.text.isEmpty)
      bench.delegate.make = { _, _ in nil }
      root.restorationChildren = [panel]
      _ = try await coordinator.preserve(root)
      if isEdited {
        one["page"]?.text = "typed since"
        _ = try await coordinator.preserve(root)
      }
      #expect(try await run(bench, difference, "one") == (isEdited ? ["", "typed since"] : ["one", "one's page"]))
      #expect(try await run(bench, difference, "two") == ["two", "two's page"])
    }
  }
}
