import FoundationEssentials
import Observation
import Testing

@testable import StateRestoration

/// A save replaces what its object was given or wrote, and lies beside everything else (R2.8), for states of any size.
@MainActor @Suite struct BesideTests: SizedTexts {
  private let bench = Bench()

  private func word(_ screen: Screen?) -> String? { word(screen?.text) }

  private func editor(_ model: ModelIdentifier? = nil, _ text: String = "") -> Screen {
    let editor = Screen("editor", text: text)
    editor.restoration.model = model
    return editor
  }

  /// A run that restores, types into the editor of a model and saves; returns what the editor was given.
  @discardableResult
  private func run(_ model: ModelIdentifier?, typing text: String? = nil) async throws -> (String?, NodeReport?) {
    let editor = editor(model)
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    let given = word(editor)
    if let text { editor.text = text }
    _ = try await coordinator.preserve(root)
    return (given, report[["root", "editor"]])
  }

  // MARK: - Shown again, late, presented

  @Test(arguments: sizes, [false, true])
  func `a model that is shown again in one run lies beside its stored draft`(size: Int, isEdited: Bool) async throws {
    try await run("A", typing: text("draft", size))
    let editor = editor("A")
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    #expect(word(editor) == "draft")
    for (model, words) in [("B", "of B"), ("A", "blank")] as [(ModelIdentifier, String)] {
      (editor.restoration.model, editor.text) = (model, text(words, size))
      _ = try await coordinator.preserve(root)
    }
    if isEdited {
      editor.text = text("typed", size)
      _ = try await coordinator.preserve(root)
    }
    let (given, report) = try await run("A")
    #expect(given == (isEdited ? "typed" : "draft"))
    #expect(report?.remarks.contains(.superseded(1)) == isEdited)
    #expect(try await run("B").0 == "of B")
  }

  @Test(arguments: sizes)
  func `a tab that a save has met is given what is stored for it`(size: Int) async throws {
    try await run(nil, typing: text("stored", size))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let tab = editor(nil, text("blank", size))
    root.restorationChildren = [tab]
    _ = try await coordinator.preserve(root)
    #expect(coordinator.restore(tab, at: ["root", "editor"])?.isRestored == true)
    #expect(word(tab) == "stored")
    _ = try await coordinator.preserve(root)
    let (given, report) = try await run(nil)
    #expect(given == "stored" && report?.remarks == [])
  }

  @Test(arguments: sizes)
  func `a dialogue that an older program could not make is there for the one that is presented blank`(
    size: Int
  ) async throws {
    func launch(isOlder: Bool = false) -> RestorationCoordinator {
      bench.launch { if !isOlder { $0.register(Screen.self, as: "dialogue") } }
    }
    func dialogue(_ text: String = "") -> Screen { Screen("dialogue", text: text, tag: "dialogue") }
    let first = launch()
    let written = dialogue()
    let before = Screen("root", children: [written])
    _ = try await first.restore(into: before)
    written.text = text("unsent", size)
    _ = try await first.preserve(before)

    let older = launch(isOlder: true)
    let middle = Screen("root")
    #expect(try await older.restore(into: middle).notRestored.map(\.notRestoredReason) == [.unknownClass("dialogue")])
    middle.text = "edited"
    _ = try await older.preserve(middle)

    let newer = launch()
    let root = Screen("root")
    _ = try await newer.restore(into: root)
    let blank = dialogue()
    root.restorationChildren = [blank]
    guard case .preserved = try await newer.preserve(root) else {
      Issue.record("a dialogue is presented, and nothing is saved")
      return
    }
    #expect(newer.restore(blank, at: ["root", "dialogue"])?.isRestored == true)
    #expect(word(blank) == "unsent")
  }

  // MARK: - The class check

  /// A view of another class than ``Field``.
  @Observable final class Slider: RestorableView, StatefulObject {
    var restoration: RestorationIdentity = "field"
    var restorableState = 0
  }

  @Test func `an untagged object of another class is not given the state, which waits for its own`() async throws {
    let root = Screen("root", children: [Screen("child", text: "typed")])
    root.restorationViews = [Field("field", 7)]
    try await bench.preserve(root)

    let slider = Slider()
    let panel = Panel("child")
    let other = Screen("root", children: [panel])
    other.restorationViews = [slider]
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: other)
    #expect(report[["root", "child"]]?.notRestoredReason == .classMismatch(recorded: "Screen", found: "Panel"))
    #expect(report[["root", "field"]]?.notRestoredReason == .classMismatch(recorded: "Field", found: "Slider"))
    #expect(slider.restorableState == 0)
    (panel.value, slider.restorableState) = (1, 2)
    _ = try await coordinator.preserve(other)

    let (child, field) = (Screen("child"), Field("field"))
    let again = Screen("root", children: [child])
    again.restorationViews = [field]
    _ = try await bench.launch().restore(into: again)
    #expect(child.text == "typed" && field.restorableState == 7)
  }

  @Test func `a type that was renamed is given what it saved under its former name`() async throws {
    try await bench.preserve(Screen("root", children: [Panel("child", value: 3)]))
    let child = NewerPanel("child")
    let coordinator = bench.launch { $0.register(NewerPanel.self, formerly: ["Panel"]) }
    _ = try await coordinator.restore(into: Screen("root", children: [child]))
    #expect(child.value == 3)
  }

  // MARK: - After a death

  @Test(arguments: sizes)
  func `what is typed after a death at the editor is shown by every later launch`(size: Int) async throws {
    try await run(nil, typing: text("older", size))
    try await bench.die(at: ["root", "editor"])
    let (given, report) = try await run(nil, typing: text("newer", size))
    #expect(given == "" && report?.notRestoredReason == .leftOutAfterCrash)
    for _ in 0..<3 { #expect(try await run(nil).0 == "newer") }
  }

  @Test(arguments: ["a", "b", "c"] as [RestorationIdentifier])
  func `a death at one of its screens leaves the order of a stack as it was`(
    culprit: RestorationIdentifier
  ) async throws {
    func stack(_ identifiers: [RestorationIdentifier]) -> NavigationController {
      let stack = NavigationController("stack")
      stack.setStack(identifiers.map { Screen($0, text: $0.rawValue, tag: "screen") })
      return stack
    }
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") } }
    }
    let (first, saved) = (launch(), stack(["a", "b", "c"]))
    _ = try await first.restore(into: saved)
    _ = try await first.preserve(saved)
    try await bench.die(at: ["stack", culprit])
    for round in 0..<3 {
      let (coordinator, shown) = (launch(), stack([]))
      _ = try await coordinator.restore(into: shown)
      for case let screen as Screen in shown.stack { screen.text += "\(round)" }
      _ = try await coordinator.preserve(shown)
      let reader = try bench.newestReader()
      let top = try #require(try reader.node(at: ["stack"]))
      let order = try reader.children(of: top.id).compactMap { try reader.node($0)?.identifier }
      #expect(order == ["a", "b", "c"], "round \(round)")
    }
    let (last, whole) = (launch(), stack([]))
    _ = try await last.restore(into: whole, retriesLeftOut: true)
    #expect(whole.stack.map(\.restoration.identifier) == ["a", "b", "c"])
  }

  @Test(arguments: sizes, [false, true])
  func `a retry gives what was left out, unless something newer was typed`(size: Int, isEdited: Bool) async throws {
    try await run(nil, typing: text("older", size))
    try await bench.die(at: ["root", "editor"])
    let (coordinator, root, opened) = (bench.launch(), Screen("root"), editor())
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.append(opened)
    _ = try await coordinator.preserve(root)
    if isEdited {
      opened.text = text("typed", size)
      _ = try await coordinator.preserve(root)
    }
    let shown = editor()
    let report = try await bench.launch().restore(into: Screen("root", children: [shown]), retriesLeftOut: true)
    #expect(word(shown) == (isEdited ? "typed" : "older"))
    #expect(report[["root", "editor"]]?.isRestored == true)
  }

  // MARK: - Factories

  @Test(arguments: sizes)
  func `an object that is made under another identifier is a reason, and the subtree stays stored`(
    size: Int
  ) async throws {
    func launch(_ made: RestorationIdentifier) -> RestorationCoordinator {
      bench.launch {
        $0.register(Screen.self, as: "page") { _, _ in Screen(made, tag: "page", children: [Screen("below")]) }
      }
    }
    let below = Screen("below", text: text("below", size))
    let page = Screen("page", text: text("page", size), tag: "page", children: [below])
    _ = try await launch("page").preserve(Screen("root", children: [page]))
    for round in 0..<2 {
      let coordinator = launch("other")
      let root = Screen("root")
      let report = try await coordinator.restore(into: root)
      #expect(report[["root", "page"]]?.notRestoredReason == .otherIdentifier("other"))
      #expect(root.restorationChildren.isEmpty)
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let root = Screen("root")
    _ = try await launch("page").restore(into: root)
    #expect(word(root["page"]) == "page" && word(root["page"]?["below"]) == "below")
  }

  // MARK: - Locked

  @Test(arguments: sizes, [false, true])
  func `an entry that is made and filled in one turn while locked is there after the unlock`(
    size: Int, isKilled: Bool
  ) async throws {
    try await bench.preserve(Screen("root", children: [Screen("entry 1", text: text("first", size))]))
    try await bench.lock()
    var root = Screen("root")
    var coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root.restorationChildren.append(Screen("entry 2", text: text("second", size)))
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
      (root, coordinator) = (Screen("root", children: [Screen("entry 1"), Screen("entry 2")]), bench.launch())
      _ = try await coordinator.restore(into: root)
    } else {
      try await bench.unlock(coordinator)
    }
    #expect(word(root["entry 2"]) == "second")
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("entry 1"), Screen("entry 2")])
    _ = try await bench.launch().restore(into: again)
    #expect([word(again["entry 1"]), word(again["entry 2"])] == ["first", "second"])
  }

  @Test func `opening a scope while locked writes nothing, however often, and what is set then is saved`() async throws
  {
    func launch() async throws -> (RestorationCoordinator, RestorationScope) {
      let (coordinator, scope) = (bench.launch(), RestorationScope())
      _ = try await coordinator.restore(into: scope)
      await coordinator.endTurn()
      return (coordinator, scope)
    }
    do {
      let (coordinator, scope) = try await launch()
      try scope.scope("pane").setValue("stored", forKey: "draft")
      _ = try await coordinator.preserve()
    }
    try await bench.lock()
    for _ in 0..<70 {
      let (coordinator, scope) = try await launch()
      _ = scope.scope("pane")
      #expect(try await coordinator.preserve().receipt == nil)
    }
    do {
      let (coordinator, scope) = try await launch()
      try scope.scope("pane").setValue("typed", forKey: "draft")
      #expect(try await coordinator.preserve().receipt?.kind == .pendingChange)
    }
    try await bench.unlock()
    let (last, scope) = try await launch()
    defer { withExtendedLifetime(last) {} }
    #expect(try scope.scope("pane").value(ofType: String.self, forKey: "draft") == "typed")
  }

  // MARK: - Versions

  /// A document of a program and of its next version.
  enum Earlier {
    nonisolated enum Tool: String, Codable, Sendable { case pen, brush }

    final class Document: RestorableController {
      let restoration: RestorationIdentity = "document"
      @Restored("tool") var tool = Tool.pen
      @Restored("text") var text = ""
    }
  }

  enum Later {
    nonisolated enum Tool: String, Codable, Sendable { case pen, brush, airbrush }

    final class Document: RestorableController {
      let restoration: RestorationIdentity = "document"
      @Restored("tool") var tool = Tool.pen
      @Restored("text") var text = ""
    }
  }

  @Test(arguments: sizes)
  func `what is typed after a downgrade lies beside a state with an unknown case`(size: Int) async throws {
    let document = Later.Document()
    let first = bench.launch()
    let before = Screen("root", children: [document])
    _ = try await first.restore(into: before)
    (document.tool, document.text) = (.airbrush, text("newer", size))
    _ = try await first.preserve(before)

    let older = Earlier.Document()
    let middle = Screen("root", children: [older])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: middle)
    guard case .decodingFailed? = report[["root", "document"]]?.notRestoredReason else {
      Issue.record("\(report)")
      return
    }
    #expect(older.text == "" && older.tool == .pen, "all or nothing")
    older.text = text("older", size)
    _ = try await coordinator.preserve(middle)
    let reader = try bench.newestReader()
    let tools = try reader.records(at: ["root", "document"]).map {
      try reader.record(of: $0.id).decode(String.self, forKey: "tool")
    }
    #expect(tools == ["airbrush", "pen"])

    let again = Later.Document()
    let last = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text.hasPrefix("older") && last[["root", "document"]]?.remarks == [.superseded(1)])
  }

  @Test(arguments: sizes)
  func `after an upgrade, a look and a downgrade a document that nobody edited is read by the old program`(
    size: Int
  ) async throws {
    let old = VersionTests.OldEditor()
    let first = bench.launch()
    let before = Screen("root", children: [old])
    _ = try await first.restore(into: before)
    old.restorableState.words = text("words", size)
    _ = try await first.preserve(before)
    for round in 0..<2 {
      let editor = VersionTests.NewEditor()
      let root = Screen("root", children: [editor])
      let coordinator = bench.launch { $0.register(VersionTests.NewEditor.self, as: "editor") }
      _ = try await coordinator.restore(into: root)
      #expect(editor.restorableState.list.count == 1)
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let again = VersionTests.OldEditor()
    let report = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState.words == text("words", size), "\(report)")
  }
}
