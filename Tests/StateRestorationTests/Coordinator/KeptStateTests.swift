import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// State that this run can't read or must not touch stays until there is newer state, and is offered again (R3.5, R6.2).
@MainActor @Suite struct KeptStateTests {
  /// A panel of some version.
  class Editor: CodingController {
    let restorationIdentifier: RestorationIdentifier?
    var text: String
    var fails = false
    init(_ text: String = "", called identifier: RestorationIdentifier = "e") {
      self.text = text
      restorationIdentifier = identifier
    }
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      if fails { throw RestorationError(.invalidState, "as the test wants") }
      text = try coder.decode(forKey: "text")
    }
    class var stateVersion: StateVersion { 2 }
  }

  final class NewerEditor: Editor {
    override class var stateVersion: StateVersion { 9 }
  }

  func root(_ editor: Editor) -> Screen { Screen("root", children: [editor, Screen("other")]) }

  @Test(arguments: StoreKind.allCases)
  func `what was saved last wins after an upgrade, and the newer program's state comes back on request`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(root(NewerEditor("of the newer program")))
    let older = Editor()
    let hierarchy = root(older)
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: hierarchy)
    #expect(report[["root", "e"]]?.notRestoredReason == .newerVersion(stored: 9, known: 2))
    hierarchy["other"]?.text = "changed"
    _ = try await coordinator.preserve(hierarchy)
    older.text = "typed in the older program"
    for round in 0..<4 {
      hierarchy["other"]?.text = "round \(round)"
      _ = try await coordinator.preserve(hierarchy)
    }
    let again = Editor()
    _ = try await bench.launch().restore(into: root(again))
    #expect(again.text == "typed in the older program")
    let newer = NewerEditor()
    let told = try await bench.launch().restore(into: root(newer))
    #expect(newer.text == "typed in the older program")
    #expect(told[["root", "e"]]?.findings.first == .keptState(versions: [9]))
    bench.delegate.retries = [["root", "e"]]
    let asked = NewerEditor()
    let launch = bench.launch()
    let upgraded = root(asked)
    _ = try await launch.restore(into: upgraded)
    #expect(asked.text == "of the newer program")
    _ = try await launch.preserve(upgraded)
    asked.text += ", edited"
    _ = try await launch.preserve(upgraded)
    bench.delegate.retries = []
    let last = NewerEditor()
    let end = try await bench.launch().restore(into: root(last))
    #expect(last.text == "of the newer program, edited")
    // What was typed in the older program made room in its turn, and is not lost either.
    #expect(end[["root", "e"]]?.findings == [.keptState(versions: [2])])
  }

  @Test func `what is kept for two objects whose paths look the same comes back to its own`() async throws {
    let paths: [RestorationPath] = [
      ["root", "a/b"], ["root", "a", "b"], ["root", "a\\", "b"], ["root", "a\u{1F}2"], ["root", "\u{E9}"],
      ["root", "e\u{301}"],
    ]
    func root<Panel: Editor>(_ make: (String, RestorationIdentifier) -> Panel) -> (Screen, [Panel]) {
      let panels = paths.map { make("\($0.components.map { Array($0.rawValue.utf8) })", $0.last ?? "") }
      let children: [any RestorableController] = [
        panels[0], Screen("a", children: [panels[1]]), Screen("a\\", children: [panels[2]]), panels[3], panels[4],
        panels[5],
      ]
      return (Screen("root", children: children), panels)
    }
    let bench = Bench()
    try await bench.preserve(root { NewerEditor($0, called: $1) }.0)
    let (hierarchy, older) = root { Editor("", called: $1) }
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy)
    for panel in older { panel.text = "typed in the older program" }
    _ = try await coordinator.preserve(hierarchy)
    bench.delegate.retries = Set(paths)
    let (upgraded, newer) = root { NewerEditor("", called: $1) }
    _ = try await bench.launch().restore(into: upgraded)
    #expect(newer.map(\.text) == paths.map { "\($0.components.map { Array($0.rawValue.utf8) })" })
  }

  @Test func `refused state stays as long as nobody edits, even where edits can't be noticed`() async throws {
    let bench = Bench()
    try await bench.preserve(root(NewerEditor("newer")))
    for _ in 0..<3 {
      let hierarchy = root(Editor())
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: hierarchy)
      for round in 0..<3 {
        hierarchy["other"]?.text = "round \(round)"
        _ = try await coordinator.preserve(hierarchy)
      }
    }
    let newer = NewerEditor()
    _ = try await bench.launch().restore(into: root(newer))
    #expect(newer.text == "newer")
  }

  @Test func `an edit between the refusal and the first save is saved`() async throws {
    let bench = Bench()
    let newer = Screen("a", text: "x")
    try await bench.preserve(Screen("root", children: [newer, NewerEditor("newer")]))
    let older = Editor()
    let hierarchy = Screen("root", children: [Screen("a"), older])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy)
    older.text = "typed at once"
    _ = try await coordinator.preserve(hierarchy)
    let again = Editor()
    _ = try await bench.launch().restore(into: Screen("root", children: [Screen("a"), again]))
    #expect(again.text == "typed at once")
  }

  @Test func `state that failed to decode is offered again on request, after newer state took its place`() async throws
  {
    let bench = Bench()
    try await bench.preserve(root(Editor("precious")))
    let failing = Editor()
    failing.fails = true
    let hierarchy = root(failing)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy)
    failing.text = "typed"
    _ = try await coordinator.preserve(hierarchy)
    let unasked = Editor()
    _ = try await bench.launch().restore(into: root(unasked))
    #expect(unasked.text == "typed")
    bench.delegate.retries = [["root", "e"]]
    let asked = Editor()
    let launch = bench.launch()
    let again = root(asked)
    _ = try await launch.restore(into: again)
    #expect(asked.text == "precious")
    _ = try await launch.preserve(again)
    bench.delegate.retries = []
    let last = Editor()
    _ = try await bench.launch().restore(into: root(last))
    #expect(last.text == "precious")
  }

  // MARK: - After a crash

  /// A screen that dies, as far as the marker goes, in one of its hooks.
  final class Fragile: CodingController {
    let restorationIdentifier: RestorationIdentifier? = "fragile"
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
    bench.store.state.withLock { state in
      state.marker = .init(generation: state.generations.last?.number ?? 0, node: node, isRequest: false, run: -1)
    }
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
    bench.delegate.restores = false
    let declined = try await bench.launch().restore(into: Screen("root"))
    #expect(declined.remarks.contains(where: isNamed))
    bench.delegate.restores = true
    bench.delegate.appValue = "newest"
    _ = try await coordinator.preserve(root)
    let kept = try #require(try bench.newestReader().node(at: ["$kept"]))
    #expect(try bench.newestReader().children(of: kept.id).count == 1)
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
}
