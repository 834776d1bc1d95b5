import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// What lies below an object whose place another class's or model's has taken is not the new one's to save over.
@MainActor @Suite struct StrangersTests {
  /// In what the new object differs from the one that had the place.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model
  }

  /// When the new object's child turns up.
  enum Arrival: String, CaseIterable, Sendable {
    /// It is there when the state is restored.
    case before
    /// It is installed after restoring, and nobody is told.
    case unregistered
    /// It is installed after restoring, and registered.
    case registered
    /// The same, after a save.
    case registeredLater
  }

  private let path: RestorationPath = ["root", "editor"]

  private func editor(_ difference: Difference, _ value: String, text: String = "") -> Screen {
    let editor = Screen("editor", text: text)
    switch difference {
    case .tag: editor.restorationClass = RestorationClass(value)
    case .model: editor.restorationModelIdentifier = ModelIdentifier(value)
    }
    return editor
  }

  /// An editor and a page below it are saved.
  private func preserved(_ difference: Difference) async throws -> Bench {
    let bench = Bench()
    let first = editor(difference, "one", text: "theirs")
    first.restorationChildren = [Screen("page", text: "their page")]
    try await bench.preserve(Screen("root", children: [first]))
    return bench
  }

  @Test(arguments: Difference.allCases, Arrival.allCases)
  func `newer state of a child keeps that of the other one's child`(
    difference: Difference, arrival: Arrival
  ) async throws {
    let bench = try await preserved(difference)

    let coordinator = bench.launch()
    let second = editor(difference, "two")
    let page = Screen("page")
    let root = Screen("root", children: [second])
    if arrival == .before { second.restorationChildren = [page] }
    _ = try await coordinator.restore(into: root)
    if arrival == .registeredLater { _ = try await coordinator.preserve(root) }
    if arrival != .before { second.restorationChildren = [page] }
    if arrival == .registered || arrival == .registeredLater {
      #expect(coordinator.register(page, at: path.appending("page"))?.notRestoredReason == .parentNotRestored)
    }
    #expect(page.text.isEmpty)
    page.text = "typed since"
    _ = try await coordinator.preserve(root)
    second.text = "typed too"
    _ = try await coordinator.preserve(root)

    let reader = try bench.newestReader()
    #expect(try reader.keptNodes().count == 1)
    #expect(try reader.keptTexts() == ["theirs", "their page"])
    let again = editor(difference, "two")
    again.restorationChildren = [Screen("page")]
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "typed too")
    #expect(again["page"]?.text == "typed since")
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `who takes the place of an object that was restored is given nothing below it, and saves nothing over`(
    difference: Difference, livesOn: Bool
  ) async throws {
    let bench = try await preserved(difference)
    let coordinator = bench.launch()
    let root = Screen("root", children: [editor(difference, "one")])
    _ = try await coordinator.restore(into: root)
    let restored = livesOn ? root["editor"] : nil
    #expect(root["editor"]?.text == "theirs")
    root.dropChildren(sparing: restored)
    let second = editor(difference, "two", text: "ours")
    let page = Screen("page")
    second.restorationChildren = [page]
    root.restorationChildren = [second]
    #expect(coordinator.register(page, at: path.appending("page"))?.notRestoredReason == .parentNotRestored)
    #expect(page.text.isEmpty)
    page.text = "our page"
    _ = try await coordinator.preserve(root)
    let reader = try bench.newestReader()
    #expect(try reader.keptTexts() == ["theirs", "their page"])
    #expect(try reader.node(at: path.appending("page")).map { try reader.text(of: $0) } == "our page")
  }

  @Test(arguments: Difference.allCases, [Arrival.before, .registered, .registeredLater])
  func `an unedited child of the object for which the other one's state goes aside is saved as it is`(
    difference: Difference, arrival: Arrival
  ) async throws {
    let bench = try await preserved(difference)
    let coordinator = bench.launch()
    let second = editor(difference, "two")
    let page = Screen("page", text: "as made")
    if arrival == .before { second.restorationChildren = [page] }
    let root = Screen("root", children: [second])
    _ = try await coordinator.restore(into: root)
    if arrival != .before { _ = coordinator.register(page, at: path.appending("page")) }
    second.text = "typed"
    if arrival == .registeredLater { _ = try await coordinator.preserve(root) }
    second.restorationChildren = [page]
    _ = try await coordinator.preserve(root)

    let again = editor(difference, "two")
    again.restorationChildren = [Screen("page")]
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "typed")
    #expect(again["page"]?.text == "as made")
  }

  @Test func `what is below an object that has left the hierarchy and lives on is given its state`() async throws {
    let bench = try await preserved(.model)
    let coordinator = bench.launch()
    let again = editor(.model, "one")
    let root = Screen("root", children: [again])
    _ = try await coordinator.restore(into: root)
    root.restorationChildren = [editor(.model, "two")]
    let page = Screen("page")
    again.restorationChildren = [page]
    #expect(coordinator.register(page, at: path.appending("page"))?.isRestored == true)
    #expect(page.text == "their page")
  }

  /// What a program may have in the place of a tagged screen.
  enum Stand: CaseIterable, Sendable {
    case untagged, otherTag, otherModel, view
  }

  private func stand(_ stand: Stand, _ root: Screen) -> Screen? {
    let screen = Screen("editor", children: [Screen("page")])
    switch stand {
    case .untagged: break
    case .otherTag: screen.restorationClass = "other"
    case .otherModel:
      screen.restorationClass = "editor"
      screen.restorationModelIdentifier = "two"
    case .view:
      root.restorationViews = [Field("editor", 3)]
      return nil
    }
    root.restorationChildren = [screen]
    return screen
  }

  @Test(arguments: Stand.allCases, StoreKind.allCases)
  func `what was refused for its class or model stays as long as nobody edits`(
    stand: Stand, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let first = Screen("editor", text: "precious", tag: "editor", children: [Screen("page", text: "precious too")])
    first.restorationModelIdentifier = "one"
    try await bench.preserve(Screen("root", children: [first]))

    let coordinator = bench.launch()
    let root = Screen("root")
    let other = self.stand(stand, root)
    let report = try await coordinator.restore(into: root)
    #expect(report[path]?.isRestored == false)
    for round in 0..<3 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let again = Screen("editor", tag: "editor", children: [Screen("page")])
    again.restorationModelIdentifier = "one"
    if stand != .view {
      _ = try await bench.launch().restore(into: Screen("root", children: [again]))
      #expect(again.text == "precious")
      #expect(again["page"]?.text == "precious too")
    }

    other?["page"]?.text = "edited"
    _ = try await coordinator.preserve(root)
    let reader = try bench.newestReader()
    #expect(try reader.keptTexts().contains("precious"))
    if stand != .view {
      #expect(try reader.keptTexts() == ["precious", "precious too"])
      // What is below it now is the other one's: neither gets the other's.
      #expect(try reader.text(of: try #require(try reader.node(at: path.appending("page")))) == "edited")
    }
  }

  @Test(arguments: Difference.allCases)
  func `an edit of the object itself sets aside all that is below it, however deep`(
    difference: Difference
  ) async throws {
    let bench = Bench()
    let first = editor(difference, "one", text: "theirs")
    first.restorationChildren = [Screen("a", text: "their a", children: [Screen("b", text: "their b")])]
    try await bench.preserve(Screen("root", children: [first]))
    func launch() async throws -> (RestorationCoordinator, Screen, Screen) {
      let second = editor(difference, "two")
      second.restorationChildren = [Screen("a", children: [Screen("b")])]
      let root = Screen("root", children: [second])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      return (coordinator, root, second)
    }
    let (coordinator, root, second) = try await launch()
    second.text = "ours"
    _ = try await coordinator.preserve(root)
    let again = try await launch().2
    #expect(again.text == "ours")
    #expect(again["a"]?.text == "" && again["a"]?["b"]?.text == "")
  }

  @Test(arguments: Difference.allCases)
  func `who turns up late in another one's place pushes nothing aside unless it is edited`(
    difference: Difference
  ) async throws {
    let bench = try await preserved(difference)
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let second = editor(difference, "two")
    second.restorationChildren = [Screen("page")]
    root.restorationChildren = [second]
    #expect(coordinator.register(second, at: path)?.isRestored == false)
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let again = editor(difference, "one")
    again.restorationChildren = [Screen("page")]
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "theirs")
    #expect(again["page"]?.text == "their page")
  }

  @Test(arguments: [false, true])
  func `who has no tag and is never registered keeps what a tagged one left in its place`(
    restores: Bool
  ) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("editor", text: "theirs", tag: "editor")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    if restores { _ = try await coordinator.restore(into: root) }
    root.restorationChildren = [Screen("editor", text: "ours")]
    _ = try await coordinator.preserve(root)
    let reader = try bench.newestReader()
    #expect(try reader.keptNodes().map { try reader.text(of: $0) } == ["theirs"])
    #expect(try reader.node(at: path).map { try reader.text(of: $0) } == "ours")
  }

  /// An editor without state of its own.
  final class Frame: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "editor"
    var restorationClass: RestorationClass?
    var restorationModelIdentifier: ModelIdentifier?
    var restorationChildren: [any RestorableController] = []

    init(_ difference: Difference, _ value: String, _ page: Screen) {
      switch difference {
      case .tag: restorationClass = RestorationClass(value)
      case .model: restorationModelIdentifier = ModelIdentifier(value)
      }
      restorationChildren = [page]
    }
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `what is below it is the other one's also when it has no state of its own`(
    difference: Difference, isThere: Bool
  ) async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", children: [Frame(difference, "one", Screen("page", text: "their page"))]))
    let page = Screen("page")
    let second = Frame(difference, "two", page)
    let root = Screen("root", children: isThere ? [second] : [])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.restorationChildren = [second]
    #expect(page.text.isEmpty)
    page.text = "our page"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptTexts() == ["their page"])
    for (name, text) in [("two", "our page"), ("one", "their page")] {
      let page = Screen("page")
      _ = try await bench.launch().restore(into: Screen("root", children: [Frame(difference, name, page)]))
      #expect(page.text == text)
    }
  }

  @Test(arguments: Difference.allCases, StoreKind.allCases)
  func `what is typed below it while locked lands in nobody else's`(
    difference: Difference, on kind: StoreKind
  ) async throws {
    for (isThereAtLaunch, isKilled) in [(true, true), (true, false), (false, true), (false, false)] {
      let bench = try await Bench(kind)
      let first = editor(difference, "one", text: "theirs")
      first.restorationChildren = [Screen("page", text: "their page"), Screen("other", text: "their other")]
      try await bench.preserve(Screen("root", children: [first]))
      try await bench.lock()
      let second = editor(difference, "two")
      second.restorationChildren = [Screen("page"), Screen("other")]
      let root = Screen("root", children: isThereAtLaunch ? [second] : [])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      if !isThereAtLaunch { root.restorationChildren = [second] }
      for _ in 0..<3 { await Task.yield() }
      second["page"]?.text = "typed while locked"
      _ = try await coordinator.preserve(root)
      if isKilled {
        try await bench.kill()
        try await bench.unlock()
      } else {
        try await bench.unlock(coordinator)
        #expect(second["page"]?.text == "typed while locked")
        #expect(second["other"]?.text == "" && second.text.isEmpty)
        _ = try await coordinator.preserve(root)
        try await bench.kill()
      }
      for (name, page, other) in [("one", "their page", "their other"), ("two", "typed while locked", "")] {
        let again = editor(difference, name)
        again.restorationChildren = [Screen("page"), Screen("other")]
        _ = try await bench.launch().restore(into: Screen("root", children: [again]))
        #expect(again["page"]?.text == page, "\(difference) \(kind) \(isThereAtLaunch) \(isKilled) \(name)")
        #expect(again["other"]?.text == other)
      }
    }
  }

  @Test(arguments: Difference.allCases, [false, true])
  func `a deep hierarchy below it keeps everything that was the other one's`(
    difference: Difference, savesBefore: Bool
  ) async throws {
    let bench = Bench()
    let first = editor(difference, "one", text: "theirs")
    first.restorationChildren = [Screen("a", text: "their a", children: [Screen("b", text: "their b")])]
    try await bench.preserve(Screen("root", children: [first]))
    let second = editor(difference, "two")
    let (a, b) = (Screen("a"), Screen("b"))
    second.restorationChildren = [a]
    a.restorationChildren = [b]
    let root = Screen("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if savesBefore { _ = try await coordinator.preserve(root) }
    b.text = "our b"
    _ = try await coordinator.preserve(root)
    let reader = try bench.newestReader()
    #expect(try reader.keptTexts() == ["theirs", "their a", "their b"])
    let again = editor(difference, "two")
    again.restorationChildren = [Screen("a", children: [Screen("b")])]
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again["a"]?["b"]?.text == "our b")
  }
}

extension RestorationArchive.Reader {
  /// The texts of all screens that lost their places.
  func keptTexts() throws -> Set<String?> {
    var texts: Set<String?> = []
    var stack = try keptNodes()
    while let node = stack.popLast() {
      stack += try children(of: node.id).compactMap { try self.node($0) }
      if node.byteCount > 0 { texts.insert(try text(of: node)) }
    }
    return texts
  }

  /// The text of a screen that was preserved.
  func text(of node: RestorationArchive.Node) throws -> String? {
    try record(of: node.id).decode(Screen.State.self, forKey: "$state").text
  }
}
