import FoundationEssentials
import StateRestoration
import Testing

/// State that nobody asked for survives; moving, renaming, late registration and forgetting.
@MainActor @Suite struct CarryOverTests {
  @Test(arguments: StoreKind.allCases)
  func `state that nobody asked for survives any number of saves`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen("root", children: [Screen("hidden", text: "kept", children: [Screen("deep", text: "d")])]))
    for round in 0..<5 {
      let coordinator = bench.launch()
      let root = Screen("root")
      _ = try await coordinator.restore(into: root)
      root.text = "round \(round)"
      let receipt = try #require(try await coordinator.preserve(root).receipt)
      #expect(receipt.carriedOverNodes == 2)
    }
    let root = Screen("root", children: [Screen("hidden", children: [Screen("deep")])])
    _ = try await bench.launch().restore(into: root)
    #expect(root["hidden"]?.text == "kept")
    #expect(root["hidden"]?["deep"]?.text == "d")
    #expect(root.text == "round 4")
  }

  @Test(arguments: StoreKind.allCases)
  func `a save without restoring hides nothing that it can read`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "old", children: [Screen("other", text: "kept")]))
    try await bench.preserve(Screen("root", text: "new"))
    let root = Screen("root", children: [Screen("other")])
    _ = try await bench.launch().restore(into: root)
    #expect(root.text == "old")
    #expect(root["other"]?.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `an object that left the hierarchy is not preserved any more`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("a"), Screen("b")]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("a"), Screen("b")])
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.removeLast()
    _ = try await coordinator.preserve(root)
    let report = try await bench.launch().restore(into: Screen("root", children: [Screen("a"), Screen("b")]))
    #expect(report.nodes.map(\.path) == [["root"], ["root", "a"]])
  }

  @Test(arguments: StoreKind.allCases)
  func `forgetting a path removes what nobody uses and nothing else`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("a"), Screen("b", text: "b")]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("a")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    #expect(await coordinator.forget(["root", "a"]) == false)
    #expect(await coordinator.forget(["root", "nowhere"]) == false)
    #expect(await coordinator.forget(["root", "b"]))
    _ = try await coordinator.preserve(root)
    let report = try await bench.launch().restore(into: Screen("root", children: [Screen("a"), Screen("b")]))
    #expect(report.nodes.map(\.path) == [["root"], ["root", "a"]])
  }

  @Test func `what is carried over keeps its place among the siblings`() async throws {
    let bench = Bench()
    let names: [RestorationIdentifier] = ["a", "b", "c"]
    try await bench.preserve(Screen("root", children: names.map { Screen($0, text: "\($0)") }))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("c"), Screen("a")])
    root.takesChildren = false
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.reverse()
    root["a"]?.text = "edited"
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: names.reversed().map { Screen($0) })
    _ = try await bench.launch().restore(into: again)
    #expect(again.restorationChildren.map(\.restoration.identifier) == names)
  }

  @Test(arguments: StoreKind.allCases)
  func `a moved node keeps its data and what is carried over below it`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen(
        "root",
        children: [
          Screen("left", children: [Screen("x", text: "x", children: [Screen("later", text: "l")])]), Screen("right"),
        ]))
    let coordinator = bench.launch()
    let x = Screen("x")
    let root = Screen("root", children: [Screen("left", children: [x]), Screen("right")])
    _ = try await coordinator.restore(into: root)
    root["left"]?.restorationChildren = []
    root["right"]?.restorationChildren = [x]
    _ = try await coordinator.preserve(root)
    let again = Screen(
      "root", children: [Screen("left"), Screen("right", children: [Screen("x", children: [Screen("later")])])])
    let report = try await bench.launch().restore(into: again)
    #expect(again["right"]?["x"]?.text == "x")
    #expect(again["right"]?["x"]?["later"]?.text == "l")
    #expect(report[["root", "left", "x"]] == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a renamed node keeps its data`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let child = Screen("before", text: "data")
    let root = Screen("root", children: [child])
    _ = try await coordinator.preserve(root)
    child.restoration.identifier = "after"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .change)
    let again = Screen("root", children: [Screen("after")])
    let report = try await bench.launch().restore(into: again)
    #expect(again["after"]?.text == "data")
    #expect(report.nodes.map(\.path) == [["root"], ["root", "after"]])
  }

  @Test(arguments: StoreKind.allCases)
  func `two siblings can swap their identifiers`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let a = Screen("a", text: "first")
    let b = Screen("b", text: "second")
    let root = Screen("root", children: [a, b])
    _ = try await coordinator.preserve(root)
    a.restoration.identifier = "b"
    b.restoration.identifier = "a"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings.isEmpty)
    let again = Screen("root", children: [Screen("a"), Screen("b")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["b"]?.text == "first")
    #expect(again["a"]?.text == "second")
  }

  @Test(arguments: StoreKind.allCases)
  func `the order of children comes back`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = Screen("root", children: ["a", "b", "c", "d"].map { Screen(RestorationIdentifier($0)) })
    _ = try await coordinator.preserve(root)
    root.restorationChildren.swapAt(0, 3)
    root.restorationChildren.insert(Screen("e"), at: 1)
    _ = try await coordinator.preserve(root)
    bench.delegate.make = { path, _ in Screen(path.last) }
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.installed.map(\.identifier.rawValue) == ["d", "e", "b", "c", "a"])
  }

  @Test(arguments: StoreKind.allCases)
  func `an object registered after restoring gets its state at once, with what is below it`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen("root", children: [Screen("tab", text: "t", children: [Screen("page", text: "p")])]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let tab = Screen("tab", children: [Screen("page")])
    root.restorationChildren = [tab]
    let report = try #require(coordinator.restore(tab, at: ["root", "tab"]))
    #expect(report.result == .restored(.registration))
    #expect(tab.text == "t")
    #expect(tab["page"]?.text == "p")
    #expect(coordinator.lastReport?[["root", "tab", "page"]]?.isRestored == true)
    #expect(coordinator.restore(tab, at: ["root", "tab"]) == nil)
  }

  @Test(arguments: [false, true], [false, true])
  func `an object in the place of one that is gone doesn't get what is older than that one's last state`(
    isLate: Bool, isSaved: Bool
  ) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("editor", text: "at launch")]))
    let coordinator = bench.launch()
    let root = Screen("root", children: isLate ? [] : [Screen("editor")])
    _ = try await coordinator.restore(into: root)
    if isLate {
      root.restorationChildren = [Screen("editor")]
      coordinator.restore(try #require(root["editor"]), at: ["root", "editor"])
    }
    #expect(root["editor"]?.text == "at launch")
    root["editor"]?.text = "typed since"
    _ = try await coordinator.preserve(root)
    root.dropChildren()
    if isSaved { _ = try await coordinator.preserve(root) }
    root.restorationChildren = [Screen("editor")]
    #expect(coordinator.restore(try #require(root["editor"]), at: ["root", "editor"]) == nil)
    #expect(root["editor"]?.text == "")
  }

  @Test func `what a shared object had last stays while another in its place has nothing newer`() async throws {
    let bench = Bench()
    var settings: Screen? = Screen("settings", text: "at launch")
    let first = bench.launch()
    first.registry.share(settings!, as: "settings")
    _ = try await first.preserve(Screen("root"))
    settings = Screen("settings")
    let coordinator = bench.launch { [settings] in $0.share(settings!, as: "settings") }
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    #expect(settings?.text == "at launch")
    settings?.text = "chosen since"
    _ = try await coordinator.preserve(root)
    settings = nil
    let other = Screen("settings")
    coordinator.registry.share(other, as: "settings")
    #expect(other.text == "")
    root.text = "something else"
    _ = try await coordinator.preserve(root)
    let last = Screen("settings")
    _ = try await bench.launch { $0.share(last, as: "settings") }.restore(into: Screen("root"))
    #expect(last.text == "chosen since")
  }

  @Test(arguments: StoreKind.allCases)
  func `the draft of one note does not land in the editor of another`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let editor = Screen("editor", text: "draft of A")
    editor.restoration.model = "A"
    try await bench.preserve(Screen("root", children: [editor]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let other = Screen("editor")
    other.restoration.model = "B"
    root.restorationChildren = [other]
    let report = coordinator.restore(other, at: ["root", "editor"])
    #expect(report?.notRestoredReason == .modelMismatch(recorded: "A", found: "B"))
    #expect(other.text.isEmpty)
    _ = try await coordinator.preserve(root)
    other.text = "draft of B"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().absentRows().map(\.attributes.model) == ["A"])
    try await bench.kill()
    for model: ModelIdentifier in ["A", "B"] {
      let editor = Screen("editor")
      editor.restoration.model = model
      _ = try await bench.launch().restore(into: Screen("root", children: [editor]))
      #expect(editor.text == "draft of \(model)")
      bench.closePlaces()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `restoring again begins with a save, and another generation takes the whole screen back`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = Screen("root", text: "before", children: [Screen("a", text: "a")])
    _ = try await coordinator.preserve(root)
    try bench.requireWhole()
    root.text = "edited"
    root["a"]?.text = "edited too"
    _ = try await coordinator.preserve(root)
    root.text = "edited once more"
    _ = try await coordinator.restore(into: root)
    #expect(root.text == "edited once more" && root["a"]?.text == "edited too")
    _ = try await coordinator.restore(into: root, from: .olderGeneration)
    #expect(root.text == "before")
    #expect(root["a"]?.text == "a")
    root.text = "edited again"
    guard case .preserved = try await coordinator.preserve(root) else {
      Issue.record("not preserved")
      return
    }
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "edited again")
  }
}
