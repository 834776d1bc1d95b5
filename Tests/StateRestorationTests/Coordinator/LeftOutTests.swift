import StateRestoration
import StateRestorationTesting
import Testing

/// What was left out after a crash waits with all below it, until something there is newer.
@MainActor @Suite struct LeftOutTests {
  @Test(arguments: [false, true], StoreKind.allCases)
  func `what is saved below what was left out comes back, and what restoring died at on request`(
    edits: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    func hierarchy() -> (root: Panel, first: Panel, second: Panel) {
      let (root, first, second) = (Panel("root"), Panel("first"), Panel("second"))
      root.restorationChildren = [first]
      first.restorationChildren = [second]
      return (root, first, second)
    }
    let saved = hierarchy()
    (saved.root.value, saved.first.value, saved.second.value) = (1, 2, 3)
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root"])
    let crashed = hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: crashed.root)
    #expect([crashed.root.value, crashed.first.value, crashed.second.value] == [0, 0, 0])
    if edits { crashed.second.value = 4 }
    for _ in 0..<2 { _ = try await coordinator.preserve(crashed.root) }

    for _ in 0..<2 {
      let next = hierarchy()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: next.root)
      #expect([next.root.value, next.first.value, next.second.value] == (edits ? [0, 2, 4] : [0, 0, 0]))
      _ = try await coordinator.preserve(next.root)
    }
    bench.delegate.retries = [["root"]]
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root)
    #expect([asked.root.value, asked.first.value, asked.second.value] == [1, 2, edits ? 4 : 3])
  }

  /// How something newer comes below the screen that was left out.
  enum Arrival: CaseIterable, Sendable {
    /// It was there when the state was restored, and is edited before the first save.
    case edited
    /// The same, with a second restoration between.
    case editedBeforeAnother
    /// The same, after the first save.
    case editedLater
    /// A view that was there is edited.
    case view
    /// It turns up with something in it.
    case new
    /// It comes from elsewhere, where it was given its state.
    case moved
    /// The same, after a save.
    case movedLater
  }

  /// A root with the screen that restoring dies at, which has two children, and another screen beside it.
  private func hierarchy(_ children: [RestorationIdentifier] = ["first", "second"]) -> (root: Screen, bad: Screen) {
    let bad = Screen("bad", children: children.map { Screen($0) })
    return (Screen("root", children: [bad, Screen("beside")]), bad)
  }

  private func crashed() async throws -> Bench {
    let bench = Bench()
    let (root, bad) = hierarchy()
    bad.text = "crashes"
    bad["first"]?.text = "one"
    bad["second"]?.text = "two"
    root["beside"]?.restorationChildren = [Screen("moving", text: "brought along")]
    try await bench.preserve(root)
    try await bench.die(at: ["root", "bad"])
    return bench
  }

  @Test(arguments: Arrival.allCases)
  func `what is newer below it comes back, with everything that was there`(arrival: Arrival) async throws {
    let bench = try await crashed()
    let coordinator = bench.launch()
    let (root, bad) = hierarchy()
    let field = Field("field", 0)
    bad.restorationViews = [field]
    let moving = Screen("moving")
    root["beside"]?.restorationChildren = [moving]
    let newcomer = Screen("newcomer")
    if arrival != .new { bad.restorationChildren.append(newcomer) }
    _ = try await coordinator.restore(into: root)
    #expect(moving.text == "brought along")
    switch arrival {
    case .edited: newcomer.text = "typed"
    case .editedBeforeAnother:
      newcomer.text = "typed"
      _ = try await coordinator.restore(into: root)
    case .editedLater:
      _ = try await coordinator.preserve(root)
      newcomer.text = "typed"
    case .view: field.restorableState = 7
    case .new:
      newcomer.text = "typed"
      bad.restorationChildren.append(newcomer)
    case .moved, .movedLater:
      if arrival == .movedLater { _ = try await coordinator.preserve(root) }
      root["beside"]?.restorationChildren = []
      bad.restorationChildren.append(moving)
    }
    _ = try await coordinator.preserve(root)

    let (next, again) = hierarchy(["first", "second", "newcomer", "moving"])
    let shown = Field("field", 0)
    again.restorationViews = [shown]
    #expect(try await bench.launch().restore(into: next).leftOut.isEmpty)
    #expect(again.text.isEmpty)
    #expect([again["first"]?.text, again["second"]?.text] == ["one", "two"])
    switch arrival {
    case .edited, .editedBeforeAnother, .editedLater, .new: #expect(again["newcomer"]?.text == "typed")
    case .view: #expect(shown.restorableState == 7)
    case .moved, .movedLater: #expect(again["moving"]?.text == "brought along")
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `unedited objects below it, also new and renamed ones, end nothing and save over nothing`(
    savesBefore: Bool, isNamedLikeStored: Bool
  ) async throws {
    let bench = try await crashed()
    let coordinator = bench.launch()
    let (root, bad) = hierarchy(["second", "newcomer"])
    _ = try await coordinator.restore(into: root)
    if savesBefore { _ = try await coordinator.preserve(root) }
    bad["second"]?.restorationIdentifier = isNamedLikeStored ? "first" : "third"
    _ = try await coordinator.preserve(root)

    let (next, again) = hierarchy()
    let report = try await bench.launch().restore(into: next, retriesLeftOut: true)
    #expect(again.text == "crashes")
    #expect([again["first"]?.text, again["second"]?.text] == ["one", "two"], "\(report)")
  }
}
