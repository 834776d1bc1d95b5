import FoundationEssentials
import RestorationArchive
import SimulatedTime
import Testing

@testable import StateRestoration

/// Objects that turn up after restoring: what they had before anything met it is the next one's, and what they were not
/// given is kept.
@MainActor @Suite struct LateRegistrationTests {
  let path: RestorationPath = ["root", "editor"]

  /// An editor with a page, preserved, and a launch at which only its root was there.
  private func launched() async throws -> (Bench, RestorationCoordinator, Screen) {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("at launch", page: "page")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    return (bench, coordinator, root)
  }

  private func editor(_ text: String = "", page: String = "") -> Screen {
    Screen("editor", text: text, children: [Screen("page", text: page)])
  }

  /// Lets an editor turn up, and checks that it was given what was preserved.
  private func give(_ coordinator: RestorationCoordinator, below root: Screen) throws {
    root.restorationChildren = [editor()]
    let editor = try #require(root["editor"])
    #expect(coordinator.restore(editor, at: path)?.isRestored == true)
    #expect(editor.text == "at launch")
    #expect(editor["page"]?.text == "page")
  }

  /// What a launch of its own gets.
  private func restored(_ bench: Bench) async throws -> Screen {
    let root = Screen("root", children: [editor()])
    _ = try await bench.launch().restore(into: root)
    bench.closePlaces()
    return root
  }

  // MARK: - Newer

  @Test(arguments: [false, true], [false, true])
  func `what a save met before it was registered is given the stored state, unless it has left`(
    isGone: Bool, byItself: Bool
  ) async throws {
    let (bench, coordinator, root) = try await launched()
    root.restorationChildren = [editor("typed", page: "typed below")]
    if byItself {
      coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
      await bench.delegate.nextEvent()
      coordinator.preservesAutomatically = .never
    } else {
      _ = try await coordinator.preserve(root)
    }
    if isGone {
      root.dropChildren()
      _ = try await coordinator.preserve(root)
      root.restorationChildren = [editor()]
    }
    let found = try #require(root["editor"])
    #expect((coordinator.restore(found, at: path)?.isRestored == true) == !isGone)
    #expect(coordinator.lastReport?.nodes.contains { $0.path == path && $0.isRestored } == !isGone)
    #expect([found.text, found["page"]?.text] == (isGone ? ["", ""] : ["at launch", "page"]))
    root.text = "something else"
    _ = try await coordinator.preserve(root)
    let next = try await restored(bench)
    #expect([next["editor"]?.text, next["editor"]?["page"]?.text] == (isGone ? ["", ""] : ["at launch", "page"]))
  }

  @Test func `so is what a save has met that is still under way`() async throws {
    let (bench, coordinator, root) = try await launched()
    let editor = editor("typed", page: "typed below")
    root.restorationChildren = [editor]
    let held = bench.store.hold(at: "append")
    let save = Task { try await coordinator.preserve(root) }
    try await held.arrived()
    #expect(coordinator.restore(editor, at: path)?.isRestored == true)
    #expect([editor.text, editor["page"]?.text] == ["at launch", "page"])
    held.release()
    _ = try await save.value
    #expect(try await restored(bench)["editor"]?.text == "at launch")
  }

  @Test func `what a save has met and is another model's does not spend what was preserved`() async throws {
    func editor(of model: ModelIdentifier, _ text: String = "") -> Screen {
      let editor = self.editor(text, page: text)
      editor.restoration.model = model
      return editor
    }
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor(of: "one", "of one")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    for model: ModelIdentifier in ["another", "third"] {
      root.restorationChildren = [editor(of: model, "of \(model)")]
      #expect(try await coordinator.preserve(root).receipt?.changedNodes == 2)
      root.restorationChildren = []
      #expect(try await coordinator.preserve(root).receipt != nil)
    }
    let late = editor(of: "one")
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: path)?.isRestored == true)
    #expect(late.text == "of one")
    #expect(late["page"]?.text == "of one")
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [editor(of: "one")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["editor"]?.text == "of one")
    #expect(again["editor"]?["page"]?.text == "of one")
  }

  // MARK: - Given

  @Test func `an object that moves before a capture meets it takes along what it was given`() async throws {
    let (bench, coordinator, root) = try await launched()
    try give(coordinator, below: root)
    let editor = try #require(root["editor"])
    root.restorationChildren = [Screen("panel", children: [editor])]
    #expect(try await coordinator.preserve(root).receipt?.carriedOverNodes == 0)
    let again = Screen("root", children: [Screen("panel", children: [self.editor()]), self.editor()])
    _ = try await bench.launch().restore(into: again)
    #expect(again["panel"]?["editor"]?.text == "at launch")
    #expect(again["panel"]?["editor"]?["page"]?.text == "page")
    #expect(again["editor"]?.text == "")
  }

  @Test func `state that a living object was given is not forgotten before a capture has met it`() async throws {
    let (_, coordinator, root) = try await launched()
    try give(coordinator, below: root)
    #expect(await coordinator.forget(path) == false)
  }

  // MARK: - Not given

  @Test(arguments: StoreKind.allCases)
  func `what is registered before it is installed takes its place without losing what is stored`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [editor("at launch", page: "page")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let late = editor()
    #expect(coordinator.restore(late, at: path)?.notRestoredReason == .notInstalled)
    #expect(coordinator.lastReport?[path.appending("page")]?.notRestoredReason == .parentNotRestored)
    #expect(late.text == "" && late["page"]?.text == "")
    root.restorationChildren = [late]
    _ = try await coordinator.preserve(root)
    // Nothing newer yet.
    #expect(try await restored(bench)["editor"]?.text == "at launch")
    #expect(try await restored(bench)["editor"]?["page"]?.text == "page")
    late.text = "typed since"
    late["page"]?.text = "typed too"
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?.text == "typed since")
    #expect(try await restored(bench)["editor"]?["page"]?.text == "typed too")
    for path in [path, path.appending("page")] { #expect(try bench.newestReader().records(at: path).count == 2) }
  }

  @Test func `what is registered again once it is installed is given its state`() async throws {
    let (bench, coordinator, root) = try await launched()
    let late = editor()
    #expect(coordinator.restore(late, at: path)?.notRestoredReason == .notInstalled)
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: path)?.isRestored == true)
    #expect(late["page"]?.text == "page")
    late.text = "typed since"
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?.text == "typed since")
    #expect(try bench.newestReader().absentRows().isEmpty)
  }

  @Test func `what comes too late loses nothing that is stored, nor does what is below it`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("at launch", page: "page")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    try await bench.restorePastTimeLimit(coordinator, into: root)
    let late = editor()
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: path)?.notRestoredReason == .timedOut)
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?.text == "at launch")
    #expect(try await restored(bench)["editor"]?["page"]?.text == "page")
    late["page"]?.text = "typed since"
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?.text == "at launch")
    #expect(try await restored(bench)["editor"]?["page"]?.text == "typed since")
    #expect(try bench.newestReader().records(at: path.appending("page")).count == 2)
    coordinator.completeStateRestoration()
  }

  @Test(arguments: StoreKind.allCases)
  func `what restoring made and no container took is installed later without losing what is stored`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [editor("at launch", page: "page")]))
    let made = editor()
    bench.delegate.make = { path, _ in path.last == "editor" ? made : nil }
    let coordinator = bench.launch()
    let root = Screen("root")
    root.takesChildren = false
    let report = try await coordinator.restore(into: root)
    bench.delegate.make = { _, _ in nil }
    #expect(report[path]?.notRestoredReason == .notInstalled)
    #expect(report[path.appending("page")]?.notRestoredReason == .parentNotRestored)
    root.text = "something else"
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [made]
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?.text == "at launch")
    made.text = "typed since"
    _ = try await coordinator.preserve(root)
    let again = try await restored(bench)
    #expect(again["editor"]?.text == "typed since")
    #expect(again["editor"]?["page"]?.text == "page")
    #expect(try bench.newestReader().records(at: path).count == 2)
  }

  // MARK: - Refused, forgotten, given before

  @Test(arguments: [false, true])
  func `what is refused, in a hook or afterwards, and installed then, stays stored`(inHook: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [editor("at launch", page: "page")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    let fresh = Screen("editor", text: "fresh")
    if inHook { root.onFinish = { [path] in _ = coordinator.restore(fresh, at: path) } }
    _ = try await coordinator.restore(into: root)
    if !inHook { #expect(coordinator.restore(fresh, at: path)?.notRestoredReason == .notInstalled) }
    root.restorationChildren = [fresh]
    _ = try await coordinator.preserve(root)
    let again = try await restored(bench)
    #expect(again["editor"]?.text == "at launch")
    #expect(again["editor"]?["page"]?.text == "page")
  }

  @Test(arguments: [false, true])
  func `what is forgotten below a parent that comes late stays forgotten`(atOnce: Bool) async throws {
    let (bench, coordinator, root) = try await launched()
    let below = path.appending("page")
    #expect(await coordinator.forget(below))
    _ = try await coordinator.preserve(root)
    let editor = Screen("editor", children: atOnce ? [Screen("page")] : [])
    root.restorationChildren = [editor]
    #expect(coordinator.restore(editor, at: path)?.isRestored == true)
    if !atOnce {
      editor.restorationChildren = [Screen("page")]
      #expect(coordinator.restore(try #require(editor["page"]), at: below) == nil)
    }
    #expect(editor["page"]?.text == "")
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: [false, true])
  func `a page that is opened once more and not edited is preserved, whatever row is absent`(
    hasAbsent: Bool
  ) async throws {
    func page(_ model: ModelIdentifier) -> Screen {
      let page = Screen("page", text: "of \(model)")
      page.restoration.model = model
      return page
    }
    let bench = Bench()
    if hasAbsent { try await bench.preserve(Screen("root", children: [page("two")])) }
    let first = bench.launch()
    let before = Screen("root", children: [page("one")])
    _ = try await first.restore(into: before)
    before["page"]?.text = "edited"
    _ = try await first.preserve(before)
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    for isFirst in [true, false] {
      root.restorationChildren = [page("one")]
      let report = coordinator.restore(try #require(root["page"]), at: ["root", "page"])
      #expect(report?.isRestored == (isFirst ? true : nil))
      _ = try await coordinator.preserve(root)
      if isFirst { root.dropChildren() }
      _ = try await coordinator.preserve(root)
    }
    let stored = try bench.newestReader()
    #expect(try stored.node(at: ["root", "page"]) != nil)
  }

  @Test func `state below a late object that was refused stays`() async throws {
    let (bench, coordinator, root) = try await launched()
    let late = Screen("editor")
    #expect(coordinator.restore(late, at: path)?.notRestoredReason == .notInstalled)
    root.restorationChildren = [late]
    _ = try await coordinator.preserve(root)
    let page = Screen("page")
    late.restorationChildren = [page]
    #expect(coordinator.restore(page, at: ["root", "editor", "page"]) == nil)
    _ = try await coordinator.preserve(root)
    #expect(try await restored(bench)["editor"]?["page"]?.text == "page")
  }

  /// Runs something while it is asked for its state.
  final class Asked: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "asked"
    var onEncode: (() -> Void)?
    func encodeRestorableState(with coder: RestorationEncoder) { onEncode?() }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
  }

  @Test(arguments: [false, true])
  func `an object may be given its state while a save asks another one`(isReadable: Bool) async throws {
    let bench = Bench()
    let page: any RestorableController = isReadable ? StoredValue("page", 1) : StoredValue("page", "a text")
    try await bench.preserve(Screen("root", children: [Asked(), Screen("other"), page]))
    let (coordinator, asked) = (bench.launch(), Asked())
    let root = Screen("root", children: [asked, Screen("other")])
    root.takesChildren = false
    _ = try await coordinator.restore(into: root)
    let late = StoredValue("page", 0)
    asked.onEncode = { [unowned root, unowned coordinator] in
      guard root.restorationChildren.count == 2 else { return }
      root.restorationChildren.append(late)
      #expect(coordinator.restore(late, at: ["root", "page"])?.isRestored == isReadable)
    }
    for text in ["first", "second"] {
      root["other"]?.text = text
      _ = try await coordinator.preserve(root)
      let again = Screen("root", children: [Screen("other")])
      _ = try await bench.launch().restore(into: again)
      #expect(again["other"]?.text == text)
    }
    #expect(late.value == (isReadable ? 1 : 0))
    guard !isReadable else { return }
    let unread = StoredValue("page", "")
    _ = try await bench.launch().restore(into: Screen("root", children: [unread]))
    #expect(unread.value == "a text")
  }

  /// The save has copied the edit, and the main actor has not heard of its end.
  @Test(arguments: [10, 300_000]) func `a late object keeps an edit that a save under way has copied`(size: Int)
    async throws
  {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [StoredValue("page", "stored")]))
    let (coordinator, root) = (bench.launch(), Screen("root"))
    root.takesChildren = false
    _ = try await coordinator.restore(into: root)
    let late = StoredValue("page", "launch")
    root.restorationChildren = [late]
    _ = try await coordinator.preserve(root)
    let typed = String(repeating: "t", count: size)
    late.value = typed
    guard case .handed(let save) = coordinator.handOver(root, scope: .all) else {
      Issue.record("There was something to write.")
      return
    }
    coordinator.worker.post { save.write(&$0) }
    coordinator.restore(late, at: ["root", "page"])
    #expect(late.value == typed && save.outcome != nil)
    _ = try await coordinator.preserve(root)
    let again = StoredValue("page", "")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value == typed)
  }

  @Test func `carried-over state below an object that is given its own during a save stays`() async throws {
    let bench = Bench()
    func root(_ page: Screen) -> Screen { Screen("root", children: [Asked(), page]) }
    try await bench.preserve(root(Screen("page", text: "page", children: [Screen("below", text: "below")])))
    let (coordinator, asked) = (bench.launch(), Asked())
    let hierarchy = Screen("root", children: [asked])
    hierarchy.takesChildren = false
    _ = try await coordinator.restore(into: hierarchy)
    let late = Screen("page")
    asked.onEncode = { [unowned hierarchy, unowned coordinator] in
      guard hierarchy.restorationChildren.count == 1 else { return }
      hierarchy.restorationChildren.append(late)
      #expect(coordinator.restore(late, at: ["root", "page"])?.isRestored == true)
    }
    for _ in 0..<2 { _ = try await coordinator.preserve(hierarchy) }
    #expect(late.text == "page")
    let below = Screen("below")
    _ = try await bench.launch().restore(into: root(Screen("page", children: [below])))
    #expect(below.text == "below")
  }

  @Test(arguments: [false, true]) func `nobody is given deleted state though its model comes back`(
    savesBefore: Bool
  ) async throws {
    let bench = Bench()
    var isGone = false
    let register: (RestorationRegistry) -> Void = { $0.register(Screen.self, as: "note", onlyIf: { _ in !isGone }) }
    func note(_ text: String = "", page: Screen) -> Screen {
      let note = Screen("note", text: text, tag: "note", children: [page])
      note.restoration.model = "one"
      return note
    }
    _ = try await bench.launch(register).preserve(
      Screen("root", children: [note("deleted", page: Screen("page", text: "deleted"))]))
    bench.closePlaces()
    isGone = true
    let (coordinator, root) = (bench.launch(register), Screen("root"))
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "note"]]?.notRestoredReason == .modelGone("one"))
    isGone = false
    if savesBefore { _ = try await coordinator.preserve(root) }
    let late = note(page: Screen("page"))
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: ["root", "note"]) == nil)
    #expect(coordinator.restore(try #require(late["page"]), at: ["root", "note", "page"]) == nil)
    #expect(late.text == "" && late["page"]?.text == "")
    // It is an object like any other: saved as it is.
    late.text = "new"
    _ = try await coordinator.preserve(root)
    bench.closePlaces()
    let again = Screen("root", children: [note(page: Screen("page"))])
    _ = try await bench.launch(register).restore(into: again)
    #expect(again["note"]?.text == "new")
    #expect(again["note"]?["page"]?.text == "")
  }
}
