import Foundation
import StateRestoration
import Testing

@MainActor struct ListControllerTests {
  /// Sections of elements that are their own identifiers.
  final class Source: DataSourceModelAssociation {
    var sections: [[String]]

    init(_ sections: [[String]]) { self.sections = sections }

    var counts: [Int] { sections.map(\.count) }

    func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
      ModelIdentifier(sections[indexPath[0]][indexPath[1]])
    }

    func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
      for (section, items) in sections.enumerated() {
        if let item = items.firstIndex(of: identifier.rawValue) { return path(section, item) }
      }
      return nil
    }
  }

  private func list(_ source: Source?, counts: [Int]? = nil) -> ListController {
    let list = ListController("list", association: source)
    if let counts = counts ?? source?.counts { list.dataSourceDidLoad(elementCounts: counts) }
    return list
  }

  @Test func `selection and scrolling follow their elements wherever they moved`() throws {
    let old = Source([["a", "b", "c", "d"]])
    let before = list(old)
    before.select([path(0, 1), path(0, 3)])
    before.scroll(to: path(0, 2), offset: 7)
    let new = Source([["x", "d"], ["c", "b"]])
    let after = list(new)
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.selection == [path(1, 1), path(0, 1)])
    #expect(after.firstVisible == path(1, 0))
    #expect(after.anchorOffset == 7)
  }

  @Test func `an element that is gone deselects`() throws {
    let old = Source([["a", "b", "c"]])
    let before = list(old)
    before.select([path(0, 0), path(0, 1)])
    let source = Source([["a", "c"]])
    let after = list(source)
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.selection == [path(0, 0)])
  }

  @Test(arguments: [
    (["a", "b", "d", "e"], "d"), (["a", "b", "e"], "b"), (["a", "e"], "e"), (["a"], "a"), (["x", "y", "z"], "z"),
  ])
  func `an anchor that is gone falls back to the nearest surviving neighbour`(_ left: [String], _ expected: String)
    throws
  {
    let old = Source([["a", "b", "c", "d", "e"]])
    let before = list(old)
    before.scroll(to: path(0, 2), offset: 3)
    let source = Source([left])
    let after = list(source)
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.firstVisible.map { left[$0[1]] } == expected)
    #expect(after.anchorOffset == 0)
  }

  @Test(
    arguments: [
      ([9], path(0, 5)), ([3], path(0, 2)), ([0], nil), ([], nil), ([0, 4], path(1, 0)),
    ] as [([Int], IndexPath?)])
  func `without an association the raw index path is used, clamped`(_ counts: [Int], _ expected: IndexPath?) throws {
    let before = list(nil, counts: [9])
    before.select([path(0, 5)])
    before.scroll(to: path(0, 5))
    let after = list(nil, counts: counts)
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.selection == (expected.map { [$0] } ?? []))
    #expect(after.firstVisible == expected)
  }

  @Test func `data that arrives after restoring resolves the association then`() throws {
    let old = Source([["a", "b"]])
    let before = list(old)
    before.select([path(0, 1)])
    let late = Source([])
    let fresh = ListController("list", association: late)
    try RoundTrip.decode(RoundTrip.encode(before), into: fresh)
    #expect(fresh.isAwaitingData && fresh.selection.isEmpty)
    late.sections = [["b", "a"]]
    fresh.dataSourceDidLoad(elementCounts: late.counts)
    #expect(fresh.selection == [path(0, 0)])
    #expect(!fresh.isAwaitingData)
  }

  @Test func `a save while the data is awaited keeps the position`() throws {
    let old = Source([["a", "b"]])
    let before = list(old)
    before.select([path(0, 1)])
    let waiting = ListController("list")
    try RoundTrip.decode(RoundTrip.encode(before), into: waiting)
    // The waiting list sees no elements yet: only what was awaited can know who was selected.
    let source = Source([["x", "y", "b"]])
    let later = list(source)
    try RoundTrip.decode(RoundTrip.encode(waiting), into: later)
    #expect(later.selection == [path(0, 2)])
  }

  @Test func `a change of the data while running moves the selection with its element`() {
    let source = Source([["a", "b", "c"]])
    let running = list(source)
    running.select([path(0, 2)])
    source.sections = [["c", "a", "b"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 0)])
  }

  @Test func `a change of the data that never comes freezes nothing`() throws {
    let source = Source([["a", "b", "c"]])
    let running = list(source)
    running.select([path(0, 0)])
    // The data could not be fetched: nobody says that it has changed.
    running.select([path(0, 2)])
    running.scroll(to: path(0, 1), offset: 4)
    let after = list(source)
    try RoundTrip.decode(RoundTrip.encode(running), into: after)
    #expect(after.selection == [path(0, 2)])
    #expect(after.firstVisible == path(0, 1) && after.anchorOffset == 4)
  }

  @Test func `what the user does while a change is fetched is not undone by it, and follows its elements`() {
    let source = Source([["a", "b", "c"]])
    let running = list(source)
    running.select([path(0, 0)])
    running.scroll(to: path(0, 0))
    running.select([path(0, 2)])
    running.scroll(to: path(0, 1), offset: 4)
    source.sections = [["c", "x", "a", "b"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 0)])
    #expect(running.firstVisible == path(0, 3) && running.anchorOffset == 4)
    #expect(!running.isAwaitingData)
  }

  @Test func `a save during a change names the elements that stood there before it`() throws {
    let source = Source([["a", "b", "c"]])
    let running = list(source)
    running.select([path(0, 2)])
    source.sections = [["c", "a", "b"]]
    let after = list(source)
    try RoundTrip.decode(RoundTrip.encode(running), into: after)
    #expect(after.selection == [path(0, 0)])
  }

  @Test func `a restored position waits no longer when the user has another, unless the list is empty`()
    throws
  {
    let source = Source([["a", "b", "c"]])
    let before = list(source)
    before.select([path(0, 1)])
    let record = try RoundTrip.encode(before)
    for isEmpty in [false, true] {
      let running = list(isEmpty ? Source([]) : source)
      let coder = RestorationDecoder(.init(record, at: ["test"]), context: RoundTrip.context)
      try running.decodeRestorableState(with: coder)
      coder.finish()
      running.select(isEmpty ? [] : [path(0, 2)])
      #expect(running.isAwaitingData == isEmpty)
      running.association = source
      running.dataSourceDidLoad(elementCounts: source.counts)
      #expect(running.selection == [path(0, isEmpty ? 1 : 2)])
    }
  }

  /// A list whose change was announced before it was given the position of another one.
  private func restoredDuringChange(_ source: Source, _ stored: Source) throws -> ListController {
    let before = list(stored)
    before.select(stored.sections[0].indices.dropFirst().map { path(0, $0) })
    before.scroll(to: path(0, 1), offset: 3)
    let running = list(source)
    try RoundTrip.decode(RoundTrip.encode(before), into: running)
    return running
  }

  @Test func `a position that is restored during a change is there at once, and follows its elements`() throws {
    let source = Source([["a", "b", "c"]])
    let stored = Source([["a", "b"]])
    let running = try restoredDuringChange(source, stored)
    #expect(!running.isAwaitingData)
    #expect(running.selection == [path(0, 1)])
    #expect(running.firstVisible == path(0, 1) && running.anchorOffset == 3)
    source.sections = [["0", "a", "b", "c"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 2)])
    #expect(running.firstVisible == path(0, 2) && running.anchorOffset == 3)
    // The change is over: the next one that nobody announces moves nothing.
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 2)])
  }

  @Test(arguments: [false, true])
  func `a change that is announced before a launch restores follows its elements, also after an unlock`(
    isLocked: Bool
  ) async throws {
    let bench = Bench()
    let source = Source([["a", "b", "c"]])
    let before = list(source)
    before.select([path(0, 1)])
    before.scroll(to: path(0, 2), offset: 3)
    try await bench.preserve(before)
    if isLocked { try await bench.lock() }
    let coordinator = bench.launch()
    let running = list(source)
    _ = try await coordinator.restore(into: running)
    if isLocked { try await bench.unlock(coordinator) }
    #expect(running.selection == [path(0, 1)] && running.firstVisible == path(0, 2))
    source.sections = [["0", "a", "b", "c"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 2)])
    #expect(running.firstVisible == path(0, 3) && running.anchorOffset == 3)
  }

  @Test func `what the change brings is selected if it was, whatever was saved or failed to come meanwhile`() throws {
    let source = Source([["a"]])
    let stored = Source([["a", "b", "c"]])
    let running = try restoredDuringChange(source, stored)
    #expect(running.selection.isEmpty && running.firstVisible == path(0, 0))
    let record = try RoundTrip.encode(running)
    source.sections = [["c", "x", "b"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    let later = list(source)
    try RoundTrip.decode(record, into: later)
    for list in [running, later] {
      #expect(list.selection == [path(0, 2), path(0, 0)])
      #expect(list.firstVisible == path(0, 2) && list.anchorOffset == 3)
    }
  }

  @Test func `what the user does between restoring and the change counts`() throws {
    let source = Source([["a", "b", "c"]])
    let stored = Source([["a", "b"]])
    let running = try restoredDuringChange(source, stored)
    running.select([path(0, 2)])
    source.sections = [["c", "b", "a"]]
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 0)])
    #expect(running.firstVisible == path(0, 1) && running.anchorOffset == 3)
  }

  @Test func `restoring nothing during a change changes nothing`() throws {
    let source = Source([["a", "b", "c"]])
    let running = list(source)
    running.select([path(0, 1)])
    source.sections = [["0", "a", "b", "c"]]
    try RoundTrip.decode(RoundTrip.Record(values: [:]), into: running)
    #expect(running.selection == [path(0, 1)])
    running.dataSourceDidLoad(elementCounts: source.counts)
    #expect(running.selection == [path(0, 2)])
  }

  // MARK: - Several lists, and pages

  /// One data source of two lists: the elements of the second are those of the first, backwards.
  final class BothWays: DataSourceModelAssociation {
    let forwards = ListController("forwards")
    let backwards = ListController("backwards")
    var items: [String]

    init(_ items: [String]) {
      self.items = items
      for list in [forwards, backwards] {
        list.association = self
        list.dataSourceDidLoad(elementCounts: [items.count])
      }
    }

    private func items(of list: ListController) -> [String] { list === backwards ? items.reversed() : items }

    func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
      ModelIdentifier(items(of: list)[indexPath[1]])
    }

    func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
      items(of: list).firstIndex(of: identifier.rawValue).map { path(0, $0) }
    }
  }

  @Test func `one data source serves two lists with other rows`() throws {
    let before = BothWays(["a", "b", "c", "d"])
    let after = BothWays(["x", "a", "b", "c", "d"])
    for (old, new) in [(before.forwards, after.forwards), (before.backwards, after.backwards)] {
      old.select([path(0, 0)])
      old.scroll(to: path(0, 1), offset: 2)
      try RoundTrip.decode(RoundTrip.encode(old), into: new)
    }
    #expect(after.forwards.selection == [path(0, 1)] && after.forwards.firstVisible == path(0, 2))
    #expect(after.backwards.selection == [path(0, 0)] && after.backwards.firstVisible == path(0, 1))
  }

  /// A hundred rows, of which some have come.
  private static let rows = (0..<100).map { "row \($0)" }

  /// A list with the row 75 selected and at the top, as it was left.
  private func listAtRow75() -> (list: ListController, source: Source) {
    let source = Source([Self.rows])
    let list = list(source)
    list.select([path(0, 3), path(0, 75)])
    list.scroll(to: path(0, 75), offset: 4)
    return (list, source)
  }

  @Test(arguments: [false, true], [true, false])
  func `what a page has not brought yet comes with its page, and a save meanwhile does not forget it`(
    isRestarted: Bool, isAssociated: Bool
  ) async throws {
    let bench = Bench()
    let (before, old) = listAtRow75()
    if !isAssociated { before.association = nil }
    try await bench.preserve(before)
    let source = Source([[]])
    var coordinator = bench.launch()
    var running = ListController("list", association: isAssociated ? source : nil)
    _ = try await coordinator.restore(into: running)
    for count in [0, 20, 40, 60, 80] {
      source.sections = [Array(Self.rows.prefix(count))]
      running.dataSourceDidLoad(elementCounts: [count], isComplete: false)
      #expect(running.selection == [3, 75].filter { $0 < count }.map { path(0, $0) })
      #expect(running.firstVisible == (count < 80 ? nil : path(0, 75)))
      #expect(running.isAwaitingData == (count < 80))
      _ = try await coordinator.preserve(running)
      guard isRestarted else { continue }
      // A kill between two pages.
      coordinator = bench.launch()
      running = ListController("list", association: isAssociated ? source : nil)
      _ = try await coordinator.restore(into: running)
      running.dataSourceDidLoad(elementCounts: [count], isComplete: false)
    }
    #expect(running.anchorOffset == 4)
    withExtendedLifetime(old) {}
  }

  @Test func `with the last page what has not come is gone`() throws {
    let (before, old) = listAtRow75()
    let source = Source([Array(Self.rows.prefix(20))])
    let running = ListController("list", association: source)
    try RoundTrip.decode(RoundTrip.encode(before), into: running)
    running.dataSourceDidLoad(elementCounts: [20], isComplete: false)
    source.sections = [Array(Self.rows.prefix(74))]
    running.dataSourceDidLoad(elementCounts: [74], isComplete: true)
    #expect(running.selection == [path(0, 3)] && !running.isAwaitingData)
    #expect(running.firstVisible == path(0, 73) && running.anchorOffset == 0)
    withExtendedLifetime(old) {}
  }

  @Test(arguments: [true, false])
  func `between two pages the user's selection ends the wait for the selected, scrolling the wait for the place`(
    selects: Bool
  ) throws {
    let (before, old) = listAtRow75()
    let source = Source([Array(Self.rows.prefix(20))])
    let running = ListController("list", association: source)
    try RoundTrip.decode(RoundTrip.encode(before), into: running)
    running.dataSourceDidLoad(elementCounts: [20], isComplete: false)
    if selects { running.select([path(0, 7)]) } else { running.scroll(to: path(0, 9), offset: 1) }
    #expect(running.isAwaitingData)
    // A save and a launch between two pages.
    let record = try RoundTrip.encode(running)
    source.sections = [Self.rows]
    let later = ListController("list", association: source)
    try RoundTrip.decode(record, into: later)
    for list in [running, later] {
      list.dataSourceDidLoad(elementCounts: [100], isComplete: false)
      #expect(list.selection == (selects ? [path(0, 7)] : [path(0, 3), path(0, 75)]))
      #expect(list.firstVisible == path(0, selects ? 75 : 9) && list.anchorOffset == (selects ? 4 : 1))
      #expect(!list.isAwaitingData)
    }
    withExtendedLifetime(old) {}
  }

  @Test func `a list that is fetched anew page by page keeps its selection and its place`() throws {
    let (running, source) = listAtRow75()
    for count in [20, 90] {
      source.sections = [["new"] + Self.rows.prefix(count - 1)]
      running.dataSourceDidLoad(elementCounts: [count], isComplete: false)
      #expect(running.isAwaitingData == (count == 20))
    }
    #expect(running.selection == [path(0, 4), path(0, 76)])
    #expect(running.firstVisible == path(0, 76) && running.anchorOffset == 4)
  }

  @Test func `index paths of no element are never selected`() {
    let source = Source([["a"]])
    let running = list(source)
    running.select([path(0, 0), path(0, 1), path(3, 0), IndexPath(indexes: [0]), path(0, 0)])
    #expect(running.selection == [path(0, 0)])
    running.scroll(to: path(0, 9))
    #expect(running.firstVisible == nil)
  }
}

private func path(_ section: Int, _ item: Int) -> IndexPath { IndexPath(indexes: [section, item]) }
