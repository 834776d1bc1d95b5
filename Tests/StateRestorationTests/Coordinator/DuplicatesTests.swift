import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// Two owners of one identifier: who had it keeps it, and the other keeps its earlier state (R2.2).
@MainActor @Suite struct DuplicatesTests {
  /// When the mistake happens.
  enum Moment: CaseIterable, Sendable {
    case beforeTheFirstSave, afterIt
  }

  private func stored(_ bench: Bench, _ names: [RestorationIdentifier]) async throws -> [String] {
    let screens = names.map { Screen($0, children: [Screen("below")]) }
    _ = try await bench.launch().restore(into: Screen("root", children: screens))
    return screens.map { $0.text + ($0["below"]?.text ?? "") }
  }

  @Test(arguments: Moment.allCases, [false, true])
  func `a restored sibling that takes another's identifier loses nothing, whoever comes first`(
    moment: Moment, isFirst: Bool
  ) async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen(
        "root",
        children: ["a", "b"].map { Screen($0, text: $0.rawValue, children: [Screen("below", text: " \($0)")]) }))
    let screens = ["a", "b"].map { Screen(RestorationIdentifier($0), children: [Screen("below")]) }
    let root = Screen("root", children: screens)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if moment == .afterIt { _ = try await coordinator.preserve(root) }
    let thief = isFirst ? screens[0] : screens[1]
    let name: RestorationIdentifier = isFirst ? "b" : "a"
    thief.restoration.identifier = name
    thief.text = "stolen"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    let (kept, refused) = isFirst ? (2, 1) : (1, 2)
    #expect(
      receipt.findings == [
        .duplicateIdentifier(
          path: ["root", name], kept: "Screen (sibling \(kept))", refused: "Screen (sibling \(refused))")
      ])
    #expect(try await stored(bench, ["a", "b"]) == ["a a", "b b"])
    thief.restoration.identifier = "c"
    _ = try await coordinator.preserve(root)
    #expect(try await stored(bench, [name, "c"]) == ["\(name) \(name)", isFirst ? "stolen a" : "stolen b"])
  }

  @Test func `two siblings with one identifier below a screen whose parent shows another model`() async throws {
    let screen = Screen("screen", children: [Screen("below")])
    let root = Screen("root", children: [screen])
    root.restoration.model = "A"
    let bench = Bench()
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.restoration.model = "B"
    screen.restorationChildren.append(Screen("below"))
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(
      receipt.findings == [
        .duplicateIdentifier(
          path: ["root", "screen", "below"], kept: "Screen (sibling 1)", refused: "Screen (sibling 2)")
      ])
  }

  /// Three siblings that are given their state, at a moment of a run; then some are renamed, and saved.
  private func rename(_ renamed: [RestorationIdentifier], at moment: Moment) async throws -> Bench {
    let bench = Bench()
    let names: [RestorationIdentifier] = ["a", "b", "c"]
    try await bench.preserve(Screen("root", children: names.map { Screen($0, text: $0.rawValue) }))
    let screens = names.map { Screen($0) }
    let root = Screen("root", children: screens)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if moment == .afterIt { _ = try await coordinator.preserve(root) }
    for (screen, name) in zip(screens, renamed) { screen.restoration.identifier = name }
    _ = try await coordinator.preserve(root)
    return bench
  }

  @Test(arguments: Moment.allCases)
  func `three restored siblings that pass on their identifiers lose nothing`(moment: Moment) async throws {
    let bench = try await rename(["b", "c", "c"], at: moment)
    #expect(try await stored(bench, ["a", "b", "c"]) == ["a", "b", "c"])
  }

  @Test(arguments: Moment.allCases)
  func `of two siblings that take a free identifier the second keeps its own, whoever wants that`(
    moment: Moment
  ) async throws {
    let bench = try await rename(["c", "e", "e"], at: moment)
    #expect(try await stored(bench, ["a", "e", "c"]) == ["a", "b", "c"])
  }

  @Test(arguments: Moment.allCases, [false, true])
  func `a view that takes another's identifier, or a screen's, loses nothing`(
    moment: Moment, isScreens: Bool
  ) async throws {
    let bench = Bench()
    func hierarchy(_ values: [Int], _ text: String) -> (Screen, [Field]) {
      let fields = [Field("one", values[0]), Field("two", values[1])]
      let page = Screen("page", children: [Screen("screen", text: text)])
      page.restorationViews = fields
      return (Screen("root", children: [page]), fields)
    }
    try await bench.preserve(hierarchy([1, 2], "text").0)
    let (root, fields) = hierarchy([0, 0], "")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if moment == .afterIt { _ = try await coordinator.preserve(root) }
    let name: RestorationIdentifier = isScreens ? "screen" : "one"
    fields[1].restoration.identifier = name
    fields[1].restorableState = 5
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(
      receipt.findings
        == [
          .duplicateIdentifier(
            path: ["root", "page", name], kept: isScreens ? "Screen" : "Field (sibling 1)",
            refused: isScreens ? "Field" : "Field (sibling 2)")
        ])
    let (again, values) = hierarchy([0, 0], "")
    _ = try await bench.launch().restore(into: again)
    #expect(values.map(\.restorableState) == [1, 2])
    #expect(again["page"]?["screen"]?.text == "text")
    fields[1].restoration.identifier = "two"
    _ = try await coordinator.preserve(root)
    let (last, latest) = hierarchy([0, 0], "")
    _ = try await bench.launch().restore(into: last)
    #expect(latest.map(\.restorableState) == [1, 5])
  }

  @Test func `a child does not take the identifier of what its parent preserves by hand`() async throws {
    let bench = Bench()
    let register: (RestorationRegistry) -> Void = { registry in
      registry.register(Panel.self, as: "panel") { path, _ in
        let panel = Panel(path.last)
        panel.tag = "panel"
        return panel
      }
    }
    let owner = Panel("owner")
    let friend = Panel("friend", value: 7)
    friend.tag = "panel"
    owner.strongFriend = friend
    let root = Screen("root", children: [owner])
    let coordinator = bench.launch(register)
    _ = try await coordinator.preserve(root)
    owner.restorationChildren = [Screen("friend", text: "child")]
    owner.invalidateRestorableState()
    for round in 0..<2 {
      root.text = "round \(round)"
      let receipt = try #require(try await coordinator.preserve(root).receipt)
      #expect(
        receipt.findings
          == [.duplicateIdentifier(path: ["root", "owner", "friend"], kept: "Panel", refused: "Screen")])
    }
    let again = Panel("owner")
    _ = try await bench.launch(register).restore(into: Screen("root", children: [again]))
    #expect((again.strongFriend as? Panel)?.value == 7)
    owner.strongFriend = nil
    owner.invalidateRestorableState()
    _ = try await coordinator.preserve(root)
    root.text = "last"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
    let child = Screen("friend")
    let last = Panel("owner")
    last.restorationChildren = [child]
    _ = try await bench.launch(register).restore(into: Screen("root", children: [last]))
    #expect(child.text == "child")
  }
}
