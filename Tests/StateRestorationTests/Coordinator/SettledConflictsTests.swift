import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// Conflicts that are settled in hooks, siblings that change their names while they are restored, and very many of both.
@MainActor @Suite(.timeLimit(.minutes(10))) struct SettledConflictsTests: SizedTexts {
  // MARK: - Settling in hooks

  @Test(arguments: sizes)
  func `a conflict that is settled in the hook of the unlock is settled`(size: Int) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("page", text: text("stored", size))]))
    let root = Screen("root", children: [Screen("page")])
    let page = try #require(root["page"])
    let coordinator = try await bench.launchLocked(root) { page.text = text("typed", size) }
    var read: [String] = []
    var isSettled = false
    page.onFinish = { [unowned page] in
      isSettled = coordinator.settleConflict(of: page, withStates: { read = $0.map(\.text) })
    }
    try await bench.unlock(coordinator)
    page.onFinish = nil
    let wasSettled = isSettled ? true : coordinator.settleConflict(of: page, withStates: { read = $0.map(\.text) })
    #expect(wasSettled && read.map(word) == ["stored"])
    _ = try await coordinator.preserve(root)
    let next = Screen("root", children: [Screen("page")])
    let report = try await bench.launch().restore(into: next)
    #expect(report[["root", "page"]]?.remarks == [], "settled in the hook: \(isSettled)")
    #expect(word(next["page"]?.text) == "typed")
  }

  @Test(arguments: [false, true])
  func `what a hook has settled at the unlock does not come back once its object is closed`(isInHook: Bool) async throws
  {
    let bench = Bench()
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Screen.self, as: "page") { path, _ in Screen(path.last, tag: "page") } }
    }
    let before = Screen("root", children: [Screen("page", text: "stored", tag: "page")])
    _ = try await launch().preserve(before)
    let root = Screen("root", children: [Screen("page", tag: "page")])
    let page = try #require(root["page"])
    let coordinator = launch()
    try await bench.launchLocked(root, coordinator) { page.text = "typed" }
    if isInHook { page.onFinish = { [unowned page] in _ = try? coordinator.settleConflict(of: page) } }
    try await bench.unlock(coordinator)
    page.onFinish = nil
    _ = try await coordinator.preserve(root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    let next = Screen("root")
    let report = try await launch().restore(into: next)
    #expect(next.restorationChildren.isEmpty, "\(report)")
    let blank = Screen("page", tag: "page")
    let last = Screen("root", children: [blank])
    let other = try await bench.launch().restore(into: last)
    #expect(blank.text == "", "\(other)")
  }

  @Test func `a conflict can be settled in the hook of the launch`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("page", text: "stored")]))
    try await bench.launchLocked(Screen("root", children: [Screen("page")])) {}
    let root = Screen("root", children: [Screen("page")])
    let page = try #require(root["page"])
    try await bench.launchLocked(root) { page.text = "typed" }
    try await bench.kill()
    try await bench.unlock()
    let shown = Screen("root", children: [Screen("page")])
    let coordinator = bench.launch()
    var isSettled = false
    let shownPage = try #require(shown["page"])
    shownPage.onFinish = { [unowned shownPage] in
      isSettled = (try? coordinator.settleConflict(of: shownPage)) ?? false
    }
    let report = try await coordinator.restore(into: shown)
    #expect(report[["root", "page"]]?.remarks == (isSettled ? [] : [.superseded(1)]))
    #expect(isSettled)
    _ = try await coordinator.preserve(shown)
    let next = try await bench.launch().restore(into: Screen("root", children: [Screen("page")]))
    #expect(next[["root", "page"]]?.remarks == [])
  }

  @Test func `a conflict that is settled in the hook of restoring again is settled`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("page", text: "stored")]))
    let root = Screen("root", children: [Screen("page")])
    try await bench.launchLocked(root) { root["page"]?.text = "typed" }
    try await bench.kill()
    try await bench.unlock()
    let shown = Screen("root", children: [Screen("page")])
    let coordinator = bench.launch()
    let page = try #require(shown["page"])
    _ = try await coordinator.restore(into: shown)
    var isSettled = false
    page.onFinish = { [unowned page] in isSettled = (try? coordinator.settleConflict(of: page)) ?? false }
    _ = try await coordinator.restore(into: shown)
    page.onFinish = nil
    let isSettledAfter = try coordinator.settleConflict(of: page)
    #expect(isSettled != isSettledAfter, "\(isSettled) \(isSettledAfter)")
    _ = try await coordinator.preserve(shown)
    let next = try await bench.launch().restore(into: Screen("root", children: [Screen("page")]))
    #expect(next[["root", "page"]]?.remarks == [])
  }

  // MARK: - Rows that become one

  @Test(arguments: sizes)
  func `a settled conflict deletes nothing that its body has not been shown`(size: Int) async throws {
    let bench = Bench()
    func editor(_ model: ModelIdentifier?, _ text: String = "") -> Screen {
      let editor = Screen("editor", text: text)
      editor.restoration.model = model
      return editor
    }
    try await bench.preserve(Screen("root", children: [editor(nil, text("draft", size))]))
    for word in ["one", "two"] {
      let root = Screen("root", children: [editor("M")])
      try await bench.launchLocked(root) { root["editor"]?.text = text(word, size) }
      try await bench.kill()
    }
    try await bench.unlock()
    let shown = Screen("root", children: [editor("M")])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: shown)
    let page = try #require(shown["editor"])
    var read: [String] = []
    _ = coordinator.settleConflict(of: page, withStates: { read = $0.map(\.text) })
    _ = try await coordinator.preserve(shown)
    let known = Set(read.map(word) + (try bench.storedTexts()).map(word))
    #expect(known.isSuperset(of: ["draft", "one", "two"]), "\(known) \(report)")
  }

  // MARK: - Objects that change in callbacks

  /// A panel that calls itself otherwise once it is decoded.
  @Observable final class Chameleon: RestorableController, CodingObject, FinishingObject {
    var restoration: RestorationIdentity
    var text = ""
    @ObservationIgnored var later: RestorationIdentifier?
    @ObservationIgnored var laterModel: ModelIdentifier?
    @ObservationIgnored var inFinish = false

    init(_ identifier: RestorationIdentifier, _ text: String = "") {
      restoration = RestorationIdentity(identifier)
      self.text = text
    }

    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      text = try coder.decode(forKey: "text")
      if !inFinish { turn() }
    }

    func applicationFinishedRestoringState() { if inFinish { turn() } }

    private func turn() {
      if let later { restoration.identifier = later }
      if let laterModel { restoration.model = laterModel }
    }
  }

  @Test(arguments: [false, true], sizes)
  func `an object that takes the name of a restored sibling while it is decoded leaves that its row`(
    inFinish: Bool, size: Int
  ) async throws {
    let bench = Bench()
    let (a, b) = (Chameleon("a", text("A", size)), Chameleon("b", text("B", size)))
    try await bench.preserve(Screen("root", children: [a, b]))
    let (one, two) = (Chameleon("a"), Chameleon("b"))
    (one.later, one.inFinish) = ("b", inFinish)
    let (coordinator, root) = (bench.launch(), Screen("root", children: [one, two]))
    _ = try await coordinator.restore(into: root)
    #expect(word(one.text) == "A" && word(two.text) == "B")
    let receipt = try await coordinator.preserve(root).receipt
    two.text = text("typed", size)
    let second = try await coordinator.preserve(root).receipt
    let (x, y) = (Chameleon("a"), Chameleon("b"))
    let report = try await bench.launch().restore(into: Screen("root", children: [x, y]))
    #expect(word(y.text) == "typed", "\(String(describing: receipt)) \(String(describing: second)) \(report)")
    #expect(word(x.text) == "A")
  }

  @Test(arguments: [false, true])
  func `siblings that swap their names while they are decoded keep their states`(inFinish: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Chameleon("a", "A"), Chameleon("b", "B")]))
    let (one, two) = (Chameleon("a"), Chameleon("b"))
    (one.later, one.inFinish, two.later, two.inFinish) = ("b", inFinish, "a", inFinish)
    let (coordinator, root) = (bench.launch(), Screen("root", children: [one, two]))
    _ = try await coordinator.restore(into: root)
    one.text = "A2"
    _ = try await coordinator.preserve(root)
    let (x, y) = (Chameleon("a"), Chameleon("b"))
    let report = try await bench.launch().restore(into: Screen("root", children: [x, y]))
    #expect([x.text, y.text] == ["B", "A2"], "\(report)")
    #expect(report.nodes.allSatisfy { $0.remarks.isEmpty })
  }

  @Test(arguments: [false, true], [nil, "M"] as [ModelIdentifier?])
  func `an object that names another model while it is decoded leaves what it was given`(
    inFinish: Bool, model: ModelIdentifier?
  ) async throws {
    let bench = Bench()
    let a = Chameleon("a", "of M")
    a.restoration.model = model
    let first = bench.launch()
    let before = Screen("root", children: [a])
    _ = try await first.restore(into: before)
    a.text = "of M, typed"
    _ = try await first.preserve(before)
    let one = Chameleon("a")
    one.restoration.model = model
    (one.laterModel, one.inFinish) = ("N", inFinish)
    let (coordinator, root) = (bench.launch(), Screen("root", children: [one]))
    _ = try await coordinator.restore(into: root)
    one.text = "of N"
    _ = try await coordinator.preserve(root)
    one.text = "of N, typed"
    _ = try await coordinator.preserve(root)
    let again = Chameleon("a")
    again.restoration.model = model
    let report = try await bench.launch().restore(into: Screen("root", children: [again]))
    if model != nil { #expect(again.text == "of M, typed", "\(report)") }
    let other = Chameleon("a")
    other.restoration.model = "N"
    let last = try await bench.launch().restore(into: Screen("root", children: [other]))
    #expect(other.text == "of N, typed", "\(last)")
  }

  // MARK: - Growth

  /// How many times the processor time of 500 a body takes for 4 000: the least of three passes each, and of up to nine more while
  /// it is too much, as other tests that run meanwhile can only add to either.
  private func growth(_ measure: (Int) async throws -> Double) async throws -> (Double, String) {
    var (few, many) = (Double.infinity, Double.infinity)
    for pass in 0..<12 where pass < 3 || many / few >= 20 {
      few = min(few, try await measure(500))
      many = min(many, try await measure(4_000))
    }
    return (many / few, "\(few / 1e6) ms, \(many / 1e6) ms")
  }

  private func conflicts(_ count: Int) async throws -> (Bench, [Screen], Screen) {
    func screens() -> [Screen] { (0..<count).map { Screen(RestorationIdentifier("s\($0)")) } }
    let bench = Bench()
    let stored = screens()
    for screen in stored { screen.text = "stored" }
    try await bench.preserve(Screen("root", children: stored))
    let edited = screens()
    try await bench.launchLocked(Screen("root", children: edited)) { for screen in edited { screen.text = "typed" } }
    try await bench.kill()
    try await bench.unlock()
    let shown = screens()
    return (bench, shown, Screen("root", children: shown))
  }

  @Test func `restoring many objects with two records each`() async throws {
    let growth = try await growth { count in
      let (bench, _, root) = try await conflicts(count)
      let coordinator = bench.launch()
      let begun = processorTime()
      _ = try await coordinator.restore(into: root)
      return processorTime() - begun
    }
    #expect(growth.0 < 20, "\(growth)")
  }

  @Test func `a launch without the many objects that are stored`() async throws {
    let growth = try await growth { count in
      let bench = Bench()
      let screens = (0..<count).map { Screen(RestorationIdentifier("s\($0)"), text: "t") }
      try await bench.preserve(Screen("root", children: screens))
      let (coordinator, root) = (bench.launch(), Screen("root", children: [Screen("other")]))
      let begun = processorTime()
      _ = try await coordinator.restore(into: root)
      return processorTime() - begun
    }
    #expect(growth.0 < 20, "\(growth)")
  }

  @Test func `settling many conflicts one by one`() async throws {
    let growth = try await growth { count in
      let (bench, shown, root) = try await conflicts(count)
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      let begun = processorTime()
      for screen in shown { #expect(try coordinator.settleConflict(of: screen)) }
      _ = try await coordinator.preserve(root)
      return processorTime() - begun
    }
    #expect(growth.0 < 20, "\(growth)")
  }
}
