import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// A crash is put down to what restoring died of, and to nothing else.
@MainActor @Suite struct CulpritTests {
  private let journal = Journal()

  /// A root with the panel that restoring dies at, which tells the journal, and another one.
  private func hierarchy() -> (root: Screen, bad: Panel, good: Panel) {
    let (bad, good) = (Panel("bad", journal: journal), Panel("good"))
    return (Screen("root", children: [bad, good]), bad, good)
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `what was typed while locked and is died at is left out alone, until something newer is typed`(
    isNew: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    func type(_ edit: (Panel, Panel) -> Void) async throws {
      let (root, bad, good) = hierarchy()
      try await bench.typeWhileLocked(into: root) { edit(bad, good) }
    }
    let saved = hierarchy()
    if isNew { saved.root.restorationChildren.removeFirst() }
    (saved.bad.value, saved.good.value) = (1, 2)
    try await bench.preserve(saved.root)
    try await type { ($0.value, $1.value) = (3, 4) }
    try await bench.die(restoring: hierarchy().root, at: "decode bad", of: journal)
    for _ in 0..<2 {
      let next = hierarchy()
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: next.root).leftOut == [["root", "bad"]])
      #expect([next.bad.value, next.good.value] == [0, 4])
    }
    try await type { bad, _ in bad.value = 5 }
    let next = hierarchy()
    #expect(try await bench.launch().restore(into: next.root).leftOut.isEmpty)
    #expect([next.bad.value, next.good.value] == [5, 4])
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.bad.value == 3)
  }

  @Test(arguments: [1, 2], StoreKind.allCases)
  func `what was typed while locked over what restoring died at has attempts of its own`(
    deaths: Int, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let saved = hierarchy()
    (saved.bad.value, saved.good.value) = (1, 2)
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "bad"])
    if deaths == 2 { try await bench.die(at: ["root", "bad"]) }
    let typing = hierarchy()
    try await bench.typeWhileLocked(into: typing.root) { (typing.bad.value, typing.good.value) = (3, 4) }
    try await bench.die(restoring: hierarchy().root, at: "decode bad", of: journal)
    // It is in the newest, and pending no more: whatever takes its place sets that aside in one piece.
    #expect(try bench.place.openPending().readable.isEmpty)
    for _ in 0..<2 {
      let next = hierarchy()
      #expect(try await bench.launch().restore(into: next.root).leftOut == [["root", "bad"]])
      #expect([next.bad.value, next.good.value] == [0, 4])
    }
    #expect(bench.delegate.histories.isEmpty)
    // Both are there, on request.
    for value in [1, 3] {
      let asked = hierarchy()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: asked.root, retriesLeftOut: true)
      #expect(asked.bad.value == value)
      _ = try await coordinator.preserve(asked.root)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `those attempts leave the older generation where it is, and end when there are many in a row`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    bench.delegate.crashDecision = .restoreNothing
    let journal = Journal()
    func hierarchy() -> (root: Screen, bad: Panel) {
      let bad = Panel("bad", journal: journal)
      return (Screen("root", children: [bad]), bad)
    }
    let saved = hierarchy()
    saved.bad.value = 1
    try await bench.preserve(saved.root)
    let coordinator = bench.launch()
    let newer = hierarchy()
    _ = try await coordinator.restore(into: newer.root)
    newer.root.text = "newer"
    try await bench.compact(coordinator, newer.root)
    newer.bad.value = 2
    _ = try await coordinator.preserve(newer.root)
    try await bench.die(at: ["root", "bad"])
    var rounds = 0
    while bench.delegate.histories.isEmpty, rounds < 10 {
      rounds += 1
      let typing = hierarchy()
      try await bench.typeWhileLocked(into: typing.root) { typing.bad.value = 10 + rounds }
      if rounds == 2 {
        let older = hierarchy()
        _ = try await bench.launch().restore(into: older.root, from: .olderGeneration)
        #expect(older.bad.value == 1)
      }
      try await bench.die(restoring: hierarchy().root, at: "decode bad", of: journal)
    }
    #expect(rounds > 3)
    #expect(bench.delegate.histories.count == 1)
  }

  @Test(arguments: ["decode child", "finished child"])
  func `a crash in what is kept for a place is put down to that, and leaves what is newer there`(
    moment: String
  ) async throws {
    let bench = Bench()
    let journal = Journal()
    func hierarchy() -> (root: Screen, child: Panel, below: Panel) {
      let (child, below) = (Panel("child", journal: journal), Panel("below"))
      child.restorationChildren = [below]
      return (Screen("root", children: [child]), child, below)
    }
    func restored() async throws -> [Int] {
      let (root, child, below) = hierarchy()
      _ = try await bench.launch().restore(into: root)
      return [child.value, below.value]
    }
    let saved = hierarchy()
    (saved.child.value, saved.below.value) = (1, 2)
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "child"])
    let edited = hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: edited.root)
    edited.child.value = 3
    _ = try await coordinator.preserve(edited.root)
    #expect(try await restored() == [3, 2])

    bench.delegate.retries = [["root", "child"]]
    for _ in 0..<2 {
      let dying = hierarchy()
      try await bench.die(restoring: dying.root, at: moment, of: journal)
      #expect([dying.child.value, dying.below.value] == [1, 2])
      // Who says yes at every launch is not given it in the next one.
      #expect(try await restored() == [3, 2])
    }
    bench.delegate.retries = []
    #expect(try await restored() == [3, 2])
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.child.value == 1)
  }

  @Test func `after a crash in one of what is kept what is stored has its turn, and its crash is the first`()
    async throws
  {
    let bench = Bench()
    let journal = Journal()
    func hierarchy() -> (root: Screen, child: Panel) {
      let child = Panel("child", journal: journal)
      return (Screen("root", text: "unread", children: [child]), child)
    }
    func restored() async throws -> (RestorationReport, Int, String) {
      let (root, child) = hierarchy()
      return (try await bench.launch().restore(into: root), child.value, root.text)
    }
    func die() async throws { try await bench.die(restoring: hierarchy().root, at: "decode child", of: journal) }
    let saved = hierarchy()
    saved.root.text = "root"
    saved.child.value = 1
    try await bench.preserve(saved.root)
    for value in 2...3 {
      try await die()
      let coordinator = bench.launch()
      let (root, child) = hierarchy()
      _ = try await coordinator.restore(into: root)
      child.value = value
      _ = try await coordinator.preserve(root)
    }
    bench.delegate.retries = [["root", "child"]]
    try await die()
    #expect(try await restored().1 == 3)
    try await die()
    try await die()
    let (report, value, text) = try await restored()
    #expect(report.leftOut == [["root", "child"]])
    #expect(value == 0)
    #expect(text == "root")
    #expect(bench.delegate.histories.isEmpty)
  }

  @Test func `after a death in what is kept nothing kept is given until a launch has ended`() async throws {
    let bench = Bench()
    let journal = Journal()
    func hierarchy() -> (root: Screen, children: [Panel]) {
      let children = [Panel("one", journal: journal), Panel("two", journal: journal)]
      return (Screen("root", children: children), children)
    }
    func restored() async throws -> [Int] {
      let (root, children) = hierarchy()
      _ = try await bench.launch().restore(into: root)
      return children.map(\.value)
    }
    let saved = hierarchy()
    for child in saved.children { child.value = 1 }
    try await bench.preserve(saved.root)
    for (index, name) in ["one", "two"].enumerated() {
      try await bench.die(at: ["root", .init(rawValue: name)])
      let coordinator = bench.launch()
      let (root, children) = hierarchy()
      _ = try await coordinator.restore(into: root)
      children[index].value = 2
      _ = try await coordinator.preserve(root)
    }
    #expect(try await restored() == [2, 2])

    bench.delegate.retries = [["root", "one"], ["root", "two"]]
    for name in ["one", "two", "one"] {
      try await bench.die(restoring: hierarchy().root, at: "decode \(name)", of: journal)
      let next = hierarchy()
      let report = try await bench.launch().restore(into: next.root)
      #expect(next.children.map(\.value) == [2, 2])
      // What restoring died at is named like the other.
      for child in ["one", "two"] {
        #expect(report[["root", .init(rawValue: child)]]?.findings == [.keptState(versions: [1])])
      }
    }
    #expect(bench.delegate.histories.isEmpty)
    bench.delegate.retries = []
    #expect(try await restored() == [2, 2])
  }

  @Test func `a death in what is kept begins the count anew only when it is the first`() async throws {
    let bench = Bench()
    bench.delegate.crashDecision = .tryAgain
    let journal = Journal()
    let path: RestorationPath = ["root", "child"]
    func hierarchy() -> Screen { Screen("root", children: [Panel("child", journal: journal)]) }
    try await bench.preserve(Screen("root", children: [Panel("child", value: 1)]))
    try await bench.die(at: path)
    let coordinator = bench.launch()
    let child = Panel("child")
    let root = Screen("root", children: [child])
    _ = try await coordinator.restore(into: root)
    child.value = 2
    _ = try await coordinator.preserve(root)
    let kept = try #require(try bench.newestReader().keptNodes().first).id.rawValue
    try await bench.die(at: path)
    try await bench.die(atNode: kept)
    try await bench.die(restoring: hierarchy(), at: "decode child", of: journal)
    #expect(bench.delegate.histories.map(\.failedAttempts) == [2])
    #expect(try await bench.launch().restore(into: hierarchy()).outcome == .givenUpAfterCrashes)
  }

  @Test func `what a set-aside state died at is left out of it durably, and a look at it replaces nothing`()
    async throws
  {
    let bench = try await Bench(.device)
    let former = hierarchy()
    (former.bad.value, former.good.value) = (1, 2)
    try await bench.preserve(former.root)
    bench.delegate.restores = false
    let declining = bench.launch()
    let newer = hierarchy()
    _ = try await declining.restore(into: newer.root)
    (newer.bad.value, newer.good.value) = (3, 4)
    _ = try await declining.preserve(newer.root)
    bench.delegate.restores = true
    let id = try #require(try await bench.launch().setAsideStates().first).id
    let dying = hierarchy()
    try await bench.die(at: "decode bad", of: journal) {
      _ = try await bench.launch().restore(into: dying.root, from: .setAside(id))
    }
    for _ in 0..<2 {
      let next = hierarchy()
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: next.root).outcome == .restored)
      #expect([next.bad.value, next.good.value] == [3, 4])
      let report = try await coordinator.restore(into: next.root, from: .setAside(id))
      #expect(report.leftOut == [["root", "bad"]])
      #expect(next.good.value == 2)
      try await bench.kill()
    }
  }

  @Test func `a crash in app-level state that is kept is put down to that, and leaves what is newer`() async throws {
    let bench = Bench()
    bench.delegate.appValue = "older"
    try await bench.preserve(Screen("root"))
    try await bench.die(at: ["$application"])
    bench.delegate.appValue = ""
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: Screen("root"))
    bench.delegate.appValue = "newer"
    _ = try await coordinator.preserve(Screen("root"))
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "newer")

    bench.delegate.retries = [[]]
    let journal = Journal()
    bench.delegate.journal = journal
    for moment in ["shouldRestore", "didDecode"] {
      try await bench.die(restoring: Screen("root"), at: moment, of: journal)
      #expect(bench.delegate.restoredAppValue == "older")
      _ = try await bench.launch().restore(into: Screen("root"))
      #expect(bench.delegate.restoredAppValue == "newer")
    }
    bench.delegate.retries = []
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "newer")
  }

  /// Two generations, whose older one a program dies of when it asks for that by name.
  private func diedOnRequest(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserveTwice(hierarchy)
    let first = bench.launch()
    let shown = hierarchy()
    _ = try await first.restore(into: shown.root)
    try await bench.die(at: "decode bad", of: journal) {
      _ = try await first.restore(into: shown.root, from: .olderGeneration)
    }
    return bench
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what the older generation died at on request is left out of it from then on, though others were restored`(
    on kind: StoreKind, savesBetween: Bool
  ) async throws {
    let bench = try await diedOnRequest(kind)
    // Runs that restore the newest alone, once or twice, and one that saves a change of it.
    for round in 1...3 {
      let coordinator = bench.launch()
      let between = hierarchy()
      for _ in 1...round { #expect(try await coordinator.restore(into: between.root).leftOut == []) }
      #expect(between.bad.value == 2)
      if savesBetween, round == 2 {
        between.good.value = 3
        #expect(try await coordinator.preserve(between.root).receipt?.kind == .change)
      }
      try await bench.kill()
    }
    for retries in [false, false, true] {
      let coordinator = bench.launch()
      let (root, bad, good) = hierarchy()
      _ = try await coordinator.restore(into: root)
      bad.value = 9
      let report = try await coordinator.restore(into: root, from: .olderGeneration, retriesLeftOut: retries)
      #expect(report.leftOut == (retries ? [] : [["root", "bad"]]))
      #expect((bad.value, good.value) == (retries ? 1 : 9, 1))
      try await bench.kill()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a stand-in lacks what requests for it have died at, and is not counted with them`(on kind: StoreKind)
    async throws
  {
    let bench = try await diedOnRequest(kind)
    bench.delegate.crashDecision = .olderGeneration
    for _ in 0..<2 { try await bench.die(at: ["root", "good"]) }
    // What is missing is known behind its marker: nothing is saved before somebody asks for it.
    for saves in [false, true] {
      let (root, _, good) = hierarchy()
      let coordinator = bench.launch()
      if !saves { root.onFinish = { coordinator.extendStateRestoration() } }
      let report = try await coordinator.restore(into: root)
      #expect(report.outcome == .restored && report.reason == .olderGeneration)
      #expect(report.leftOut == [["root", "bad"]])
      #expect(good.value == 1)
      if saves {
        let findings = try await coordinator.preserve(root).receipt?.findings ?? []
        #expect(findings.contains { if case .setAside = $0 { true } else { false } })
      }
      // Killed once while it is shown, outside any node.
      try await bench.kill()
    }
    let next = hierarchy()
    let report = try await bench.launch().restore(into: next.root)
    #expect(report.reason == .normal && report.leftOut == [["root", "bad"]] && next.good.value == 1)
  }
}

extension Bench {
  /// Restores, and leaves what a process leaves that dies at a line of the journal.
  func die(restoring root: Screen, at moment: String, of journal: Journal) async throws {
    try await die(at: moment, of: journal) { _ = try await launch().restore(into: root) }
  }

  /// Leaves what a process leaves that dies at a line of the journal, which a body leads to.
  func die(at moment: String, of journal: Journal, _ body: () async throws -> Void) async throws {
    var marker: MemoryStore.Marker?
    journal.onLine = { [store, process] line in
      guard line == moment else { return }
      marker = store.state.withLock { $0.marker }
      process?.fileSystem.die()
    }
    try await body()
    journal.onLine = nil
    store.state.withLock { $0.marker = marker }
    try await kill()
  }

  /// Saves two generations of a hierarchy with two panels: ones, and twos.
  func preserveTwice(_ hierarchy: () -> (root: Screen, bad: Panel, good: Panel)) async throws {
    let saved = hierarchy()
    (saved.bad.value, saved.good.value) = (1, 1)
    try await preserve(saved.root)
    let coordinator = launch()
    let newer = hierarchy()
    _ = try await coordinator.restore(into: newer.root)
    try await compact(coordinator, newer.root)
    (newer.bad.value, newer.good.value) = (2, 2)
    #expect(try await coordinator.preserve(newer.root).receipt?.kind == .whole)
    store.state.withLock { $0.isCompactionDue = false }
  }

  /// Types and saves at a launch while the device is locked, ends, and unlocks it.
  func typeWhileLocked(into root: Screen, _ edit: () -> Void) async throws {
    try await lock()
    let coordinator = launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    for _ in 0..<5 { await Task.yield() }
    edit()
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await kill()
    try await unlock()
  }
}
