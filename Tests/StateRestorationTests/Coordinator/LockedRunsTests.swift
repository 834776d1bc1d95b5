import DataProtection
import FaultyFileSystem
import FoundationEssentials
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// R5.2 over several runs: what was acknowledged while locked is never lost, and what nobody touched is never saved.
@MainActor @Suite(.tags(.threads)) struct LockedRunsTests {
  /// A locked bench that holds a root with two screens and a panel.
  func locked(_ kind: StoreKind = .memory) async throws -> Bench {
    let bench = try await Bench(kind)
    bench.delegate.appValue = "stored"
    try await bench.preserve(
      Screen("root", text: "r", children: [Screen("a", text: "a"), Screen("b", text: "b"), Panel("p", value: 1)]))
    bench.delegate.appValue = ""
    try await bench.lock()
    return bench
  }

  func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b"), Panel("p")]) }

  func panel(_ root: Screen) -> Panel? { root.restorationChildren.compactMap { $0 as? Panel }.first }

  /// One locked run: launches, does something, and saves.
  @discardableResult
  func lockedRun(_ bench: Bench, _ root: Screen? = nil, _ edit: (Screen) async -> Void) async throws
    -> PreservationOutcome
  {
    let root = root ?? hierarchy()
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await edit(root)
    return try await coordinator.preserve(root)
  }

  @Test(arguments: StoreKind.allCases)
  func `what two locked runs saved is all there after the unlock`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "first run" }
    try await lockedRun(bench) { $0["b"]?.text = "second run" }
    try await bench.unlock()
    let root = hierarchy()
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    #expect(root["a"]?.text == "first run")
    #expect(root["b"]?.text == "second run")
    #expect(root.text == "r")
    #expect(report.remarks.contains(.mergedPendingChanges(nodes: 2)))
    _ = try await coordinator.preserve(root)
    #expect(try bench.place.openPending().archives.isEmpty)
  }

  @Test func `a locked run that has written no record saves nothing`() async throws {
    let bench = try await locked()
    let root = hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let all = root.restorationChildren
    root.restorationChildren = all + [Screen("new", text: "typed")]
    await coordinator.endTurn()
    _ = await coordinator.takeEdits()
    root.restorationChildren = all
    guard case .deferred(.locked) = try await coordinator.preserve(root) else {
      Issue.record("something was saved")
      return
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what comes filled while locked is there after the unlock, and gives way to stored state`(
    on kind: StoreKind, unlocksInRun: Bool
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a"), Screen("b", text: "b")]))
    try await bench.lock()
    var root = Screen("root", children: [Screen("a")])
    var coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await coordinator.endTurn()
    // Made and filled in one turn.
    root.restorationChildren += [Screen("b", text: "default"), Screen("new", text: "typed")]
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    if unlocksInRun {
      try await bench.unlock()
      _ = try await coordinator.restore(into: root)
    } else {
      try await bench.unlock()
      root = Screen("root", children: [Screen("a"), Screen("b"), Screen("new")])
      coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
    }
    #expect(root["a"]?.text == "a" && root["b"]?.text == "b" && root["new"]?.text == "typed")
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("a"), Screen("b"), Screen("new")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["b"]?.text == "b" && again["new"]?.text == "typed")
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what was touched stays when the run goes on with another hierarchy`(
    on kind: StoreKind, savesFirst: Bool
  ) async throws {
    for endsWhileLocked in [false, true] {
      let bench = try await locked(kind)
      let coordinator = bench.launch()
      let first = hierarchy()
      _ = try await coordinator.restore(into: first)
      first.text = "first hierarchy"
      first["a"]?.text = "first hierarchy"
      bench.delegate.appValue = "first hierarchy"
      if savesFirst { #expect(try await coordinator.preserve(first).receipt?.kind == .pendingChange) }
      let second = hierarchy()
      #expect(try await coordinator.restore(into: second).outcome == .locked)
      second["a"]?.text = "second hierarchy"
      #expect(try await coordinator.preserve(second).receipt?.kind == .pendingChange)
      if endsWhileLocked {
        try await bench.unlock()
      } else {
        try await bench.unlock(coordinator)
        #expect(second.text == "first hierarchy")
        #expect(second["a"]?.text == "second hierarchy")
        #expect(second["b"]?.text == "b")
      }
      let again = hierarchy()
      _ = try await bench.launch().restore(into: again)
      #expect(again.text == "first hierarchy")
      #expect(again["a"]?.text == "second hierarchy")
      #expect(again["b"]?.text == "b")
      #expect(bench.delegate.restoredAppValue == "first hierarchy")
    }
  }

  /// What a program asks for that can't be had while locked.
  enum Request: CaseIterable, Sendable {
    case newest, olderGeneration, otherHierarchy
  }

  @Test(arguments: StoreKind.allCases, Request.allCases)
  func `to ask for a state while locked takes nothing from what was saved before`(
    on kind: StoreKind, request: Request
  ) async throws {
    for (endsWhileLocked, savesBetween) in [(false, true), (true, true), (false, false)] {
      let bench = try await locked(kind)
      try await bench.unlock()
      let coordinator = bench.launch()
      var root = hierarchy()
      _ = try await coordinator.restore(into: root)
      root.text = "unlocked"
      _ = try await coordinator.preserve(root)
      try await bench.lock()
      root["a"]?.text = "locked"
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
      if request == .otherHierarchy { root = hierarchy() } else { root["a"]?.text = "not saved yet" }
      let source: RestorationCoordinator.Source = request == .olderGeneration ? .olderGeneration : .newest
      #expect(try await coordinator.restore(into: root, from: source).outcome == .locked)
      for _ in 0..<5 { await Task.yield() }
      root["b"]?.text = "locked later"
      // Another hierarchy has not read the state: of it only edits are saved.
      let kind: PreservationOutcome.Receipt.Kind = request == .otherHierarchy ? .pendingChange : .pendingWhole
      if savesBetween { #expect(try await coordinator.preserve(root).receipt?.kind == kind) }
      if endsWhileLocked {
        try await bench.unlock()
      } else {
        try await bench.unlock(coordinator)
        #expect(root["a"]?.text == (request == .otherHierarchy ? "locked" : "not saved yet"))
        #expect(root["b"]?.text == "locked later")
        _ = try await coordinator.preserve(root)
      }
      let again = hierarchy()
      _ = try await bench.launch().restore(into: again)
      #expect(again.text == "unlocked")
      #expect(again["a"]?.text == (request == .otherHierarchy ? "locked" : "not saved yet"))
      #expect(again["b"]?.text == "locked later")
      #expect(try await bench.launch().setAsideStates().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of one node that two locked runs saved the later state counts`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "first run" }
    try await lockedRun(bench) { $0["a"]?.text = "second run" }
    try await bench.unlock()
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(root["a"]?.text == "second run")
  }

  @Test(arguments: StoreKind.allCases)
  func `late restoring joins what an earlier locked run saved and keeps what this one touched`(on kind: StoreKind)
    async throws
  {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "first run" }
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<5 { await Task.yield() }
    root["b"]?.text = "this run"
    try await bench.unlock(coordinator)
    #expect(root["a"]?.text == "first run")
    #expect(root["b"]?.text == "this run")
    _ = try await coordinator.preserve(root)
    #expect(try bench.place.openPending().archives.isEmpty)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect([again["a"]?.text, again["b"]?.text] == ["first run", "this run"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a whole state saved by a first run that was locked survives the next locked run`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.lock()
    let coordinator = bench.launch()
    let first = hierarchy()
    first["a"]?.text = "first run"
    first.text = "root of the first run"
    _ = try await coordinator.restore(into: first)
    #expect(try await coordinator.preserve(first).receipt?.kind == .pendingWhole)
    try await lockedRun(bench) { $0["b"]?.text = "second run" }
    try await bench.unlock()
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect([root.text, root["a"]?.text, root["b"]?.text] == ["root of the first run", "first run", "second run"])
  }

  @Test(arguments: [1, 2])
  func `a whole state saved while locked comes back although what was saved before is damaged`(
    generations: Int
  ) async throws {
    let bench = try await Bench(.device)
    let root = hierarchy()
    for number in 1...generations {
      root.text = "before \(number)"
      try await bench.preserve(root)
    }
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    try await bench.lock()
    root.text = "typed while locked"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.kill()
    let disk = try #require(bench.device?.memory)
    for slot in disk.names(atPath: "/device/archives") {
      let files = disk.names(atPath: "/device/archives/\(slot)").filter { $0.hasPrefix("g-") }
      guard files.count > generations else { continue }
      let last = try #require(files.compactMap { Int($0.dropFirst(2)) }.max())
      for name in files where name != "g-\(last)" {
        let path = "/device/archives/\(slot)/\(name)"
        disk.plant(try #require(disk.content(atPath: path)).map { $0 ^ 1 }, atPath: path)
      }
    }
    try await bench.unlock()
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored, "\(report)")
    #expect(again.text == "typed while locked")
    #expect(try bench.place.openPending().archives.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `touched state whose object nobody makes is carried over like any other`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "typed while locked" }
    try await bench.unlock()
    for round in 0..<3 {
      let without = Screen("root", children: [Screen("b")])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: without)
      without.text = "round \(round)"
      _ = try await coordinator.preserve(without)
    }
    #expect(try bench.place.openPending().archives.isEmpty)
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(root["a"]?.text == "typed while locked")
    #expect(panel(root)?.value == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `a screen that was opened while locked comes back, whoever makes it and whenever`(on kind: StoreKind)
    async throws
  {
    let bench = try await locked(kind)
    try await lockedRun(bench) { root in
      root.restorationChildren.append(Screen("new", children: [Screen("inner")]))
      for _ in 0..<5 { await Task.yield() }
      root["new"]?.text = "draft"
      root["new"]?["inner"]?.text = "deep"
    }
    try await bench.unlock()
    let coordinator = bench.launch()
    let without = hierarchy()
    _ = try await coordinator.restore(into: without)
    _ = try await coordinator.preserve(without)
    bench.delegate.make = { path, _ in path.components.contains("new") ? Screen(path.last) : nil }
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(root["new"]?.text == "draft")
    #expect(root["new"]?["inner"]?.text == "deep")
    #expect(root["a"]?.text == "a")
  }

  @Test(arguments: StoreKind.allCases)
  func `an edit of a controller that codes by hand counts while locked, without being told`(on kind: StoreKind)
    async throws
  {
    let bench = try await locked(kind)
    let outcome = try await lockedRun(bench) { panel($0)?.value = 7 }
    #expect(outcome.receipt?.kind == .pendingChange)
    try await bench.unlock()
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(panel(root)?.value == 7)
    #expect(root["a"]?.text == "a")
  }

  @Test(arguments: StoreKind.allCases)
  func `late restoring keeps an unobserved edit that was never saved`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<5 { await Task.yield() }
    panel(root)?.value = 7
    try await bench.unlock(coordinator)
    #expect(panel(root)?.value == 7)
    #expect(root["a"]?.text == "a")
    #expect(bench.delegate.lateReports.first?[["root", "p"]]?.notRestoredReason == .touchedMeanwhile)
  }

  @Test(arguments: StoreKind.allCases)
  func `when nothing was touched nothing is written while locked, however often it is asked`(on kind: StoreKind)
    async throws
  {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<3 { #expect(try await coordinator.preserve(root) == .deferred(.locked)) }
    root.invalidateRestorableState()
    #expect(try bench.place.openPending().archives.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `an untouched app-level state does not take the place of the stored one, a touched one does`(on kind: StoreKind)
    async throws
  {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "touched" }
    try await bench.unlock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    #expect(bench.delegate.restoredAppValue == "stored")
    try await bench.lock()
    let locked = bench.launch()
    let other = hierarchy()
    _ = try await locked.restore(into: other)
    bench.delegate.appValue = "typed while locked"
    _ = try await locked.preserve(other)
    try await bench.unlock()
    _ = try await bench.launch().restore(into: hierarchy())
    #expect(bench.delegate.restoredAppValue == "typed while locked")
  }

  @Test(arguments: StoreKind.allCases)
  func `a program that restores late by itself overwrites nothing that was touched`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    bench.delegate.late = .wait
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "touched"
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await bench.unlock(coordinator)
    _ = try await coordinator.restore(into: root)
    #expect(root["a"]?.text == "touched")
    #expect(root["b"]?.text == "b")
  }

  @Test func `a hierarchy made anew after the unlock gets what was touched in the old one`() async throws {
    let bench = try await locked()
    bench.delegate.late = .wait
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "touched"
    try await bench.unlock()
    let other = hierarchy()
    _ = try await coordinator.restore(into: other)
    #expect([other["a"]?.text, other["b"]?.text] == ["touched", "b"])
  }

  @Test(arguments: ["a", "b", "inner"])
  func `what was touched while locked stays where it is, with those above it`(
    touched: RestorationIdentifier
  ) async throws {
    let bench = try await Bench(.memory)
    func hierarchy(_ text: String) -> Screen {
      let a = Screen("a", text: text, children: [Screen("inner", text: text)])
      return Screen("root", children: [a, Screen("b", text: text)])
    }
    try await bench.preserve(hierarchy("stored"))
    try await bench.lock()
    // The delegate makes every other screen anew, as a restoration class does, though each exists.
    bench.delegate.make = { path, _ in Screen(path.last) }
    let coordinator = bench.launch()
    let root = hierarchy("")
    _ = try await coordinator.restore(into: root)
    let (a, b, inner) = (root["a"], root["b"], root["a"]?["inner"])
    let old = try #require(touched == "inner" ? inner : root[touched])
    old.text = "typed while locked"
    try await bench.unlock(coordinator)
    func texts(_ root: Screen) -> [RestorationIdentifier: String?] {
      ["a": root["a"]?.text, "inner": root["a"]?["inner"]?.text, "b": root["b"]?.text]
    }
    var expected: [RestorationIdentifier: String?] = ["a": "stored", "inner": "stored", "b": "stored"]
    expected[touched] = "typed while locked"
    #expect(texts(root) == expected)
    #expect((root["a"] === a) == (touched != "b"))
    #expect((root["b"] === b) == (touched == "b"))
    #expect((root["a"]?["inner"] === inner) == (touched == "inner"))
    _ = try await coordinator.preserve(root)
    let again = hierarchy("")
    _ = try await bench.launch().restore(into: again)
    #expect(texts(again) == expected)
  }

  /// Holds the next look at what is stored before it finds that locked.
  private func holdAtLockedState(_ bench: Bench) -> HeldCall {
    bench.store.state.withLock { $0.failures["openNewest"] = .locked }
    return bench.store.hold(at: "openNewest")
  }

  @Test func `an unlock during the look at the locked state is not missed`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    try await bench.unlock()
    let held = holdAtLockedState(bench)
    async let report = coordinator.restore(into: root)
    try await held.arrived()
    bench.store.state.withLock { $0.failures = [:] }
    await coordinator.protectedDataDidBecomeAvailable()
    #expect(bench.delegate.lateReports.isEmpty)
    held.release()
    #expect(try await report.outcome == .locked)
    await bench.delegate.nextLateReport()
    #expect(root["a"]?.text == "a")
  }

  @Test func `an unlock while suspended counts once`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    coordinator.suspend()
    try await bench.unlock(coordinator)
    try await bench.lock()
    // The restoration begins before what the wake has left to do: it has seen the one unlock that there was.
    let held = holdAtLockedState(bench)
    async let report = coordinator.restore(into: root)
    try await held.arrived()
    coordinator.wake()
    for _ in 0..<1000 { await Task.yield() }
    held.release()
    #expect(try await report.outcome == .locked)
    for _ in 0..<1000 { await Task.yield() }
    _ = try await coordinator.preserve(root)
    #expect(bench.delegate.lateReports.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `what could not be read when it was looked for is looked for again`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .deferredUntilUnlock)
    try await bench.unlock()
    let root = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(root["a"]?.text == "a")
  }

  @Test(arguments: ["openPending", "openNewest"], [ProtectionError.Code.io, .busy])
  func `a passing fault puts nothing out of reach that was saved while locked`(
    call: String, code: ProtectionError.Code
  ) async throws {
    let bench = Bench()
    let first = bench.launch()
    let root = hierarchy()
    _ = try await first.preserve(root)
    try await bench.lock()
    root["a"]?.text = "typed while locked"
    _ = try await first.preserve(root)
    try await bench.unlock()
    let coordinator = bench.launch()
    let again = hierarchy()
    bench.store.state.withLock { $0.failures = [call: code] }
    let report = try await coordinator.restore(into: again)
    #expect(report.outcome == .unavailable)
    await #expect(throws: RestorationError.self) { _ = try await coordinator.preserve(again) }
    bench.store.state.withLock { $0.failures = [:] }
    #expect(try await coordinator.restore(into: again).outcome == .restored)
    #expect(again["a"]?.text == "typed while locked")
  }

  @Test func `an unknown durability keeps what was saved while locked pending until a later save`() async throws {
    let bench = try await locked()
    try await lockedRun(bench) { $0["a"]?.text = "touched" }
    try await bench.unlock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    bench.store.state.withLock { $0.durability = .unknown }
    #expect(try await coordinator.preserve(root).receipt?.durability == .unknown)
    #expect(bench.store.pending != nil)
    bench.store.state.withLock { $0.durability = .durable }
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    #expect(bench.store.state.withLock { $0.allPending.isEmpty })
  }

  @Test(arguments: StoreKind.allCases)
  func `a program that only preserves joins what was saved while locked before`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await lockedRun(bench) { $0["a"]?.text = "touched" }
    try await bench.unlock()
    _ = try await bench.launch().preserve(Screen("root", text: "new", children: []))
    #expect(try bench.place.openPending().archives.isEmpty)
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    // What it had to say itself hides nothing that is stored.
    #expect([root.text, root["a"]?.text, root["b"]?.text] == ["r", "touched", "b"])
  }

  @Test func `a screen that shows another model while locked is given what is stored without one`() async throws {
    let bench = try await Bench(.memory)
    let (first, saving) = (Screen("root"), bench.launch())
    _ = try await saving.preserve(first)
    first.text = "stored"
    _ = try await saving.preserve(first)
    let root = Screen("root")
    root.restoration.model = "A"
    let coordinator = bench.launch()
    try await bench.launchLocked(root, coordinator) { root.restoration.model = "B" }
    try await bench.unlock(coordinator)
    #expect(root.text == "stored")
    _ = try await coordinator.preserve(root)
    let next = Screen("root")
    next.restoration.model = "B"
    _ = try await bench.launch().restore(into: next)
    #expect(next.text == "stored")
  }

  @Test func `what was typed for one model while locked leaves another model's row as it is`() async throws {
    let bench = Bench()
    let editor = Screen("editor", text: "draft of A")
    editor.restoration.model = "A"
    try await bench.preserve(Screen("root", children: [editor]))
    try await bench.lock()
    let other = Screen("editor")
    other.restoration.model = "B"
    try await lockedRun(bench, Screen("root", children: [other])) { $0["editor"]?.text = "draft of B" }
    try await bench.unlock()
    let root = Screen("root", children: [Screen("editor")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    #expect(root["editor"]?.text == "draft of B")
    _ = try await coordinator.preserve(root)
    let again = Screen("editor")
    again.restoration.model = "A"
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "draft of A")
  }
}
