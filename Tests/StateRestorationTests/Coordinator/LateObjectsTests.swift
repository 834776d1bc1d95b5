import StateRestorationTesting
import Testing

@testable import StateRestoration

/// A late object is given by the tables as any other: it joins, keeps what it has, and its conflicts can be settled.
@MainActor @Suite(.timeLimit(.minutes(5))) struct LateObjectsTests {
  @Test(arguments: [false, true])
  func `a late object that can join and was edited joins`(isSaved: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [JoiningPage("stored")]))
    let (coordinator, root) = (bench.launch(), Screen("root"))
    _ = try await coordinator.restore(into: root)
    let page = JoiningPage("blank")
    root.restorationChildren = [page]
    _ = try await coordinator.preserve(root)
    page.restorableState = "typed"
    if isSaved { _ = try await coordinator.preserve(root) }
    let report = coordinator.restore(page, at: ["root", "page"])
    #expect(page.restorableState == "stored+typed", "\(String(describing: report))")
    _ = try await coordinator.preserve(root)
    let again = JoiningPage()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState == "stored+typed" || again.restorableState.contains("typed"))
  }

  @Test(arguments: [false, true])
  func `the conflict of a late object that was edited can be settled`(isSaved: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("page", text: "stored")]))
    let (coordinator, root) = (bench.launch(), Screen("root"))
    _ = try await coordinator.restore(into: root)
    let page = Screen("page", text: "blank")
    root.restorationChildren = [page]
    _ = try await coordinator.preserve(root)
    page.text = "typed"
    if isSaved { _ = try await coordinator.preserve(root) }
    let report = coordinator.restore(page, at: ["root", "page"])
    #expect(report?.notRestoredReason == .touchedMeanwhile)
    var read: [String] = []
    let isSettled = coordinator.settleConflict(of: page, withStates: { read = $0.map(\.text) })
    #expect(isSettled && read == ["stored"])
    _ = try await coordinator.preserve(root)
    let again = Screen("page")
    let last = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "typed")
    #expect(last[["root", "page"]]?.remarks == (isSettled ? [] : [.superseded(1)]))
  }

  @Test(arguments: [false, true])
  func `a late object in the place of one that was taken out in the same turn is given its own state`(
    isKept: Bool
  ) async throws {
    let bench = Bench()
    func editor(_ model: ModelIdentifier, _ text: String = "") -> Screen {
      let editor = Screen("editor", text: text)
      editor.restoration.model = model
      return editor
    }
    do {
      let (coordinator, shown) = (bench.launch(), editor("A"))
      let root = Screen("root", children: [shown])
      _ = try await coordinator.restore(into: root)
      shown.text = "of A"
      _ = try await coordinator.preserve(root)
      (shown.restoration.model, shown.text) = ("B", "")
      _ = try await coordinator.preserve(root)
      shown.text = "of B"
      _ = try await coordinator.preserve(root)
    }
    let coordinator = bench.launch()
    var former: Screen? = editor("B")
    let root = Screen("root", children: [former!])
    _ = try await coordinator.restore(into: root)
    #expect(former?.text == "of B")
    let late = editor("A")
    root.restorationChildren = [late]
    root.installed = []
    if !isKept { former = nil }
    let report = coordinator.restore(late, at: ["root", "editor"])
    #expect(late.text == "of A", "\(String(describing: report))")
    _ = try await coordinator.preserve(root)
    let next = editor("A")
    _ = try await bench.launch().restore(into: Screen("root", children: [next]))
    #expect(next.text == "of A")
    withExtendedLifetime(former) {}
  }

  @Test func `a child that was edited keeps its text when its parent is given state late`() async throws {
    let bench = Bench()
    func group(_ text: String, _ note: String) -> Screen {
      Screen("group", text: text, children: [Screen("note", text: note)])
    }
    try await bench.preserve(Screen("root", children: [group("stored", "stored")]))
    let (coordinator, root) = (bench.launch(), Screen("root"))
    _ = try await coordinator.restore(into: root)
    let shown = group("", "")
    root.restorationChildren = [shown]
    _ = try await coordinator.preserve(root)
    shown["note"]?.text = "typed"
    _ = try await coordinator.preserve(root)
    #expect(coordinator.restore(shown, at: ["root", "group"])?.isRestored == true)
    #expect(shown.text == "stored" && shown["note"]?.text == "typed")
    _ = try await coordinator.preserve(root)
    let again = group("", "")
    let report = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "stored" && again["note"]?.text == "typed", "\(report)")
  }
}
