import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Who gets what lies at a path: newcomers, successors, late ones.
@MainActor @Suite struct TakingPlacesTests {
  typealias Editor = KeptStateTests.Editor
  typealias NewerEditor = KeptStateTests.NewerEditor

  func note(_ model: ModelIdentifier?, _ text: String = "", children: [any RestorableController] = []) -> Screen {
    let screen = Screen("editor", text: text, tag: "editor", children: children)
    screen.restorationModelIdentifier = model
    return screen
  }

  @Test(arguments: [nil, "B"] as [ModelIdentifier?])
  func `what nobody asked for below one note does not go to another that takes its place`(
    _ model: ModelIdentifier?
  ) async throws {
    let bench = Bench()
    func classes(_ registry: RestorationRegistry) { registry.register(Screen.self, as: "editor") }
    _ = try await bench.launch(classes).preserve(
      Screen("root", children: [note("A", "a", children: [Screen("comments", text: "of A")])]))
    let coordinator = bench.launch(classes)
    let root = Screen("root", children: [note("A")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    let successor = note("B", "b")
    root.restorationChildren = [successor]
    _ = try await coordinator.preserve(root)
    let comments = Screen("comments")
    let again = Screen("root", children: [note("B", children: [comments])])
    _ = try await bench.launch(classes).restore(into: again)
    #expect(again["editor"]?.text == "b")
    #expect(comments.text == "")
  }

  @Test func `what nobody asked for below a note stays with it when its editor is given another`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [note("A", "a", children: [Screen("comments", text: "of A")])]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [note("A")])
    _ = try await coordinator.restore(into: root)
    root["editor"]?.restorationModelIdentifier = "B"
    root["editor"]?.text = "b"
    _ = try await coordinator.preserve(root)
    let comments = Screen("comments")
    let again = Screen("root", children: [note("B", children: [comments])])
    _ = try await bench.launch().restore(into: again)
    #expect(again["editor"]?.text == "b")
    #expect(comments.text == "")
  }

  /// Comments that turn up late below an editor that was made anew for a note, and what became of them; what was
  /// preserved is of note A.
  private func lateComments(below model: ModelIdentifier) async throws -> (comments: Screen, report: NodeReport?) {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [note("A", "a", children: [Screen("comments", text: "of A")])]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [note("A")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    let comments = Screen("comments")
    root.installed = []
    root.restorationChildren = [note(model, "b", children: [comments])]
    return (comments, coordinator.register(comments, at: ["root", "editor", "comments"]))
  }

  @Test func `late comers get nothing of another note than their owner's`() async throws {
    let (comments, report) = try await lateComments(below: "B")
    #expect(comments.text == "")
    #expect(report?.isRestored != true)
  }

  @Test func `late comers get the state of an owner that was made anew for the same note`() async throws {
    let (comments, report) = try await lateComments(below: "A")
    #expect(comments.text == "of A")
    #expect(report?.isRestored == true)
  }

  @Test func `state of a newer version is kept when a late comer can't read it`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [NewerEditor("newer")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let late = Editor("typed")
    root.restorationChildren = [late]
    let report = coordinator.register(late, at: ["root", "e"])
    #expect(report?.notRestoredReason == .newerVersion(stored: 9, known: 2))
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = [["root", "e"]]
    let newer = NewerEditor()
    _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
    #expect(newer.text == "newer")
  }

  @Test func `state of a newer version is kept when somebody takes its place unasked`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [NewerEditor("newer")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [Editor("typed")]
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = [["root", "e"]]
    let newer = NewerEditor()
    _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
    #expect(newer.text == "newer")
  }

  @Test func `state that a late comer failed to decode is kept`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Editor("precious")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let late = Editor("typed")
    late.fails = true
    root.restorationChildren = [late]
    let report = coordinator.register(late, at: ["root", "e"])
    #expect(report?.isRestored == false)
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = [["root", "e"]]
    let again = Editor()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "precious")
  }

  @Test func `what was left out after a crash is kept when somebody takes its place later`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Editor("precious"), Screen("b")]))
    try await bench.die(at: ["root", "e"])
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("b")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    root.restorationChildren.append(Editor("typed"))
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = [["root", "e"]]
    let again = Editor()
    _ = try await bench.launch().restore(into: Screen("root", children: [again, Screen("b")]), retriesLeftOut: true)
    #expect(again.text == "precious")
  }

  @Test func `somebody who registers in the finished hook gets the state`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    let late = Screen("a")
    var report: NodeReport?
    root.onFinish = {
      root.restorationChildren = [late]
      report = coordinator.register(late, at: ["root", "a"])
    }
    let whole = try await coordinator.restore(into: root)
    #expect(late.text == "a")
    #expect(report?.isRestored == true)
    #expect(whole[["root", "a"]]?.isRestored == true)
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
  }

  @Test(arguments: ["$application", "$shared", "$kept", "$free-1", "$moving-1", "a/b", "\u{0}", "a\u{1F}2"])
  func `an identifier may be called anything`(_ name: String) async throws {
    let identifier = RestorationIdentifier(name)
    for isRoot in [true, false] {
      let bench = Bench()
      let coordinator = bench.launch()
      bench.delegate.appValue = "app"
      func make() -> (root: Screen, target: Screen) {
        let target = Screen(identifier)
        return isRoot ? (target, target) : (Screen("root", children: [Screen("x"), target]), target)
      }
      let (root, target) = make()
      target.text = "typed"
      let shared = Screen("s", text: "shared")
      coordinator.registry.register(shared: shared, as: "s")
      _ = try await coordinator.preserve(root)
      if !isRoot {
        // Names change hands, so that the framework needs names of its own for a while.
        root["x"]?.restorationIdentifier = "y"
        target.restorationIdentifier = "x"
        root["y"]?.restorationIdentifier = identifier
        _ = try await coordinator.preserve(root)
        root[identifier]?.restorationIdentifier = "z"
        target.restorationIdentifier = identifier
        root["z"]?.restorationIdentifier = "x"
        _ = try await coordinator.preserve(root)
      }
      let (again, found) = make()
      bench.delegate.restoredAppValue = nil
      let sharedAgain = Screen("s")
      let report = try await bench.launch { $0.register(shared: sharedAgain, as: "s") }.restore(into: again)
      #expect(found.text == "typed", "\(isRoot) \(report)")
      #expect(bench.delegate.restoredAppValue == "app", "\(isRoot)")
      #expect(sharedAgain.text == "shared", "\(isRoot)")
    }
  }
}
