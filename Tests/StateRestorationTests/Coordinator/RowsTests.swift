import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// A place keeps a row for every class and model whose objects had it, and gives each its own back (R2.6, R3.5).
@MainActor @Suite struct RowsTests {
  /// In what the objects differ that share a place.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model
  }

  private let path: RestorationPath = ["root", "editor"]

  private func editor(_ difference: Difference, _ value: String, text: String = "", page: String = "") -> Screen {
    let editor = Screen("editor", text: text, children: [Screen("page", text: page)])
    switch difference {
    case .tag: editor.restoration.class = RestorationIdentity.ClassTag(value)
    case .model: editor.restoration.model = ModelIdentifier(value)
    }
    return editor
  }

  private func texts(_ editor: Screen) -> [String?] { [editor.text, editor["page"]?.text] }

  /// One run with an editor in the place: returns what it is given, and saves what is typed then.
  private func run(
    _ bench: Bench, _ difference: Difference, _ value: String, typing text: String? = nil
  ) async throws -> [String?] {
    let editor = editor(difference, value)
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let given = texts(editor)
    if let text {
      editor.text = text
      editor["page"]?.text = "\(text)'s page"
    }
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    return given
  }

  /// A row of "one", and one of "two", which an object had last.
  private func preserved(_ difference: Difference, _ kind: StoreKind = .memory) async throws -> Bench {
    let bench = try await Bench(kind)
    for name in ["one", "two"] { #expect(try await run(bench, difference, name, typing: name) == ["", ""]) }
    return bench
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `objects that take turns in one place get their own state back`(
    difference: Difference, on kind: StoreKind
  ) async throws {
    let bench = try await preserved(difference, kind)
    for round in 0..<2 {
      for name in ["one", "two"] {
        let last = round == 0 ? name : "\(name) again"
        #expect(try await run(bench, difference, name, typing: "\(name) again") == [last, "\(last)'s page"])
      }
    }
    #expect(try await run(bench, difference, "three") == ["", ""])
    let waiting = try bench.newestReader().absentRows().compactMap(\.attributes.model).sorted()
    #expect(waiting == (difference == .model ? ["one", "two"] : []))
  }

  @Test func `the row of a model that another one had the place of is absent, and the report says so`() async throws {
    let bench = try await preserved(.model)
    let report = try await bench.launch().restore(into: Screen("root", children: [editor(.model, "one")]))
    #expect(report.nodes.contains { $0.path == path && $0.isRestored && $0.remarks.contains(.wasAbsent) })
  }

  @Test(arguments: [nil, "A"] as [ModelIdentifier?])
  func `a page that shows another model keeps its place among its siblings`(first: ModelIdentifier?) async throws {
    let bench = Bench()
    let page = Screen("page", text: "one")
    page.restoration.model = first
    let root = Screen("root", children: [page, Screen("beside")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    page.restoration.model = "B"
    page.text = "two"
    _ = try await coordinator.preserve(root)
    let reader = try bench.newestReader()
    let top = try #require(try reader.roots.first { try reader.node($0)?.identifier == "root" })
    let names = try reader.children(of: top).compactMap { try reader.node($0)?.rowIdentifier.rawValue }
    #expect(names == ["page", "page", "beside"])
  }

  /// What a program may have in the place of a tagged screen.
  enum Stand: CaseIterable, Sendable {
    case otherTag, otherModel, view
  }

  @Test(arguments: Stand.allCases, StoreKind.allCases)
  func `an object that was refused the state lies beside it`(
    stand: Stand, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let first = Screen("editor", text: "precious", tag: "editor", children: [Screen("page", text: "precious too")])
    first.restoration.model = "one"
    try await bench.preserve(Screen("root", children: [first]))
    let root = Screen("root")
    let other = Screen("editor", children: [Screen("page")])
    let field = Field("editor", 3)
    switch stand {
    case .otherTag: other.restoration.class = "other"
    case .otherModel: (other.restoration.class, other.restoration.model) = ("editor", "two")
    case .view: root.restorationViews = [field]
    }
    if stand != .view { root.restorationChildren = [other] }
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root)[path]?.isRestored == false)
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    other["page"]?.text = "edited"
    field.restorableState = 4
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    let again = Screen("editor", tag: "editor", children: [Screen("page")])
    again.restoration.model = "one"
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(texts(again) == ["precious", "precious too"], "the stored state is gone")
    let (shownRoot, shown, shownField) = (Screen("root"), Screen("editor", children: [Screen("page")]), Field("editor"))
    (shown.restoration.class, shown.restoration.model) =
      (other.restoration.class, other.restoration.model)
    if stand == .view { shownRoot.restorationViews = [shownField] } else { shownRoot.restorationChildren = [shown] }
    _ = try await bench.launch().restore(into: shownRoot)
    if stand == .view { #expect(shownField.restorableState == 4) } else { #expect(texts(shown) == ["", "edited"]) }
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `an edit deep below another object's place leaves the stored subtree whole`(
    difference: Difference, savesBefore: Bool
  ) async throws {
    let bench = Bench()
    func editor(_ name: String, _ text: String = "") -> Screen {
      let editor = self.editor(difference, name, text: text, page: text)
      editor["page"]?.restorationChildren = [Screen("deep", text: text)]
      return editor
    }
    try await bench.preserve(Screen("root", children: [editor("one", "theirs")]))
    let second = editor("two")
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if savesBefore { _ = try await coordinator.preserve(root) }
    second["page"]?["deep"]?.text = "ours"
    _ = try await coordinator.preserve(root)
    for (name, expected) in [("one", ["theirs", "theirs", "theirs"]), ("two", ["", "", "ours"])] {
      let again = editor(name)
      _ = try await bench.launch().restore(into: Screen("root", children: [again]))
      #expect([again.text, again["page"]?.text, again["page"]?["deep"]?.text] == expected)
    }
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `an edit while locked comes back to the object that made it`(
    difference: Difference, on kind: StoreKind
  ) async throws {
    for isKilled in [false, true] {
      let bench = try await Bench(kind)
      try await bench.preserve(Screen("root", children: [editor(difference, "one", text: "one", page: "one's page")]))
      try await bench.lock()
      let second = editor(difference, "two")
      let root = Screen("root", children: [second])
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: root).outcome == .locked)
      second["page"]?.text = "typed while locked"
      _ = try await coordinator.preserve(root)
      if isKilled {
        try await bench.kill()
        try await bench.unlock()
      } else {
        try await bench.unlock(coordinator)
        #expect(texts(second) == ["", "typed while locked"])
        _ = try await coordinator.preserve(root)
      }
      for (name, expected) in [("two", ["", "typed while locked"]), ("one", ["one", "one's page"])] {
        let again = editor(difference, name)
        _ = try await bench.launch().restore(into: Screen("root", children: [again]))
        #expect(texts(again) == expected, "\(name), \(isKilled)")
      }
    }
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `a late object is given the row that fits it`(
    difference: Difference, on kind: StoreKind
  ) async throws {
    let bench = try await preserved(difference, kind)
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let late = editor(difference, "one")
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: path)?.isRestored == true)
    #expect(texts(late) == ["one", "one's page"])
    late.text = "edited"
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    #expect(try await run(bench, difference, "one") == ["edited", "one's page"])
    #expect(try await run(bench, difference, "two") == ["two", "two's page"])
  }

  @Test(arguments: Difference.allCases)
  func `a late object of another class or model lies beside the stored rows`(difference: Difference) async throws {
    let bench = try await preserved(difference)
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let late = editor(difference, "three")
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: path)?.isRestored == false)
    #expect(texts(late) == ["", ""])
    root.text = "changed"
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    for name in ["two", "one"] {
      #expect(try await run(bench, difference, name) == [name, "\(name)'s page"])
    }
  }

  @Test(arguments: Difference.allCases)
  func `an object that leaves takes its own row with it, and leaves the others`(
    difference: Difference
  ) async throws {
    let bench = try await preserved(difference)
    let root = Screen("root", children: [editor(difference, "two")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.dropChildren()
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    #expect(try await run(bench, difference, "two") == ["", ""])
    #expect(try await run(bench, difference, "one") == ["one", "one's page"])
  }

  @Test(arguments: Difference.allCases)
  func `an absent row moves with the object above it`(difference: Difference) async throws {
    let bench = Bench()
    for name in ["one", "two"] {
      let coordinator = bench.launch()
      let root = Screen("root", children: [Screen("panel", children: [editor(difference, name)])])
      _ = try await coordinator.restore(into: root)
      root["panel"]?["editor"]?.text = name
      _ = try await coordinator.preserve(root)
      guard name == "two" else { continue }
      root["panel"]?.restoration.identifier = "board"
      _ = try await coordinator.preserve(root)
    }
    let one = editor(difference, "one")
    _ = try await bench.launch().restore(into: Screen("root", children: [Screen("board", children: [one])]))
    #expect(one.text == "one")
  }

  @Test func `nobody is made for an absent row`() async throws {
    let bench = try await preserved(.model)
    let coordinator = bench.launch()
    let shown = Screen("root", children: [editor(.model, "two")])
    _ = try await coordinator.restore(into: shown)
    shown.dropChildren()
    _ = try await coordinator.preserve(shown)
    try await bench.kill()
    bench.delegate.make = { path, _ in path.last == "editor" ? Screen("editor") : nil }
    let root = Screen("root")
    _ = try await bench.launch().restore(into: root)
    #expect(root.restorationChildren.isEmpty)
  }

  @Test func `what is carried over below one note does not go to the next one in its place`() async throws {
    let model: ModelIdentifier = "B"
    let bench = Bench()
    func note(_ model: ModelIdentifier, _ text: String = "", _ children: [Screen] = []) -> Screen {
      let note = Screen("editor", text: text, tag: "editor", children: children)
      note.restoration.model = model
      return note
    }
    try await bench.preserve(Screen("root", children: [note("A", "a", [Screen("comments", text: "of A")])]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [note("A")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [note(model, "b")]
    _ = try await coordinator.preserve(root)
    let comments = Screen("comments")
    let again = note(model, "", [comments])
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "b" && comments.text == "")
  }

  // MARK: - Of no use any more

  /// Why the newest state is of no use any more.
  enum Reason: String, CaseIterable, Sendable {
    case gone, expired
  }

  @Test(arguments: Reason.allCases)
  func `state of no use is deleted, and the next row of its place comes back`(reason: Reason) async throws {
    let bench = Bench()
    func launch(isOver: Bool) -> RestorationCoordinator {
      if isOver { bench.time += 3600 }
      return bench.launch { registry in
        switch reason {
        case .gone: registry.register(Screen.self, as: "note", onlyIf: { $0 != "two" || !isOver })
        case .expired: registry.register(Screen.self, as: "draft", freshFor: .seconds(60))
        }
      }
    }
    func note(_ name: String) -> Screen {
      let note = editor(.model, name)
      note.restoration.class = reason == .expired && name == "two" ? "draft" : "note"
      return note
    }
    for name in ["one", "two"] {
      let coordinator = launch(isOver: false)
      let root = Screen("root", children: [note(name)])
      _ = try await coordinator.restore(into: root)
      root["editor"]?.text = name
      _ = try await coordinator.preserve(root)
    }
    let coordinator = launch(isOver: true)
    let one = note("one")
    let root = Screen("root", children: [one])
    let report = try await coordinator.restore(into: root)
    #expect(one.text == "one")
    let names: [RestorationReport.NotRestoredReason] = report.nodes.filter { $0.path == path }.compactMap(
      \.notRestoredReason)
    #expect(names.count == 1)
    switch names.first {
    case .modelGone?: #expect(reason == .gone)
    case .expired?: #expect(reason == .expired)
    default: Issue.record("\(report)")
    }
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().absentRows().isEmpty)
  }

  // MARK: - Newer versions and failures

  /// A panel of some version.
  class Editor: RestorableController, CodingObject {
    var restoration: RestorationIdentity
    var text: String
    var fails = false
    init(_ text: String = "", called identifier: RestorationIdentifier = "e") {
      self.text = text
      restoration = RestorationIdentity(identifier, version: Self.version)
    }
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      if fails { throw RestorationError(.invalidState, "as the test wants") }
      text = try coder.decode(forKey: "text")
    }
    class var version: StateVersion { 2 }
  }

  /// The same class in the program's next version.
  enum Next {
    final class Editor: RowsTests.Editor {
      override class var version: StateVersion { 9 }
    }
  }

  private func root(_ editor: Editor) -> Screen { Screen("root", children: [editor, Screen("other")]) }

  @Test(arguments: StoreKind.allCases)
  func `an edit lies beside a record of a newer version, and is given`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(root(Next.Editor("of the newer program")))
    let older = Editor()
    let hierarchy = root(older)
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: hierarchy)
    #expect(report[["root", "e"]]?.notRestoredReason == .newerVersion(stored: 9, known: 2))
    hierarchy["other"]?.text = "changed"
    _ = try await coordinator.preserve(hierarchy)
    #expect(try bench.newestReader().versions(at: ["root", "e"]) == [9])
    older.text = "typed in the older program"
    for round in 0..<3 {
      hierarchy["other"]?.text = "round \(round)"
      _ = try await coordinator.preserve(hierarchy)
    }
    #expect(try bench.newestReader().versions(at: ["root", "e"]) == [9, 2])
    try await bench.kill()
    for again in [Editor(), Next.Editor()] {
      _ = try await bench.launch().restore(into: root(again))
      #expect(again.text == "typed in the older program")
    }
  }

  /// How an object comes into the place of state that it can't read.
  enum Arrival: CaseIterable, Sendable {
    case registered, unasked
  }

  @Test(arguments: Arrival.allCases)
  func `what an older program's late object has lies beside a record of a newer version`(arrival: Arrival) async throws
  {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Next.Editor("newer")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    let late = Editor("typed")
    root.restorationChildren = [late]
    if arrival == .registered {
      let report = coordinator.restore(late, at: ["root", "e"])
      #expect(report?.notRestoredReason == .newerVersion(stored: 9, known: 2))
      // What the object has at the end of the turn is no edit.
      for _ in 0..<3 { await Task.yield() }
      late.text = "edited"
    }
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().versions(at: ["root", "e"]) == [9, 2])
  }

  @Test func `the row of a live object is not forgotten, the others of its place are`() async throws {
    let bench = Bench()
    try await bench.preserve(root(Editor("precious")))
    let failing = Editor()
    failing.fails = true
    failing.restoration.model = "one"
    let hierarchy = root(failing)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy)
    #expect(await coordinator.forget(["root", "e"]) == false)
    failing.text = "typed"
    _ = try await coordinator.preserve(hierarchy)
    failing.restoration.model = "other"
    failing.text = "other's"
    _ = try await coordinator.preserve(hierarchy)
    #expect(try bench.newestReader().absentRows().count == 1)
    #expect(await coordinator.forget(["root", "e"]))
    #expect(await coordinator.forget(["root", "e"]) == false)
    _ = try await coordinator.preserve(hierarchy)
    #expect(try bench.newestReader().absentRows().isEmpty)
    let again = Editor()
    _ = try await bench.launch().restore(into: root(again))
    #expect(again.text == "other's")
  }

  @Test func `an edit lies beside a record that its object failed to decode`() async throws {
    let bench = Bench()
    try await bench.preserve(root(Editor("precious")))
    let failing = Editor()
    failing.fails = true
    let hierarchy = root(failing)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy)
    hierarchy["other"]?.text = "changed"
    _ = try await coordinator.preserve(hierarchy)
    #expect(try bench.newestReader().records(at: ["root", "e"]).count == 1)
    failing.text = "typed"
    _ = try await coordinator.preserve(hierarchy)
    #expect(try bench.newestReader().records(at: ["root", "e"]).count == 2)
    let again = Editor()
    _ = try await bench.launch().restore(into: root(again))
    #expect(again.text == "typed")
  }

  // MARK: - Others

  @Test func `somebody who registers in the finished hook gets the state`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    let late = Screen("a")
    var report: NodeReport?
    root.onFinish = {
      root.restorationChildren = [late]
      report = coordinator.restore(late, at: ["root", "a"])
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

  @Test(arguments: ["$application", "$shared", "$kept", "$free-1", "$moving-1", "a/b", "\u{0}", "a\u{1}2"])
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
      coordinator.registry.share(shared, as: "s")
      _ = try await coordinator.preserve(root)
      if !isRoot {
        // Names change hands, so that the framework needs names of its own for a while.
        root["x"]?.restoration.identifier = "y"
        target.restoration.identifier = "x"
        root["y"]?.restoration.identifier = identifier
        _ = try await coordinator.preserve(root)
        root[identifier]?.restoration.identifier = "z"
        target.restoration.identifier = identifier
        root["z"]?.restoration.identifier = "x"
        _ = try await coordinator.preserve(root)
      }
      let (again, found) = make()
      bench.delegate.restoredAppValue = nil
      let sharedAgain = Screen("s")
      let report = try await bench.launch { $0.share(sharedAgain, as: "s") }.restore(into: again)
      #expect(found.text == "typed", "\(isRoot) \(report)")
      #expect(bench.delegate.restoredAppValue == "app", "\(isRoot)")
      #expect(sharedAgain.text == "shared", "\(isRoot)")
    }
  }
}
