import FoundationEssentials
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// R5.1–R5.2: a locked device never costs state, and is never taken for an empty one.
@MainActor @Suite(.tags(.threads)) struct LockedTests {
  func locked(_ kind: StoreKind = .memory) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "r", children: [Screen("a", text: "a"), Screen("b", text: "b")]))
    try await bench.lock()
    return bench
  }

  func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b")]) }

  @Test(arguments: StoreKind.allCases)
  func `a locked launch neither restores nor overwrites`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    let before = bench.contents
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .deferredUntilUnlock)
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(report.outcome == .locked)
    #expect(report.reason == .deferredUntilUnlock)
    #expect(root.text.isEmpty)
    #expect(try await coordinator.preserve(root) == .deferred(.locked))
    #expect(bench.contents == before)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what an edit while locked replaces is in the generation before`(on kind: StoreKind, isKilled: Bool) async throws
  {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root["b"]?.text = "typed"
    _ = try await coordinator.preserve(root)
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
      let next = hierarchy()
      let launched = bench.launch()
      _ = try await launched.restore(into: next)
      _ = try await launched.preserve(next)
    } else {
      try await bench.unlock(coordinator)
      _ = try await coordinator.preserve(root)
    }
    let newest = hierarchy()
    let last = bench.launch()
    _ = try await last.restore(into: newest)
    #expect(newest["b"]?.text == "typed")
    _ = try await last.restore(into: newest, from: .olderGeneration)
    #expect(newest["b"]?.text == "b")
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what a program makes after a locked launch is restored like the rest, unless the user edits it`(
    on kind: StoreKind, isKilled: Bool
  ) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = Screen("root")
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    root.restorationChildren = [Screen("a"), Screen("b"), Screen("new", text: "new")]
    await Task.yield()
    root["b"]?.text = "edited"
    _ = try await coordinator.preserve(root)
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
    } else {
      try await bench.unlock(coordinator)
      #expect(root.text == "r")
      #expect(root["a"]?.text == "a")
      #expect(root["b"]?.text == "edited")
      #expect(root["new"]?.text == "new")
      _ = try await coordinator.preserve(root)
    }
    let again = Screen("root", children: [Screen("a"), Screen("b"), Screen("new")])
    let report = try await bench.launch().restore(into: again)
    #expect(again.text == "r")
    #expect(again["a"]?.text == "a")
    #expect(again["b"]?.text == "edited")
    if isKilled { #expect(report.remarks.contains(.mergedPendingChanges(nodes: 1))) }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a container that is filled after a locked launch has its state at the unlock, unless the user selects`(
    on kind: StoreKind, selects: Bool
  ) async throws {
    func tabs() -> [Screen] { ["a", "b", "c"].map { Screen($0) } }
    let bench = try await Bench(kind)
    let first = TabController("tabs", tabs: tabs())
    first.select(1)
    try await bench.preserve(first)
    try await bench.lock()
    let coordinator = bench.launch()
    let again = TabController("tabs")
    _ = try await coordinator.restore(into: again)
    again.setTabs(tabs())
    await Task.yield()
    if selects { again.select(2) }
    try await bench.unlock(coordinator)
    #expect(again.selectedIndex == (selects ? 2 : 1))
    #expect(coordinator.lastReport?[["tabs"]]?.isRestored == !selects)
  }

  @Test(arguments: StoreKind.allCases)
  func `what is edited after a locked save is in the next one, whatever was looked at in between`(
    on kind: StoreKind
  ) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<5 { await Task.yield() }
    for (name, text) in [("a", "first"), ("b", "second"), ("a", "third")] as [(RestorationIdentifier, String)] {
      root[name]?.text = text
      for _ in 0..<5 { await Task.yield() }
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
      guard case .unchanged = try await coordinator.preserve(root) else {
        Issue.record("written though nothing has changed")
        continue
      }
    }
    try await bench.kill()
    try await bench.unlock()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "third")
    #expect(again["b"]?.text == "second")
  }

  @Test(arguments: StoreKind.allCases)
  func `who stands below a screen on a stack is no edit of that screen`(on kind: StoreKind) async throws {
    func stack() -> NavigationController {
      let stack = NavigationController("stack")
      stack.setStack(["a", "b", "c"].map { Screen($0) })
      return stack
    }
    let bench = try await Bench(kind)
    let first = stack()
    for case let screen as Screen in first.restorationChildren { screen.text = "stored" }
    try await bench.preserve(first)
    try await bench.lock()
    let coordinator = bench.launch()
    let again = stack()
    _ = try await coordinator.restore(into: again)
    await Task.yield()
    let top = try #require(again.restorationChildren[2] as? Screen)
    again.setStack([again.restorationChildren[0], top])
    _ = try await coordinator.preserve(again)
    try await bench.unlock(coordinator)
    // Nobody makes "b", and the stack ends below it: what stood on that is still stored.
    #expect(bench.delegate.lateReports.last?[["stack", "c"]]?.notRestoredReason == .notInstalled)
    _ = try await coordinator.preserve(again)
    let last = stack()
    _ = try await bench.launch().restore(into: last)
    #expect(last.restorationChildren.compactMap { ($0 as? Screen)?.text } == ["stored", "stored", "stored"])
    withExtendedLifetime(top) {}
  }

  @Test(arguments: StoreKind.allCases)
  func `a delegate that says no to saving at a locked launch has changed nothing`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    bench.delegate.appValue = "stored"
    try await bench.preserve(Screen("root", text: "r"))
    try await bench.lock()
    bench.delegate.appValue = ""
    bench.delegate.saves = false
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    bench.delegate.saves = true
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(bench.delegate.restoredAppValue == "stored")
    #expect(coordinator.lastReport?.remarks.contains(.applicationStateTouched) == false)
  }

  @Test(arguments: StoreKind.allCases)
  func `what was prepared before a lock is not restored after it`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await bench.unlock()
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .normal)
    try await bench.lock()
    let root = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    #expect(root.text.isEmpty)
    try await bench.unlock(coordinator)
    #expect(root.text == "r")
  }

  @Test func `what a coordinator preserves on a device can only be read while it is unlocked`() async throws {
    let bench = try await Bench(.device)
    let device = try #require(bench.process).device
    let coordinator = try RestorationCoordinator(device: device, delegate: bench.delegate)
    _ = try await coordinator.preserve(Screen("root", text: "r"))
    try await bench.lock()
    let root = Screen("root")
    await coordinator.letGo()
    let again = try RestorationCoordinator(device: device, delegate: bench.delegate)
    #expect(try await again.restore(into: root).outcome == .locked)
    #expect(root.text.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a container that only got another child while locked is restored like one that nobody touched`(
    on kind: StoreKind
  ) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.append(Screen("new"))
    for _ in 0..<5 { await Task.yield() }
    root["new"]?.text = "n"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(root.text == "r")
    #expect(root["new"]?.text == "n")
    try await bench.kill()
    let again = Screen("root", children: [Screen("a"), Screen("b"), Screen("new")])
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "r")
    #expect(again["new"]?.text == "n")
  }

  @Test(arguments: StoreKind.allCases)
  func `a locked launch that never restores does not overwrite either`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(Screen("root", text: "empty"))
    try await bench.unlock()
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(root["a"]?.text == "a")
  }

  @Test(arguments: StoreKind.allCases)
  func `after the unlock what was not touched is restored and what was touched keeps the newer state`(
    on kind: StoreKind
  )
    async throws
  {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<5 { await Task.yield() }
    root["a"]?.text = "typed while locked"
    try await bench.unlock(coordinator)
    #expect(root.text == "r")
    #expect(root["a"]?.text == "typed while locked")
    #expect(root["b"]?.text == "b")
    #expect(bench.delegate.lateReports.first?[["root", "a"]]?.notRestoredReason == .touchedMeanwhile)
    _ = try await coordinator.preserve(root)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
  }

  @Test func `an object that is edited while locked stays in its place, though its class could make another`()
    async throws
  {
    let bench = try await Bench(.device)
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Screen.self, as: "page") { path, _ in Screen(path.last, tag: "page") } }
    }
    let former = Screen("root", children: [Screen("page", text: "stored", tag: "page"), Screen("other", tag: "page")])
    _ = try await launch().preserve(former)
    try await bench.kill()
    try await bench.lock()
    let page = Screen("page", tag: "page")
    let root = Screen("root", children: [page])
    let coordinator = launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await coordinator.endTurn()
    page.text = "typed"
    try await bench.unlock(coordinator)
    #expect(root["page"] === page)
    #expect(root["other"] != nil)
    #expect(coordinator.lastReport?[["root", "page"]]?.notRestoredReason == .touchedMeanwhile)
    page.text += " on"
    _ = try await coordinator.preserve(root)
    let again = Screen("root")
    _ = try await launch().restore(into: again)
    #expect(again["page"]?.text == "typed on")
    #expect(again.restorationChildren.count == 2)
  }

  @Test func `after a lock and an unlock a change is a change again`() async throws {
    let bench = try await Bench(.device)
    let root = hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.text = "one"
    _ = try await coordinator.preserve(root)
    try await bench.lock()
    try await bench.unlock(coordinator)
    // The lock has wiped the key of the generation's frames: the first save makes another one.
    root.text = "anew"
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    root.text = "two"
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    try await bench.kill()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "two")
  }

  @Test func `what a failed save while locked did not write is owed by the next`() async throws {
    let bench = try await locked(.device)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "first"
    _ = try await coordinator.preserve(root)
    root.text = "second"
    bench.device?.failDisk(.full)
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.device?.healDisk()
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await bench.kill()
    try await bench.unlock()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "second")
  }

  @Test func `what is touched while locked is kept as touched nodes only`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .pendingChange && receipt.changedNodes == 1)
    // Looked at when the turn ended, before the save asked.
    root["a"]?.text = "typed again"
    await Task.yield()
    await Task.yield()
    root["a"]?.text = "typed while locked"
    await Task.yield()
    await Task.yield()
    #expect(try await coordinator.preserve(root).receipt?.changedNodes == 1)
    try await bench.unlock()
    #expect(try bench.place.openPending().archives.count == 1)
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
    #expect(report.remarks.contains(.mergedPendingChanges(nodes: 1)))
  }

  @Test(arguments: StoreKind.allCases)
  func `touched nodes are joined into the next whole generation after the unlock`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    guard case .preserved(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("not preserved")
      return
    }
    #expect(receipt.kind == .whole)
    #expect(try bench.place.openPending().archives.isEmpty)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
  }

  @Test(arguments: StoreKind.allCases)
  func `a program that restored before the lock saves everything while locked`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    try await bench.unlock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await bench.lock()
    root["b"]?.text = "changed while locked"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .pendingWhole)
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.unlock()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["b"]?.text == "changed while locked")
    #expect(again["a"]?.text == "a")
  }

  @Test(arguments: StoreKind.allCases)
  func `the delegate may choose to restore late by itself`(on kind: StoreKind) async throws {
    let bench = try await locked(kind)
    bench.delegate.late = .wait
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await bench.unlock(coordinator)
    #expect(root.text.isEmpty)
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(root.text == "r")
  }
  @Test(arguments: [RestorationCoordinator.Source.newest, .olderGeneration], [false, true])
  func `an edit made while locked survives a request for any state after the unlock`(
    source: RestorationCoordinator.Source, hasOtherModel: Bool
  ) async throws {
    for saves in [false, true] {
      func hierarchy(_ model: ModelIdentifier, _ text: String = "") -> (root: Screen, editor: Screen) {
        let editor = Screen("editor", text: text)
        editor.restoration.model = model
        return (Screen("root", children: [editor]), editor)
      }
      let bench = Bench()
      do {
        let (root, _) = hierarchy("A", "old")
        let coordinator = bench.launch()
        _ = try await coordinator.restore(into: root)
        for text in ["old", "newer"] {
          root.text = text
          try await bench.compact(coordinator, root)
        }
      }
      bench.delegate.late = .wait
      try await bench.lock()
      let (root, editor) = hierarchy(hasOtherModel ? "B" : "A")
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: root).outcome == .locked)
      await coordinator.endTurn()
      editor.text = "typed"
      if saves { _ = try await coordinator.preserve(root) }
      try await bench.unlock(coordinator)
      #expect(try await coordinator.restore(into: root, from: source).outcome == .restored)
      #expect(editor.text == "typed", "saves: \(saves)")
      _ = try await coordinator.preserve(root)
      let (lastRoot, last) = hierarchy(hasOtherModel ? "B" : "A")
      _ = try await bench.launch().restore(into: lastRoot)
      #expect(last.text == "typed", "saves: \(saves)")
    }
  }
}
