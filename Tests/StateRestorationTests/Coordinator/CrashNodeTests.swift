import FoundationEssentials
import Synchronization
import Testing

@testable import StateRestoration

/// The node that restoring died at is left out, alone, and stays stored until somebody asks for it (R6.2).
@MainActor @Suite struct CrashNodeTests {
  private let journal = Journal()

  private func hierarchy() -> (root: Screen, bad: Panel, good: Panel) {
    let (bad, good) = (Panel("bad", journal: journal), Panel("good", journal: journal))
    return (Screen("root", children: [bad, good]), bad, good)
  }

  /// Two generations: one with ones, and the newest with twos.
  private func preservedTwice(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    let saved = hierarchy()
    (saved.bad.value, saved.good.value) = (1, 1)
    try await bench.preserve(saved.root)
    let coordinator = bench.launch()
    let newer = hierarchy()
    _ = try await coordinator.restore(into: newer.root)
    (newer.bad.value, newer.good.value) = (2, 2)
    try bench.requireWhole()
    #expect(try await coordinator.preserve(newer.root).receipt?.kind == .whole)
    try await bench.kill()
    return bench
  }

  // MARK: - Scopes

  /// A kill during a launch would leave everything out otherwise.
  @Test func `a death while scopes are restored is put down to no scope`() async throws {
    let bench = Bench()
    func hierarchy() throws -> (root: RestorationScope, page: RestorationScope) {
      let page = RestorationScope("page")
      return (RestorationScope("window", page), page)
    }
    let saved = try hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: saved.root)
    try saved.page.setValue("text", forKey: "draft")
    _ = try await coordinator.preserve(saved.root)
    try await bench.kill()
    bench.store.state.withLock { $0.notedNodes = [] }
    let restored = try hierarchy()
    _ = try await bench.launch().restore(into: restored.root)
    #expect(try restored.page.value(ofType: String.self, forKey: "draft") == "text")
    let noted = bench.store.state.withLock { $0.notedNodes }
    let reader = try bench.newestReader()
    // The type of a value may be the program's.
    #expect(noted.contains(try #require(try reader.node(at: ["window", "page", "draft"])).id.rawValue))
    #expect(!noted.contains(try #require(try reader.node(at: ["window"])).id.rawValue))
  }

  // MARK: - Left out

  @Test(arguments: StoreKind.allCases)
  func `what is written beside a quarantined record is given, and a retry gives the record where nothing is newer`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    func hierarchy() -> (root: Screen, bad: Screen) {
      let bad = Screen("bad", children: [Screen("page")])
      return (Screen("root", children: [bad, Screen("beside")]), bad)
    }
    let saved = hierarchy()
    saved.bad.text = "crashes"
    saved.bad["page"]?.text = "page"
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "bad"])
    let edited = hierarchy()
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: edited.root).leftOut == [["root", "bad"]])
    edited.bad["page"]?.text = "newer page"
    _ = try await coordinator.preserve(edited.root)
    let next = hierarchy()
    _ = try await bench.launch().restore(into: next.root)
    #expect([next.bad.text, next.bad["page"]?.text] == ["", "newer page"])
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect([asked.bad.text, asked.bad["page"]?.text] == ["crashes", "newer page"])
  }

  @Test func `a closed row with an older record hides no page that is opened beside it`() async throws {
    let bench = Bench()
    let page = Screen("page")
    let root = Screen("root", children: [page])
    let writer = bench.launch()
    _ = try await writer.preserve(root)
    page.text = "stored"
    _ = try await writer.preserve(root)
    let typing = Screen("page")
    let typingRoot = Screen("root", children: [typing])
    let locked = try await bench.launchLocked(typingRoot) { typing.text = "typed" }
    try await bench.unlock(locked)
    _ = try await locked.preserve(typingRoot)
    let reader = try bench.newestReader()
    let row = try #require(try reader.node(at: ["root", "page"]))
    let typed = try #require(try reader.children(of: row.id).first)
    try await bench.die(atNode: typed.rawValue)
    func pageOfModel(_ text: String) -> Screen {
      let page = Screen("page", text: text)
      page.restoration.model = "A"
      return page
    }
    let open = Screen("root")
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: open).leftOut == [["root", "page"]])
    open.restorationChildren = [pageOfModel("new")]
    _ = try await coordinator.preserve(open)
    let last = pageOfModel("")
    _ = try await bench.launch().restore(into: Screen("root", children: [last]))
    #expect(last.text == "new")
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `an edit while locked lies beside the quarantined record, and is given, also by a retry`(
    isKilled: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    try await bench.die(at: ["root", "bad"])
    #expect(try await bench.launch().restore(into: hierarchy().root).leftOut == [["root", "bad"]])
    try await bench.lock()
    let typing = hierarchy()
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: typing.root).outcome == .locked)
    typing.bad.value = 3
    #expect(try await coordinator.preserve(typing.root).receipt?.kind == .pendingChange)
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
    } else {
      try await bench.unlock(coordinator)
      #expect([typing.bad.value, typing.good.value] == [3, 2])
      _ = try await coordinator.preserve(typing.root)
    }
    let next = hierarchy()
    _ = try await bench.launch().restore(into: next.root)
    #expect([next.bad.value, next.good.value] == [3, 2])
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect([asked.bad.value, asked.good.value] == [3, 2])
  }

  @Test(arguments: StoreKind.allCases)
  func `a shared object that restoring died at is left out until it has newer state`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let path: RestorationPath = ["$shared", "settings"]
    func launch() -> (coordinator: RestorationCoordinator, root: Screen, settings: Screen) {
      let settings = Screen("settings")
      return (bench.launch { $0.share(settings, as: "settings") }, Screen("root"), settings)
    }
    let saved = launch()
    saved.settings.text = "stored"
    _ = try await saved.coordinator.preserve(saved.root)
    try await bench.die(at: path)
    for edits in [false, true] {
      let next = launch()
      let report = try await next.coordinator.restore(into: next.root)
      #expect(next.settings.text == "")
      #expect(report[path]?.notRestoredReason == .leftOutAfterCrash)
      next.root.text = "edited \(edits)"
      if edits { next.settings.text = "newer" }
      _ = try await next.coordinator.preserve(next.root)
    }
    let again = launch()
    _ = try await again.coordinator.restore(into: again.root)
    #expect(again.settings.text == "newer")
    let asked = launch()
    _ = try await asked.coordinator.restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.settings.text == "newer")
  }

  @Test func `a reference to what was left out leads to it again when it comes back`() async throws {
    let bench = Bench()
    func hierarchy() -> (root: Panel, owner: Panel, bad: Panel) {
      let (root, owner, bad) = (Panel("root"), Panel("owner"), Panel("bad"))
      root.restorationChildren = [owner, bad]
      return (root, owner, bad)
    }
    let saved = hierarchy()
    (saved.owner.value, saved.owner.strongFriend, saved.bad.value) = (1, saved.bad, 2)
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "bad"])
    for _ in 0..<2 {
      let next = hierarchy()
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: next.root).leftOut.count == 1)
      #expect(next.owner.value == 1 && next.owner.strongFriend == nil)
      next.root.value += 1
      _ = try await coordinator.preserve(next.root)
    }
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.bad.value == 2 && asked.owner.value == 1)
    #expect(asked.owner.strongFriend === asked.bad)
  }

  @Test func `a late object is not given what restoring died at, unless it is asked for`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Panel("late", value: 1)]))
    try await bench.die(at: ["root", "late"])
    for retries in [false, true] {
      bench.delegate.retries = retries ? [["root", "late"]] : []
      let root = Screen("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      let late = Panel("late")
      root.restorationChildren = [late]
      let report = coordinator.restore(late, at: ["root", "late"])
      #expect(report?.notRestoredReason == (retries ? nil : .leftOutAfterCrash))
      #expect(late.value == (retries ? 1 : 0))
    }
  }

  // MARK: - On request

  @Test(arguments: StoreKind.allCases)
  func `a node that a request died at is left out of the next one, and the newest is as it was`(
    on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    let dying = hierarchy()
    try await bench.die(at: "decode bad", of: journal) {
      _ = try await bench.launch().restore(into: dying.root, from: .olderGeneration)
    }
    let asked = hierarchy()
    let report = try await bench.launch().restore(into: asked.root, from: .olderGeneration)
    #expect(report.leftOut == [["root", "bad"]])
    #expect([asked.bad.value, asked.good.value] == [0, 1])
    try await bench.kill()
    let next = hierarchy()
    let newest = try await bench.launch().restore(into: next.root)
    #expect(newest.reason == .normal && newest.leftOut.isEmpty)
    #expect([next.bad.value, next.good.value] == [2, 2])
    #expect(bench.delegate.histories.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `deaths at the newest count also when the older generation was looked at since`(
    on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    bench.delegate.crashDecision = .tryAgain
    for _ in 1...2 {
      try await bench.die(at: ["root", "bad"])
      let older = hierarchy()
      #expect(try await bench.launch().restore(into: older.root, from: .olderGeneration).leftOut.isEmpty)
      #expect([older.bad.value, older.good.value] == [1, 1])
      try await bench.kill()
    }
    let next = hierarchy()
    #expect(try await bench.launch().restore(into: next.root).leftOut == [["root", "bad"]])
    #expect(bench.delegate.histories.map(\.failedAttempts) == [2])
  }

  // MARK: - Where it died

  /// A screen that dies, as far as the marker goes, in one of its hooks.
  final class Fragile: RestorableController, CodingObject, FinishingObject {
    let restoration: RestorationIdentity = "fragile"
    var value: Int
    var onFinish: (() -> Void)?
    init(_ value: Int = 0) { self.value = value }
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(value, forKey: "value") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      value = try coder.decode(forKey: "value")
    }
    func applicationFinishedRestoringState() { onFinish?() }
  }

  @Test func `a death in the finished hook is put down to its object, and leaves out that one only`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "r", children: [Fragile(1), Screen("b", text: "b")]))
    var died: MemoryStore.Marker?
    let fragile = Fragile()
    fragile.onFinish = { died = bench.store.state.withLock { $0.marker } }
    _ = try await bench.launch().restore(into: Screen("root", children: [Screen("b"), fragile]))
    bench.store.state.withLock { $0.marker = died }
    let again = Screen("root", children: [Fragile(), Screen("b")])
    let report = try await bench.launch().restore(into: again)
    #expect(report.leftOut == [["root", "fragile"]])
    #expect(again["b"]?.text == "b")
  }

  @Test func `a death at the root leaves out everything, keeps it, and is over at the next launch`() async throws {
    let bench = Bench()
    let top = Panel("root", value: 5)
    top.restorationChildren = [Panel("p", value: 6)]
    try await bench.preserve(top)
    let crashing = Panel("root")
    var died: MemoryStore.Marker?
    crashing.onDecode = { died = bench.store.state.withLock { $0.marker } }
    crashing.restorationChildren = [Panel("p")]
    _ = try await bench.launch().restore(into: crashing)
    bench.store.state.withLock { $0.marker = died }
    for _ in 0..<3 {
      let root = Panel("root")
      root.restorationChildren = [Panel("p")]
      root.onDecode = { Issue.record("the root decodes the state that restoring died at") }
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: root)
      #expect(report.leftOut == [["root"]])
      #expect(try await coordinator.preserve(root).receipt?.findings.isEmpty != false)
    }
    let asked = Panel("root")
    let child = Panel("p")
    asked.restorationChildren = [child]
    _ = try await bench.launch().restore(into: asked, retriesLeftOut: true)
    #expect(asked.value == 5)
    #expect(child.value == 6)
  }

  @Test func `a death in the app-level decode leaves out the app-level state only`() async throws {
    let bench = Bench()
    bench.delegate.appValue = "app"
    try await bench.preserve(Screen("root", text: "r"))
    bench.delegate.appValue = ""
    let node = try #require(try bench.newestReader().node(at: ["$application"])).id.rawValue
    try await bench.die(atNode: node)
    for launch in 0..<2 {
      // Whoever would say yes is not asked right after the death.
      bench.delegate.retries = launch == 0 ? [[]] : []
      let root = Screen("root")
      let report = try await bench.launch().restore(into: root)
      #expect(root.text == "r")
      #expect(bench.delegate.restoredAppValue == nil)
      #expect(!report.remarks.filter { if case .applicationStateFailed = $0 { true } else { false } }.isEmpty)
    }
    _ = try await bench.launch().restore(into: Screen("root"), retriesLeftOut: true)
    #expect(bench.delegate.restoredAppValue == "app")
  }

  @Test func `while the app-level state is decoded the marker says so`() async throws {
    let bench = Bench()
    bench.delegate.appValue = "app"
    try await bench.preserve(Screen("root", text: "r"))
    let node = try #require(try bench.newestReader().node(at: ["$application"])).id.rawValue
    var noted: UInt32?
    let journal = Journal()
    journal.onLine = { line in if line == "didDecode" { noted = bench.store.state.withLock { $0.marker?.node } } }
    bench.delegate.journal = journal
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(noted == node)
  }

  @Test func `app-level state that is damaged is named, and kept by the next save`() async throws {
    let bench = Bench()
    bench.delegate.appValue = "app"
    try await bench.preserve(Screen("root", text: "r"))
    let isNamed: (RestorationReport.Remark) -> Bool = { if case .applicationStateFailed = $0 { true } else { false } }
    let root = Screen("root")
    // One that makes this record unreadable, and leaves the rest as it was.
    let found = try await bench.store.changingEachByte {
      (bench.delegate.restoredAppValue, root.text) = (nil, "")
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: root)
      let isIt = report.remarks.contains(where: isNamed) && root.text == "r" && bench.delegate.restoredAppValue == nil
      return isIt ? (coordinator, report) : nil
    }
    let (coordinator, report) = try #require(found)
    #expect(report.remarks.count(where: isNamed) == 1)
    bench.delegate.appValue = "newest"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().records(at: ["$application"]).count == 2)
  }

  @Test func `a delegate without state of its own is guarded while it decides`() async throws {
    final class Plain: RestorationCoordinatorDelegate {
      var onRestore: () -> Void = {}

      func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

      func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
        onRestore()
        return true
      }
    }
    let bench = Bench()
    let delegate = Plain()
    let configuration = bench.configuration
    _ = try await RestorationCoordinator(store: bench.store, delegate: delegate, configuration: configuration)
      .preserve(Screen("root"))
    var isMarked = false
    delegate.onRestore = { isMarked = bench.store.state.withLock { $0.marker != nil && $0.marker?.node == nil } }
    _ = try await RestorationCoordinator(store: bench.store, delegate: delegate, configuration: configuration)
      .restore(into: Screen("root"))
    #expect(isMarked)
  }

  @Test(arguments: StoreKind.allCases)
  func `a death that an attempt has outlived is not held against the generation before`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    try await bench.unlock()
    func make(_ text: String = "") -> Screen {
      Screen("root", children: ["a", "b", "c"].map { Screen($0, text: text) })
    }
    try await bench.preserve(make("1"))
    let typing = make()
    try await bench.launchLocked(typing) { typing["a"]?.text = "typed" }
    try await bench.kill()
    try await bench.unlock()
    try await bench.die(at: ["root", "b"])
    // It ends well, without "b", and the mark takes a whole generation.
    let root = make()
    _ = try await bench.launch().restore(into: root)
    #expect(["a", "b", "c"].map { root[$0]?.text } == ["typed", "", "1"])
    try await bench.kill()
    for _ in 0..<2 { try await bench.die(at: ["root", "c"]) }
    let report = try await bench.launch().restore(into: make())
    #expect(report.outcome == .restored && report.reason == .olderGeneration)
  }
}
