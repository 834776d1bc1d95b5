import StateRestorationTesting
import Testing

@testable import StateRestoration

/// A controller that names no model may be given any model's state, and never makes it nobody's or another model's.
@MainActor @Suite struct UnnamedModelTests {
  private func editor(_ model: ModelIdentifier?, _ text: String = "") -> Screen {
    let editor = Screen("editor", text: text)
    editor.restoration.model = model
    return editor
  }

  /// Launches with an editor, edits, and saves.
  private func run(_ bench: Bench, _ editor: Screen, _ edit: () -> Void = {}) async throws {
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    edit()
    _ = try await coordinator.preserve(root)
  }

  /// What an editor of a model is given.
  private func text(_ bench: Bench, _ model: ModelIdentifier) async throws -> String {
    let editor = editor(model)
    _ = try await bench.launch().restore(into: Screen("root", children: [editor]))
    return editor.text
  }

  @Test(arguments: [false, true]) func `state stays its model's while its owner names none`(edits: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    let unnamed = editor(nil)
    try await run(bench, unnamed) {
      #expect(unnamed.text == "draft of A")
      if edits { unnamed.text += ", edited" }
    }
    #expect(try await text(bench, "B") == "")
    #expect(try await text(bench, "A") == (edits ? "draft of A, edited" : "draft of A"))
  }

  @Test func `a controller that names no model at first leaves the state to its model`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    let changing = editor(nil)
    try await run(bench, changing) {
      changing.restoration.model = "B"
      changing.text = "draft of B"
    }
    #expect(try await text(bench, "A") == "draft of A")
    #expect(try await text(bench, "B") == "draft of B")
  }

  @Test func `a model's own draft is not passed over for another's that lost its name`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    let other = editor("B")
    try await run(bench, other) { other.text = "draft of B" }
    try await run(bench, editor(nil))
    #expect(try await text(bench, "A") == "draft of A")
    #expect(try await text(bench, "B") == "draft of B")
  }

  @Test func `a controller without a model that comes by itself overwrites no model's state`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let late = editor(nil, "of none")
    root.restorationChildren = [late]
    _ = try await coordinator.preserve(root)
    late.text = "edited"
    _ = try await coordinator.preserve(root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    #expect(try await text(bench, "A") == "draft of A")
  }

  @Test func `a controller that comes while locked, and names its model then, has not been edited`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    try await bench.lock()
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    let late = editor(nil)
    root.restorationChildren = [late]
    _ = try await coordinator.preserve(root)
    late.restoration.model = "A"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(late.text == "draft of A")
  }

  @Test(arguments: [false, true]) func `an edit while locked overwrites no model's state`(kills: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("A", "draft of A")]))
    try await bench.lock()
    let unnamed = editor(nil)
    let root = Screen("root", children: [unnamed])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    unnamed.text = "typed while locked"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(kills ? nil : coordinator)
    let last = kills ? bench.launch() : coordinator
    if kills { _ = try await last.restore(into: root) }
    #expect(unnamed.text == "typed while locked")
    // Without the one in front the model's own is there.
    root.restorationChildren = []
    _ = try await last.preserve(root)
    #expect(try await text(bench, "A") == "draft of A")
  }
}
