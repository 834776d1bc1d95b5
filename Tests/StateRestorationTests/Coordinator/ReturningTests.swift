import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// State that made room for another class's or model's comes back with everything below it, when its own object does.
@MainActor @Suite struct ReturningTests {
  /// In what the two objects differ that share a place.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model
  }

  private let path: RestorationPath = ["root", "editor"]

  private func editor(_ difference: Difference, _ value: String, _ children: [Screen] = []) -> Screen {
    let editor = Screen("editor", children: children)
    switch difference {
    case .tag: editor.restorationClass = RestorationClass(value)
    case .model: editor.restorationModelIdentifier = ModelIdentifier(value)
    }
    return editor
  }

  /// One run: what comes back into an editor with a page is read, then replaced and saved.
  private func run(
    _ bench: Bench, _ difference: Difference, _ value: String, typing text: String?
  ) async throws -> (texts: [String], report: RestorationReport) {
    let page = Screen("page")
    let editor = editor(difference, value, [page])
    let root = Screen("root", children: [editor, Screen("other")])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    let texts = [editor.text, page.text]
    if let text {
      editor.text = text
      page.text = "\(text)'s page"
    }
    root["other"]?.text = "round \(text ?? "")"
    _ = try await coordinator.preserve(root)
    return (texts, report)
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `two that take turns in one place each get their own back, any number of times`(
    difference: Difference, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    #expect(try await run(bench, difference, "one", typing: "one 0").texts == ["", ""])
    #expect(try await run(bench, difference, "two", typing: "two 0").texts == ["", ""])
    for round in 0..<3 {
      for name in ["one", "two"] {
        let (texts, report) = try await run(bench, difference, name, typing: "\(name) \(round + 1)")
        #expect(texts == ["\(name) \(round)", "\(name) \(round)'s page"])
        #expect(report[path]?.isRestored == true)
        #expect(report[path]?.findings.contains(.broughtBack) == true)
        #expect(report[path.appending("page")]?.isRestored == true)
        #expect(report.nodes.map(\.path) == [["root"], ["root", "other"], path, path.appending("page")])
      }
    }
    #expect(try bench.newestReader().keptNodes().count == 1)
  }

  @Test(arguments: Difference.allCases)
  func `what came back and was not edited is there again after a kill, and after a save`(
    difference: Difference
  ) async throws {
    let bench = Bench()
    _ = try await run(bench, difference, "one", typing: "one")
    _ = try await run(bench, difference, "two", typing: "two")
    let root = Screen("root", children: [editor(difference, "one", [Screen("page")])])
    _ = try await bench.launch().restore(into: root)
    #expect(root["editor"]?.text == "one")
    for _ in 0..<2 {
      #expect(try await run(bench, difference, "one", typing: nil).texts == ["one", "one's page"])
    }
    #expect(try await run(bench, difference, "two", typing: nil).texts == ["two", "two's page"])
  }

  @Test(arguments: Difference.allCases)
  func `what nobody had asked for below it stays its own`(difference: Difference) async throws {
    let bench = Bench()
    _ = try await run(bench, difference, "one", typing: "one")
    let two = editor(difference, "two")
    let root = Screen("root", children: [two])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    two.text = "two"
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, difference, "two", typing: nil).texts == ["two", ""])
    #expect(try await run(bench, difference, "one", typing: nil).texts == ["one", "one's page"])
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `who turns up late is given what was kept for it`(difference: Difference, isSaved: Bool) async throws {
    let bench = Bench()
    _ = try await run(bench, difference, "one", typing: "one")
    _ = try await run(bench, difference, "two", typing: "two")
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if isSaved { _ = try await coordinator.preserve(root) }
    let page = Screen("page")
    let one = editor(difference, "one")
    root.restorationChildren = [one]
    let report = coordinator.register(one, at: path)
    #expect(report?.isRestored == true)
    #expect(report?.findings.contains(.broughtBack) == true)
    #expect(one.text == "one")
    one.restorationChildren = [page]
    #expect(coordinator.register(page, at: path.appending("page"))?.isRestored == true)
    #expect(page.text == "one's page")
    _ = try await coordinator.preserve(root)
    one.text = "one, edited"
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, difference, "one", typing: nil).texts == ["one, edited", "one's page"])
    #expect(try await run(bench, difference, "two", typing: nil).texts == ["two", "two's page"])
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `who turns up after the other one has left is given what was kept for it`(
    difference: Difference, livesOn: Bool
  ) async throws {
    let bench = Bench()
    _ = try await run(bench, difference, "one", typing: "one")
    _ = try await run(bench, difference, "two", typing: "two")
    let root = Screen("root", children: [editor(difference, "two")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    let two = livesOn ? root["editor"] : nil
    #expect(root["editor"]?.text == "two")
    root.dropChildren(sparing: two)
    let one = editor(difference, "one")
    root.restorationChildren = [one]
    #expect(coordinator.register(one, at: path)?.isRestored == true)
    #expect(one.text == "one")
    #expect(coordinator.register(one, at: path) == nil, "it is in use")
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, difference, "one", typing: nil).texts == ["one", "one's page"])
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `all that turn up in one place in one run are given their own, once`(
    difference: Difference, isSaved: Bool
  ) async throws {
    let bench = Bench()
    let names = ["one", "two", "three"]
    for name in names { _ = try await run(bench, difference, name, typing: name) }
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    func open(_ name: String) async throws -> String {
      let shown = editor(difference, name, [Screen("page")])
      root.restorationChildren = [shown]
      coordinator.register(shown, at: path)
      if isSaved { _ = try await coordinator.preserve(root) }
      return shown.text + (shown["page"]?.text ?? "")
    }
    for name in ["two", "three", "one"] { #expect(try await open(name) == "\(name)\(name)'s page") }
    // Each has left the hierarchy with what it had.
    if isSaved { for name in ["two", "three"] { #expect(try await open(name).isEmpty) } }
  }

  /// What becomes of a screen that was refused what is stored in its place.
  enum Fate: CaseIterable, Sendable {
    case closed, editedAndClosed, savedAndClosed, replaced, itsChildClosed, itsChildMoved, itsChildMovedDeeper
  }

  @Test(arguments: Difference.allCases, Fate.allCases)
  func `what an object never had neither leaves nor moves with it`(difference: Difference, fate: Fate) async throws {
    for (isSaved, isLate) in [(false, false), (true, false), (false, true), (true, true)] {
      let bench = Bench()
      _ = try await run(bench, difference, "one", typing: "one")
      let (page, below) = (Screen("page"), Screen("deeper"))
      let two = editor(difference, "two", [page])
      let other = Screen("other")
      let root = Screen("root", children: isLate ? [other] : [two, other])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      if isLate {
        root.restorationChildren.insert(two, at: 0)
        #expect(coordinator.register(two, at: path)?.isRestored == false)
      }
      if isSaved { _ = try await coordinator.preserve(root) }
      switch fate {
      case .closed: root.restorationChildren = [other]
      case .editedAndClosed:
        two.text = "edited"
        root.restorationChildren = [other]
      case .savedAndClosed:
        two.text = "edited"
        _ = try await coordinator.preserve(root)
        root.restorationChildren = [other]
      case .replaced: root.restorationChildren = [editor(difference, "three"), other]
      case .itsChildClosed: two.restorationChildren = []
      case .itsChildMoved:
        two.restorationChildren = []
        other.restorationChildren = [page]
      case .itsChildMovedDeeper:
        two.restorationChildren = [below]
        below.restorationChildren = [page]
      }
      for round in 0..<2 {
        root.text = "round \(round)"
        _ = try await coordinator.preserve(root)
      }
      if fate == .itsChildMoved || fate == .itsChildMovedDeeper {
        page.text = "edited"
        _ = try await coordinator.preserve(root)
      }
      let texts = try await run(bench, difference, "one", typing: nil).texts
      #expect(texts == ["one", "one's page"], "\(fate) \(isSaved) \(isLate)")
    }
  }

  @Test func `what restoring died at outlives the screen that came up without it`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("bad", text: "bad"), Screen("other")]))
    try await bench.die(at: ["root", "bad"])
    let root = Screen("root", children: [Screen("bad"), Screen("other")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [Screen("other")]
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = [["root", "bad"]]
    let again = Screen("bad")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "bad")
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `what was typed while locked joins what is kept for its own`(difference: Difference, on kind: StoreKind)
    async throws
  {
    for isPage in [false, true] {
      let bench = try await Bench(kind)
      _ = try await run(bench, difference, "two", typing: "two")
      _ = try await run(bench, difference, "one", typing: "one")
      try await bench.lock()
      let two = editor(difference, "two", [Screen("page")])
      let coordinator = bench.launch()
      let root = Screen("root", children: [two, Screen("other")])
      _ = try await coordinator.restore(into: root)
      if isPage { two["page"]?.text = "typed" } else { two.text = "typed" }
      _ = try await coordinator.preserve(root)
      try await bench.unlock(coordinator)
      #expect([two.text, two["page"]?.text] == (isPage ? ["two", "typed"] : ["typed", "two's page"]))
      _ = try await coordinator.preserve(root)
      try await bench.kill()
      #expect(try await run(bench, difference, "one", typing: nil).texts == ["one", "one's page"])
      #expect(
        try await run(bench, difference, "two", typing: nil).texts
          == (isPage ? ["two", "typed"] : ["typed", "two's page"]))
    }
  }

  /// A root with screens of one model each.
  private func root(_ models: [String], text: String = "") -> Screen {
    Screen(
      "root",
      children: models.enumerated().map { number, model in
        let screen = Screen("s\(number)", text: text)
        screen.restorationModelIdentifier = ModelIdentifier(model)
        return screen
      })
  }

  private func texts(_ root: Screen) -> [String] {
    (0..<root.restorationChildren.count).compactMap { root["s\($0)"]?.text }
  }

  /// Saves screens of one model, then edits those of another in their places.
  private func replace(_ count: Int, on bench: Bench) async throws {
    try await bench.preserve(root(Array(repeating: "one", count: count), text: "one"))
    let second = root(Array(repeating: "two", count: count))
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: second)
    for case let screen as Screen in second.restorationChildren { screen.text = "two" }
    _ = try await coordinator.preserve(second)
  }

  @Test(arguments: StoreKind.allCases)
  func `what restoring died at is not brought back again, and nothing else is left out`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    try await replace(2, on: bench)
    try await bench.die(at: ["$kept", "root/s0"])
    // Right after the death nothing that is kept is given, so that this launch ends.
    for expected in [["", ""], ["", "one"]] {
      let again = root(["one", "one"])
      let report = try await bench.launch().restore(into: again)
      #expect(texts(again) == expected)
      #expect(report[["root", "s0"]]?.notRestoredReason == .modelMismatch(recorded: "two", found: "one"))
      #expect(report[["root", "s0"]]?.findings == [.keptState(versions: [1])])
      let isFirst = expected == ["", ""]
      #expect(report[["root", "s1"]]?.findings == (isFirst ? [.keptState(versions: [1])] : [.broughtBack]))
    }
    let other = root(["two", "two"])
    _ = try await bench.launch().restore(into: other)
    #expect(texts(other) == ["two", "two"])
    bench.delegate.retries = [["root", "s0"]]
    let asked = root(["one", "one"])
    _ = try await bench.launch().restore(into: asked)
    #expect(texts(asked) == ["one", "one"])
  }

  @Test func `coming back makes room among the kept states first`() async throws {
    let bench = Bench()
    try await replace(64, on: bench)
    #expect(try bench.newestReader().keptNodes().count == 64)
    let third = root(["one"] + Array(repeating: "two", count: 63))
    let launch = bench.launch()
    _ = try await launch.restore(into: third)
    #expect(texts(third) == ["one"] + Array(repeating: "two", count: 63))
    let receipt = try #require(try await launch.preserve(third).receipt)
    #expect(receipt.findings.isEmpty)
    #expect(try bench.newestReader().keptNodes().count == 64)
    let last = root(Array(repeating: "one", count: 64))
    _ = try await bench.launch().restore(into: last)
    #expect(texts(last) == Array(repeating: "one", count: 64))
  }

  @Test func `newer state that is kept for it is not brought back by an older program`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Dated<NewVersion>("one", text: "one")]))
    let two = Dated<OldVersion>("two")
    let root = Screen("root", children: [two])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    two.restorableState = "two"
    _ = try await coordinator.preserve(root)
    let older = Dated<OldVersion>("one")
    let report = try await bench.launch().restore(into: Screen("root", children: [older]))
    #expect(report[["root", "dated"]]?.notRestoredReason == .modelMismatch(recorded: "two", found: "one"))
    let newer = Dated<NewVersion>("one")
    _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
    #expect(newer.restorableState == "one")
  }

  protocol Version { static var number: StateVersion { get } }
  enum OldVersion: Version { static let number: StateVersion = 1 }
  enum NewVersion: Version { static let number: StateVersion = 2 }

  /// A controller of a model and a version.
  final class Dated<V: Version>: StatefulController {
    static var stateVersion: StateVersion { V.number }
    let restorationIdentifier: RestorationIdentifier? = "dated"
    let restorationModelIdentifier: ModelIdentifier?
    var restorableState: String
    init(_ model: ModelIdentifier, text: String = "") {
      restorationModelIdentifier = model
      restorableState = text
    }
  }
}
