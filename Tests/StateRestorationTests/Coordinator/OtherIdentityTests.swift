import Observation
import RestorationArchive
import StateRestoration
import Testing

/// An object that shows another model comes anew, with everything below it: roots, views, objects that only references name.
@MainActor @Suite struct OtherIdentityTests {
  /// A controller that shows a model, refers to a tool that is nobody's child, and has a child and a view.
  @Observable final class Desk: CodingObject, RestorationContainer, RestorationViewOwner {
    var restoration: RestorationIdentity = "desk"
    var text = ""
    var tool: Screen?
    let page = Screen("page")
    let field = Field("field")

    init(_ model: ModelIdentifier) { restoration.model = model }

    var restorationChildren: [any RestorableController] { [page] }
    var restorationViews: [any RestorableView] { [field] }

    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) {}

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(text, forKey: "text")
      coder.encodeReference(to: tool, forKey: "tool")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      text = try coder.decode(forKey: "text")
      tool = try coder.reference(to: Screen.self, forKey: "tool")
    }

    /// Everything that is preserved, by what a test has typed.
    var texts: [String] { [text, page.text, "\(field.restorableState)", tool?.text ?? "-"] }

    func type(_ text: String, _ number: Int) {
      self.text = text
      page.text = "\(text)'s page"
      field.restorableState = number
      tool?.text = "\(text)'s tool"
    }
  }

  private func launch(_ bench: Bench) -> RestorationCoordinator {
    bench.launch {
      $0.register(Screen.self, as: "tool") { path, _ in Screen(path.last, tag: "tool") }
    }
  }

  /// Where the desk is in the hierarchy.
  enum Place: CaseIterable, Sendable {
    case root, child

    @MainActor func root(_ desk: Desk) -> any RestorableController {
      self == .root ? desk : Screen("root", children: [desk])
    }
  }

  private func desk(_ bench: Bench, _ model: ModelIdentifier, _ place: Place) async throws -> Desk {
    let desk = Desk(model)
    _ = try await launch(bench).restore(into: place.root(desk))
    return desk
  }

  @Test(arguments: Place.allCases, StoreKind.allCases)
  func `each model gets everything back that was typed while it was shown`(
    place: Place, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let desk = Desk("a")
    desk.tool = Screen("tool", tag: "tool")
    let root = place.root(desk)
    let coordinator = launch(bench)
    _ = try await coordinator.restore(into: root)
    desk.type("first", 1)
    _ = try await coordinator.preserve(root)
    desk.restoration.model = "b"
    desk.type("second", 2)
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    let second = try await self.desk(bench, "b", place)
    #expect(second.texts == ["second", "second's page", "2", "second's tool"])
    try await bench.kill()
    let first = try await self.desk(bench, "a", place)
    #expect(first.texts == ["first", "first's page", "1", "first's tool"])
  }

  @Test func `a page that is named after its model makes no second page of the model before`() async throws {
    let bench = Bench()
    func launch() -> (RestorationCoordinator, Screen) {
      let coordinator = bench.launch {
        $0.register(Screen.self, as: "note") { path, _ in Screen(path.last, tag: "note") }
      }
      return (coordinator, Screen("root"))
    }
    let page = Screen("note a", text: "first", tag: "note")
    page.restoration.model = "a"
    let (before, stack) = launch()
    _ = try await before.restore(into: stack)
    stack.restorationChildren = [Screen("first", tag: "note"), page, Screen("last", tag: "note")]
    _ = try await before.preserve(stack)
    (page.restoration.identifier, page.restoration.model, page.text) = ("note b", "b", "second")
    _ = try await before.preserve(stack)

    let (after, restored) = launch()
    let report = try await after.restore(into: restored)
    #expect(restored.restorationChildren.map(\.restoration.identifier) == ["first", "note b", "last"])
    #expect(restored["note b"]?.text == "second")
    #expect(report[["root", "note a"]]?.notRestoredReason == .absent)
    let again = Screen("note a", tag: "note")
    again.restoration.model = "a"
    restored.restorationChildren.append(again)
    #expect(after.restore(again, at: ["root", "note a"])?.isRestored == true)
    #expect(again.text == "first")
  }

  @Test(arguments: StoreKind.allCases)
  func `a page that shows another model while locked comes back with what is edited in it then`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("page")]))
    try await bench.lock()
    let page = Screen("page")
    page.restoration.model = "a"
    let root = Screen("root", children: [page])
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await coordinator.endTurn()
    page.text = "first"
    for _ in 0..<5 { await Task.yield() }
    page.restoration.model = "b"
    page.restorationChildren = [Screen("inner")]
    for _ in 0..<5 { await Task.yield() }
    page["inner"]?.text = "typed"
    try await bench.unlock(coordinator)
    _ = try await coordinator.preserve(root)
    for (model, text, inner) in [("b", "first", "typed"), ("a", "first", "")] {
      let again = Screen("page", children: [Screen("inner")])
      again.restoration.model = ModelIdentifier(rawValue: model)
      _ = try await bench.launch().restore(into: Screen("root", children: [again]))
      #expect(again.text == text && again["inner"]?.text == inner, "\(model)")
    }
  }

  @Test(arguments: Place.allCases) func `a model that is shown for no save leaves nothing behind`(place: Place)
    async throws
  {
    let bench = Bench()
    let desk = Desk("a")
    desk.tool = Screen("tool", tag: "tool")
    let root = place.root(desk)
    let coordinator = launch(bench)
    _ = try await coordinator.restore(into: root)
    desk.type("first", 1)
    _ = try await coordinator.preserve(root)
    desk.restoration.model = "b"
    desk.restoration.model = "a"
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
  }

  @Test(arguments: Place.allCases) func `a model that is shown again is given what was typed in it last`(place: Place)
    async throws
  {
    let bench = Bench()
    let desk = Desk("a")
    let root = place.root(desk)
    let coordinator = launch(bench)
    _ = try await coordinator.restore(into: root)
    for (number, model) in ["a", "b", "a", "b", "a"].enumerated() {
      desk.restoration.model = ModelIdentifier(rawValue: model)
      _ = try await coordinator.preserve(root)
      desk.type("\(model)\(number)", number)
      _ = try await coordinator.preserve(root)
    }
    try await bench.kill()
    #expect(try await self.desk(bench, "a", place).texts == ["a4", "a4's page", "4", "-"])
    try await bench.kill()
    #expect(try await self.desk(bench, "b", place).texts == ["b3", "b3's page", "3", "-"])
  }

  @Test(arguments: Place.allCases, StoreKind.allCases)
  func `what is shown unedited on a locked device gives way to the model's stored state`(
    place: Place, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    for (model, number) in [("a", 1), ("b", 2)] {
      let desk = Desk(ModelIdentifier(rawValue: model))
      let root = place.root(desk)
      let coordinator = launch(bench)
      _ = try await coordinator.restore(into: root)
      desk.type("stored \(model)", number)
      _ = try await coordinator.preserve(root)
      try await bench.kill()
    }
    try await bench.lock()
    let desk = Desk("a")
    let root = place.root(desk)
    let coordinator = launch(bench)
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await coordinator.endTurn()
    desk.text = "typed a"
    _ = try await coordinator.preserve(root)
    // The program shows the other model, empty, as its state can't be read.
    desk.restoration.model = "b"
    desk.type("", 0)
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    if kind == .device { await bench.delegate.nextLateReport() }
    #expect(desk.text == "stored b" && desk.page.text == "stored b's page")
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    #expect(try await self.desk(bench, "a", place).text == "typed a")
  }
}
