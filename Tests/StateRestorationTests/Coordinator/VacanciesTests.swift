import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// What made room for another class or model stands beside the place: it takes that when it becomes free, and goes along when
/// it moves.
@MainActor @Suite struct VacanciesTests {
  /// In what the object that is kept differs from the one that has its place.
  enum Difference: String, CaseIterable, Sendable {
    case tag, model, untagged

    /// Those in which neither is given the other's; state without a tag is anybody's.
    static let mutual: [Self] = [.tag, .model]
  }

  private func editor(
    _ difference: Difference, _ value: String, _ identifier: RestorationIdentifier = "editor"
  ) -> Screen {
    let editor = Screen(identifier)
    switch difference {
    case .tag: editor.restorationClass = RestorationClass(value)
    case .model: editor.restorationModelIdentifier = ModelIdentifier(value)
    case .untagged: editor.restorationClass = value == "one" ? "one" : nil
    }
    return editor
  }

  /// Two runs: in the second an object makes room in the place for itself.
  private func replace(_ difference: Difference, on bench: Bench, below parent: RestorationIdentifier? = nil)
    async throws
  {
    for value in ["one", "two"] {
      let editor = editor(difference, value)
      let root = Screen("root", children: parent.map { [Screen($0, children: [editor])] } ?? [editor])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      editor.text = value
      editor.restorationChildren = [Screen("page", text: "\(value)'s page")]
      _ = try await coordinator.preserve(root)
    }
    #expect(try bench.newestReader().keptNodes().count == 1)
  }

  /// What an object is given in a launch of its own, with what is below it.
  private func texts(
    _ difference: Difference, _ value: String, on bench: Bench, at path: RestorationPath = ["root", "editor"]
  ) async throws -> [String] {
    let page = Screen("page")
    let editor = editor(difference, value, path.last ?? "")
    editor.restorationChildren = [page]
    var top = editor
    for identifier in path.components.dropLast().reversed() { top = Screen(identifier, children: [top]) }
    _ = try await bench.launch().restore(into: top)
    return [editor.text, page.text]
  }

  /// How the object leaves the place.
  enum Exit: CaseIterable, Sendable {
    case closed, renamed, moved, renamedAtOnce, forgotten
  }

  /// Takes an object out of its place, or what is stored there.
  private func leave(
    _ exit: Exit, _ editor: Screen, in root: Screen, _ coordinator: RestorationCoordinator
  ) async {
    switch exit {
    case .closed: root.restorationChildren.removeFirst()
    case .renamed, .renamedAtOnce: editor.restorationIdentifier = "renamed"
    case .moved:
      root.restorationChildren.removeFirst()
      root["other"]?.restorationChildren = [editor]
    case .forgotten: #expect(await coordinator.forget(["root", "editor"]))
    }
  }

  @Test(arguments: Difference.allCases, Exit.allCases)
  func `a place that its object has left is taken by what made room in it`(
    difference: Difference, exit: Exit
  ) async throws {
    let bench = Bench()
    try await replace(difference, on: bench)
    let editor = editor(difference, "two")
    let other = Screen("other")
    let root = Screen("root", children: exit == .forgotten ? [other] : [editor, other])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if exit != .renamedAtOnce { _ = try await coordinator.preserve(root) }
    await leave(exit, editor, in: root, coordinator)
    _ = try await coordinator.preserve(root)
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    #expect(try bench.newestReader().keptNodes().isEmpty)
    #expect(try await texts(difference, "one", on: bench) == ["one", "one's page"])
    let home: RestorationPath? =
      switch exit {
      case .closed, .forgotten: nil
      case .renamed, .renamedAtOnce: ["root", "renamed"]
      case .moved: ["root", "other", "editor"]
      }
    if let home { #expect(try await texts(difference, "two", on: bench, at: home) == ["two", "two's page"]) }
  }

  @Test(arguments: Difference.mutual, Exit.allCases)
  func `who turns up in the free place in the same run is given what was kept for it`(
    difference: Difference, exit: Exit
  ) async throws {
    for isSaved in [false, true] {
      let bench = Bench()
      try await replace(difference, on: bench)
      let editor = editor(difference, "two")
      let root = Screen("root", children: exit == .forgotten ? [Screen("other")] : [editor, Screen("other")])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      if exit != .renamedAtOnce { _ = try await coordinator.preserve(root) }
      await leave(exit, editor, in: root, coordinator)
      if isSaved { _ = try await coordinator.preserve(root) }
      let page = Screen("page")
      let one = self.editor(difference, "one")
      one.restorationChildren = [page]
      root.restorationChildren.append(one)
      #expect(coordinator.register(one, at: ["root", "editor"])?.isRestored == true)
      #expect([one.text, page.text] == ["one", "one's page"])
      _ = try await coordinator.preserve(root)
      #expect(try await texts(difference, "one", on: bench) == ["one", "one's page"])
    }
  }

  @Test(arguments: Difference.mutual)
  func `what has left a place and comes back to it changes places with the other`(difference: Difference) async throws {
    let bench = Bench()
    try await replace(difference, on: bench)
    let editor = editor(difference, "two")
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<2 {
      for identifier in ["renamed", "editor"] as [RestorationIdentifier] {
        editor.restorationIdentifier = identifier
        _ = try await coordinator.preserve(root)
      }
    }
    #expect(try bench.newestReader().keptNodes().count == 1)
    #expect(try await texts(difference, "two", on: bench) == ["two", "two's page"])
    #expect(try await texts(difference, "one", on: bench) == ["one", "one's page"])
  }

  @Test(arguments: Difference.mutual)
  func `a place that another object takes at once is not given away`(difference: Difference) async throws {
    let bench = Bench()
    try await replace(difference, on: bench)
    let editor = editor(difference, "two")
    let root = Screen("root", children: [editor])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    editor.restorationIdentifier = "renamed"
    let third = self.editor(difference, "two")
    third.text = "three"
    root.restorationChildren.append(third)
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().count == 1)
    #expect(try await texts(difference, "two", on: bench) == ["three", ""])
    #expect(try await texts(difference, "one", on: bench) == ["one", "one's page"])
  }

  @Test(arguments: Difference.mutual, [false, true])
  func `what is kept for a place moves with the object above it`(
    difference: Difference, changesHands: Bool
  ) async throws {
    let bench = Bench()
    try await replace(difference, on: bench, below: "above")
    let above = Screen("above", children: [editor(difference, "two")])
    let other = Screen("other")
    let root = Screen("root", children: [above, other])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    above.restorationIdentifier = "other"
    other.restorationIdentifier = changesHands ? "above" : "another"
    _ = try await coordinator.preserve(root)
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    let home: RestorationPath = ["root", "other", "editor"]
    #expect(try bench.newestReader().keptNodes().map(\.identifier) == ["root/other/editor"])
    #expect(try await texts(difference, "two", on: bench, at: home) == ["two", "two's page"])
    #expect(try await texts(difference, "one", on: bench, at: home) == ["one", "one's page"])
  }

  @Test(arguments: Difference.mutual)
  func `what makes room in the save in which the object above it gets another name is kept for the new place`(
    difference: Difference
  ) async throws {
    let bench = Bench()
    let first = editor(difference, "one")
    first.text = "one"
    first.restorationChildren = [Screen("page", text: "one's page")]
    try await bench.preserve(Screen("root", children: [Screen("above", children: [first])]))

    let second = editor(difference, "two")
    let above = Screen("above", children: [second])
    let root = Screen("root", children: [above])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.text = "seen"
    _ = try await coordinator.preserve(root)
    second.text = "two"
    above.restorationIdentifier = "other"
    _ = try await coordinator.preserve(root)
    let home: RestorationPath = ["root", "other", "editor"]
    #expect(try bench.newestReader().keptNodes().map(\.identifier) == ["root/other/editor"])
    #expect(try await texts(difference, "two", on: bench, at: home) == ["two", ""])
    #expect(try await texts(difference, "one", on: bench, at: home) == ["one", "one's page"])
  }

  @Test func `what is kept for two places that are exchanged is exchanged`() async throws {
    let bench = Bench()
    func root(_ value: String) -> Screen {
      Screen(
        "root",
        children: ["a", "b"].map { above in
          Screen(RestorationIdentifier(above), children: [editor(.model, "\(value) \(above)")])
        })
    }
    for value in ["one", "two"] {
      let root = root(value)
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      for above in ["a", "b"] { root[RestorationIdentifier(above)]?["editor"]?.text = "\(value) \(above)" }
      _ = try await coordinator.preserve(root)
    }
    let shown = root("two")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: shown)
    let (a, b) = (shown["a"], shown["b"])
    a?.restorationIdentifier = "b"
    b?.restorationIdentifier = "a"
    _ = try await coordinator.preserve(shown)
    #expect(try bench.newestReader().keptNodes().count == 2)
    for (above, there) in [("a", "b"), ("b", "a")] {
      let path: RestorationPath = ["root", RestorationIdentifier(there), "editor"]
      for value in ["one", "two"] {
        #expect(try await texts(.model, "\(value) \(above)", on: bench, at: path)[0] == "\(value) \(above)")
      }
    }
  }

  @Test func `what is kept of the object itself does not come back when that is closed`() async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", children: [ReturningTests.Dated<ReturningTests.NewVersion>("one", text: "newer")]))
    let older = ReturningTests.Dated<ReturningTests.OldVersion>("one")
    let root = Screen("root", children: [older])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    older.restorableState = "older"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().count == 1)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().count == 1)
    #expect(try bench.newestReader().node(at: ["root", "dated"]) == nil)
  }

  /// What the state in the place is of no use for any more.
  enum Useless: CaseIterable, Sendable {
    case modelGone, expired
  }

  @Test(arguments: Useless.allCases)
  func `state that is of no use any more leaves its place to what made room in it`(useless: Useless) async throws {
    let bench = Bench()
    func classes(_ registry: RestorationRegistry) {
      registry.register(Screen.self, as: "one")
      registry.register(Screen.self, as: "two", freshFor: useless == .expired ? .seconds(30) : nil)
    }
    func note(_ value: String) -> Screen {
      let note = Screen("editor", tag: RestorationClass(value))
      note.restorationModelIdentifier = ModelIdentifier(value)
      return note
    }
    for value in ["one", "two"] {
      let note = note(value)
      let coordinator = bench.launch(classes)
      _ = try await coordinator.restore(into: Screen("root", children: [note]))
      note.text = value
      _ = try await coordinator.preserve(Screen("root", children: [note]))
    }
    bench.time += 60
    let root = Screen("root")
    let coordinator = bench.launch { registry in
      if useless == .expired { return classes(registry) }
      registry.register(Screen.self, as: "two", onlyIf: { $0 != "two" })
    }
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "editor"]]?.isRestored == false)
    _ = try await coordinator.preserve(root)
    let again = note("one")
    _ = try await bench.launch(classes).restore(into: Screen("root", children: [again]))
    #expect(again.text == "one")
  }

  @Test func `what is kept stays kept where a new object takes the free place unasked`() async throws {
    let bench = Bench()
    try await replace(.model, on: bench)
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    // Nobody has asked for what is kept for it.
    root.restorationChildren = [editor(.model, "one")]
    #expect(await coordinator.forget(["root", "editor"]))
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().keptNodes().count == 1)
  }

  @Test func `the receipt names what made room while joining what was saved while locked`() async throws {
    let bench = try await Bench(.memory)
    func run(_ number: Int) async throws -> (coordinator: RestorationCoordinator, root: Screen) {
      let editor = Screen("editor")
      editor.restorationModelIdentifier = ModelIdentifier("\(number)")
      let root = Screen("root", children: [editor])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      editor.text = "\(number)"
      _ = try await coordinator.preserve(root)
      return (coordinator, root)
    }
    for number in 0...64 { _ = try await run(number) }
    #expect(try bench.newestReader().keptNodes().count == 64)
    try await bench.lock()
    let (coordinator, root) = try await run(65)
    try await bench.unlock(coordinator)
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    guard case .keptStateRemoved("root/editor", _)? = receipt.findings.first else {
      Issue.record("\(receipt)")
      return
    }
    #expect(receipt.findings.count == 1)
    #expect(try bench.newestReader().keptNodes().count == 64)
    root.text = "another edit"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
  }
}
