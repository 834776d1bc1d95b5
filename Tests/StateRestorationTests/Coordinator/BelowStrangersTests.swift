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

  @Test(arguments: Furniture.allCases, [1, 2])
  func `views and children that nobody has edited don't push the other one's state out`(
    furniture: Furniture, restorations: Int
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
    for _ in 0..<restorations { _ = try await coordinator.restore(into: root) }
    root.text = "edited"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().isEmpty)
    try await expectTheirs(bench)
  }

  /// What happens between restoring and the edit.
  enum Course: CaseIterable, Sendable {
    case once, againAfterTheEdit, turnsUpEditedAndAgain
  }

  @Test(arguments: Furniture.allCases, Course.allCases)
  func `views and children that somebody has edited are newer`(furniture: Furniture, course: Course) async throws {
    let bench = Bench()
    try await preserveTheirs(bench)
    let second = editor("two")
    let ruler = Ruler()
    let find = Screen("find")
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    if course == .turnsUpEditedAndAgain { _ = try await coordinator.restore(into: root) }
    switch furniture {
    case .sameView: second.restorationViews = [ruler]
    case .otherChild: second.restorationChildren = [find]
    case .childOfAnotherChild: second.restorationChildren = [Screen("page", children: [find])]
    }
    if course != .turnsUpEditedAndAgain { _ = try await coordinator.restore(into: root) }
    if furniture == .sameView { ruler.restorableState.text = "ours" } else { find.text = "ours" }
    if course != .once { _ = try await coordinator.restore(into: root) }
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

  /// What becomes of the lower of two unedited objects when the upper one gets another's identifier.
  enum Lower: CaseIterable, Sendable {
    case stays, leaves, isRenamed, getsAChild
  }

  @Test(arguments: Lower.allCases)
  func `who has nothing stored and moves twice at once takes nothing along`(lower: Lower) async throws {
    let bench = Bench()
    let first = editor("one", text: "theirs")
    first.restorationChildren = [Screen("index", text: "their index", children: [Screen("find", text: "their find")])]
    try await bench.preserve(Screen("root", children: [first, Screen("pane")]))

    let find = Screen("find")
    let page = Screen("page", children: [find])
    let second = editor("two", [page])
    let pane = Screen("pane")
    let root = Screen("root", children: [second, pane])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    page.restorationIdentifier = "index"
    switch lower {
    case .stays: break
    case .leaves:
      page.restorationChildren = []
      pane.restorationChildren = [find]
    case .isRenamed: find.restorationIdentifier = "other"
    case .getsAChild: find.restorationChildren = [Screen("more")]
    }
    _ = try await coordinator.preserve(root)

    let again = editor("one", [Screen("index", children: [Screen("find")])])
    _ = try await bench.launch().restore(into: Screen("root", children: [again, Screen("pane")]))
    #expect(again.text == "theirs")
    #expect(again["index"]?.text == "their index")
    #expect(again["index"]?["find"]?.text == "their find")
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
