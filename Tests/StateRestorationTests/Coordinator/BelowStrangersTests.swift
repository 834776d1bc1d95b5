import Observation
import RestorationArchive
import StateRestoration
import Testing

/// The places below an object of another model than the stored state, which stays there until something is newer.
@MainActor @Suite struct BelowStrangersTests {
  private let path: RestorationPath = ["root", "editor"]

  private func editor(_ model: ModelIdentifier, text: String = "", _ children: [Screen] = []) -> Screen {
    let editor = Screen("editor", text: text, children: children)
    editor.restorationModelIdentifier = model
    return editor
  }

  /// A view of an editor.
  @Observable final class Ruler: RestorableView, StatefulObject {
    let restorationIdentifier: RestorationIdentifier? = "ruler"
    var restorableState = Screen.State()
  }

  /// The state of one editor, with a view and two children.
  private func preserveTheirs(_ bench: Bench) async throws {
    let first = editor("one", text: "theirs")
    first.restorationViews = [Ruler()]
    first.restorationChildren = [Screen("page", text: "their page"), Screen("index", text: "their index")]
    try await bench.preserve(Screen("root", children: [first]))
  }

  private func expectTheirs(_ bench: Bench, file: SourceLocation = #_sourceLocation) async throws {
    let again = editor("one")
    again.restorationChildren = [Screen("page"), Screen("index")]
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "theirs", sourceLocation: file)
    #expect(again["page"]?.text == "their page", sourceLocation: file)
    #expect(again["index"]?.text == "their index", sourceLocation: file)
  }

  /// What an unedited editor of another model has, of which the stored state of the first knows something or nothing.
  enum Furniture: CaseIterable, Sendable {
    case sameView, otherChild, childOfAnotherChild
  }

  @Test(arguments: Furniture.allCases)
  func `views and children that nobody has edited don't push the other one's state out`(
    furniture: Furniture
  ) async throws {
    let bench = Bench()
    try await preserveTheirs(bench)
    let second = editor("two")
    switch furniture {
    case .sameView: second.restorationViews = [Ruler()]
    case .otherChild: second.restorationChildren = [Screen("find")]
    case .childOfAnotherChild: second.restorationChildren = [Screen("page", children: [Screen("find")])]
    }
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.text = "edited"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().isEmpty)
    try await expectTheirs(bench)
  }

  @Test(arguments: Furniture.allCases)
  func `views and children that somebody has edited are newer`(furniture: Furniture) async throws {
    let bench = Bench()
    try await preserveTheirs(bench)
    let second = editor("two")
    let ruler = Ruler()
    let find = Screen("find")
    switch furniture {
    case .sameView: second.restorationViews = [ruler]
    case .otherChild: second.restorationChildren = [find]
    case .childOfAnotherChild: second.restorationChildren = [Screen("page", children: [find])]
    }
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if furniture == .sameView { ruler.restorableState.text = "ours" } else { find.text = "ours" }
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptTexts().contains("theirs"))
    let path: RestorationPath =
      switch furniture {
      case .sameView: path.appending("ruler")
      case .otherChild: path.appending("find")
      case .childOfAnotherChild: path.appending("page").appending("find")
      }
    #expect(try bench.newestReader().node(at: path).map { try bench.newestReader().text(of: $0) } == "ours")
    try await expectTheirs(bench)
  }

  @Test func `an unedited child that gets another's identifier leaves what is stored there`() async throws {
    let bench = Bench()
    try await preserveTheirs(bench)
    let second = editor("two")
    let page = Screen("page")
    second.restorationChildren = [page]
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    page.restorationIdentifier = "index"
    _ = try await coordinator.preserve(root)
    try await expectTheirs(bench)
  }

  @Test(arguments: ["page", "find"] as [RestorationIdentifier], [false, true])
  func `what comes below with state of its own is the new one's, and all of the other one's goes aside`(
    identifier: RestorationIdentifier, savesBefore: Bool
  ) async throws {
    let bench = Bench()
    try await preserveTheirs(bench)
    let before = bench.launch()
    let pane = Screen("pane", children: [Screen(identifier, text: "ours")])
    let kept = editor("one")
    kept.restorationChildren = [Screen("page"), Screen("index")]
    let first = Screen("root", children: [kept, pane])
    _ = try await before.restore(into: first)
    _ = try await before.preserve(first)

    let second = editor("two")
    let moving = Screen(identifier)
    let from = Screen("pane", children: [moving])
    let root = Screen("root", children: [second, from])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    #expect(moving.text == "ours")
    if savesBefore { _ = try await coordinator.preserve(root) }
    from.restorationChildren = []
    second.restorationChildren = [moving]
    _ = try await coordinator.preserve(root)

    let again = editor("two")
    again.restorationChildren = [Screen(identifier)]
    _ = try await bench.launch().restore(into: Screen("root", children: [again, Screen("pane")]))
    #expect(again[identifier]?.text == "ours")
    try await expectTheirs(bench)
  }
}
