import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Objects that join all records of their rows.
@MainActor @Suite struct JoiningTests {
  let bench = Bench()

  /// Has "stored" on disk, and "typed" saved while locked by a run that was killed; the device is unlocked.
  private func saveTypedWhileLocked() async throws {
    try await bench.preserve(Screen("root", children: [JoiningPage("stored")]))
    let page = JoiningPage()
    try await bench.launchLocked(Screen("root", children: [page])) { page.restorableState = "typed" }
    try await bench.kill()
    try await bench.unlock()
  }

  /// The next launch, in which a page comes in the turn that restores.
  private func launchWithLatePage() async throws -> (RestorationCoordinator, Screen, JoiningPage) {
    try await saveTypedWhileLocked()
    let (late, root) = (JoiningPage(), Screen("root"))
    root.onFinish = { root.restorationChildren = [late] }
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    return (coordinator, root, late)
  }

  @Test func `an edit while locked joins the record of its own model, whose row is absent`() async throws {
    let page = JoiningPage("page A", model: "A")
    let (root, c) = (Screen("root", children: [page]), bench.launch())
    _ = try await c.restore(into: root)
    _ = try await c.preserve(root)
    (page.restoration.model, page.restorableState) = ("B", "page B")
    _ = try await c.preserve(root)
    let typing = JoiningPage(model: "A")
    let next = Screen("root", children: [typing])
    let l = try await bench.launchLocked(next) { typing.restorableState = "typed" }
    try await bench.unlock(l)
    #expect(typing.restorableState == "page A+typed")
  }

  func pages(_ t: String = "") -> (root: Screen, page: JoiningPage, panel: Panel) {
    let (page, panel) = (JoiningPage(t), Panel("p"))
    return (Screen("root", children: [page, panel]), page, panel)
  }

  @Test(arguments: [false, true])
  func `a join outlives a kill after a crash elsewhere`(inRun: Bool) async throws {
    try await bench.preserve(pages("stored").root)
    if inRun { try await bench.die(at: ["root", "p"]) }
    var l = pages()
    var c = try await bench.launchLocked(l.root) { l.page.restorableState = "typed" }
    if inRun {
      try await bench.unlock(c)
    } else {
      try await bench.unlock()
      try await bench.kill()
      try await bench.die(at: ["root", "p"])
      (c, l) = (bench.launch(), pages())
      _ = try await c.restore(into: l.root)
    }
    #expect(l.page.restorableState == "stored+typed")
    await c.endTurn()
    try await Task.sleep(for: .milliseconds(20))
    try await bench.kill()
    let last = pages()
    _ = try await bench.launch().restore(into: last.root)
    #expect(last.page.restorableState == "stored+typed")
  }

  enum When: CaseIterable, Sendable { case late, nextLaunch, otherHierarchy }

  @Test(arguments: When.allCases) func `a page joins whenever it comes`(when: When) async throws {
    try await bench.preserve(pages("stored").root)
    let l = pages()
    var c = try await bench.launchLocked(l.root) { l.page.restorableState = "typed" }
    var page = JoiningPage()
    try await bench.unlock()
    let root = Screen("root", children: when == .otherHierarchy ? [page, Panel("p")] : [Panel("p")])
    if when != .otherHierarchy {
      try await bench.kill()
      c = bench.launch()
    }
    _ = try await c.restore(into: root)
    if when == .late {
      root.restorationChildren.append(page)
      _ = c.restore(page, at: ["root", "page"])
    }
    if when == .nextLaunch {
      root.text = "edited"
      _ = try await c.preserve(root)
      page = JoiningPage()
      _ = try await bench.launch().restore(into: Screen("root", children: [page]))
    }
    #expect(page.restorableState == "stored+typed")
  }

  @Test func `a page that only a reference keeps joins`() async throws {
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(JoiningPage.self, as: "page") { _, _ in JoiningPage(tag: "page") } }
    }
    func make(_ t: String = "") -> (root: Screen, panel: Panel, page: JoiningPage) {
      let (p, page) = (Panel("p"), JoiningPage(t, tag: "page"))
      p.strongFriend = page
      return (Screen("root", children: [p]), p, page)
    }
    _ = try await launch().preserve(make("stored").root)
    let l = make()
    try await bench.lock()
    let c = try await bench.launchLocked(l.root, launch()) { l.page.restorableState = "typed" }
    try await bench.unlock(c)
    #expect((l.panel.strongFriend as? JoiningPage)?.restorableState == "stored+typed")
  }

  @Test func `state that restoring died at is not joined`() async throws {
    try await bench.preserve(Screen("root", children: [JoiningPage("crashes")]))
    try await bench.die(at: ["root", "page"])
    _ = try await bench.launch().restore(into: Screen("root", children: [JoiningPage()]))
    let page = JoiningPage()
    let root = Screen("root", children: [page])
    let c = try await bench.launchLocked(root) { page.restorableState = "typed" }
    try await bench.unlock(c)
    #expect(page.restorableState == "typed")
  }

  @Test func `state of a row that was live while locked has not expired, and is joined`() async throws {
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(JoiningPage.self, as: "page", freshFor: .seconds(60)) }
    }
    _ = try await launch().preserve(Screen("root", children: [JoiningPage("old", tag: "page")]))
    bench.time += 1000
    let page = JoiningPage(tag: "page")
    try await bench.lock()
    let root = Screen("root", children: [page])
    let c = try await bench.launchLocked(root, launch()) { page.restorableState = "typed" }
    try await bench.unlock(c)
    #expect(page.restorableState == "old+typed")
  }

  @Test func `the record that joining died at is not joined with what is typed later`() async throws {
    try await saveTypedWhileLocked()
    let journal = Journal()
    let dying = JoiningPage()
    dying.journal = journal
    try await bench.die(restoring: Screen("root", children: [dying]), at: "merged", of: journal)
    let second = JoiningPage()
    let r2 = Screen("root", children: [second])
    let c = bench.launch()
    _ = try await c.restore(into: r2)
    #expect(second.restorableState == "")
    second.restorableState = "new"
    _ = try await c.preserve(r2)
    try await bench.kill()
    let third = JoiningPage()
    _ = try await bench.launch().restore(into: Screen("root", children: [third]))
    #expect(third.restorableState == "stored+new")
  }

  @Test(arguments: [false, true]) func `seventy pages that were edited while locked are all joined`(inRun: Bool)
    async throws
  {
    func make(_ text: String = "") -> (root: Screen, pages: [JoiningPage]) {
      let pages = (0..<70).map { number in
        let page = JoiningPage(text)
        page.restoration.identifier = RestorationIdentifier("p\(number)")
        return page
      }
      return (Screen("root", children: pages), pages)
    }
    try await bench.preserve(make("stored").root)
    var l = make()
    var c = try await bench.launchLocked(l.root) { for page in l.pages { page.restorableState = "typed" } }
    if inRun {
      try await bench.unlock(c)
    } else {
      try await bench.kill()
      try await bench.unlock()
      (c, l) = (bench.launch(), make())
      _ = try await c.restore(into: l.root)
    }
    #expect(l.pages.allSatisfy { $0.restorableState == "stored+typed" })
    #expect(try await c.preserve(l.root).receipt?.findings == [])
  }

  @Test func `a joined text that can't be encoded costs neither of the two`() async throws {
    try await bench.preserve(Screen("root", children: [FragileJoiningPage("stored")]))
    let f = FragileJoiningPage()
    f.fails = true
    let root = Screen("root", children: [f])
    let c = try await bench.launchLocked(root) { f.restorableState.text = "typed" }
    try await bench.unlock(c)
    _ = try? await c.preserve(root)
    try await bench.kill()
    let again = FragileJoiningPage()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState.text == "stored+typed")
  }

  @Test func `what an object types beside unread records is joined with them at the next launch`() async throws {
    let (c, root, late) = try await launchWithLatePage()
    #expect(late.restorableState == "")
    late.restorableState = "new"
    _ = try await c.preserve(root)
    try await bench.kill()
    let last = JoiningPage()
    let (lastRoot, next) = (Screen("root", children: [last]), bench.launch())
    _ = try await next.restore(into: lastRoot)
    #expect(last.restorableState == "stored+typed+new")
    lastRoot.restorationChildren = []
    _ = try await next.preserve(lastRoot)
    try await bench.kill()
    let again = JoiningPage()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState == "")
  }

  @Test func `an entry whose row becomes one with another is joined at the next launch`() async throws {
    let page = JoiningPage()
    let first = Screen("root", children: [page])
    let writer = bench.launch()
    _ = try await writer.preserve(first)
    page.restorableState = "stored"
    _ = try await writer.preserve(first)
    let second = Screen("root")
    let other = bench.launch()
    _ = try await other.restore(into: second)
    second.restorationChildren = [JoiningPage("entry", model: "B")]
    _ = try await other.preserve(second)
    for expected in ["stored", "stored+entry"] {
      let page = JoiningPage(model: "B")
      let (root, coordinator) = (Screen("root", children: [page]), bench.launch())
      _ = try await coordinator.restore(into: root)
      #expect(page.restorableState == expected)
      _ = try await coordinator.preserve(root)
    }
  }

  @Test func `replaced state of a page that was renamed does not come back by itself`() async throws {
    let (c, root, late) = try await launchWithLatePage()
    late.restoration.identifier = "other"
    _ = try await c.preserve(root)
    try await bench.kill()
    let (old, other) = (JoiningPage(), JoiningPage())
    other.restoration.identifier = "other"
    _ = try await bench.launch().restore(into: Screen("root", children: [old, other]))
    #expect([old.restorableState, other.restorableState] == ["", "stored+typed"])
  }

  @Test(arguments: [false, true])
  func `state that was saved without a tag is joined with what has the class's tag by now`(inRun: Bool) async throws {
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(JoiningPage.self, as: "page", formerly: ["JoiningPage"]) }
    }
    try await bench.preserve(Screen("root", children: [JoiningPage("stored")]))
    var typed = JoiningPage(tag: "page")
    let root = Screen("root", children: [typed])
    var coordinator = launch()
    try await bench.launchLocked(root, coordinator) { typed.restorableState = "typed" }
    if inRun {
      try await bench.unlock(coordinator)
    } else {
      try await bench.kill()
      try await bench.unlock()
      (typed, coordinator) = (JoiningPage(tag: "page"), launch())
      _ = try await coordinator.restore(into: Screen("root", children: [typed]))
    }
    #expect(typed.restorableState == "stored+typed")
  }

  @Test func `joined state leaves with its page, though the page names a model by now`() async throws {
    try await saveTypedWhileLocked()
    let page = JoiningPage(model: "A")
    let (root, coordinator) = (Screen("root", children: [page]), bench.launch())
    _ = try await coordinator.restore(into: root)
    #expect(page.restorableState == "stored+typed")
    _ = try await coordinator.preserve(root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    let new = JoiningPage()
    try await bench.launchLocked(Screen("root", children: [new])) { new.restorableState = "new" }
    try await bench.kill()
    try await bench.unlock()
    let last = JoiningPage()
    _ = try await bench.launch().restore(into: Screen("root", children: [last]))
    #expect(last.restorableState == "new")
  }

  @Test func `joined state leaves with a page that a retry has restored`() async throws {
    try await saveTypedWhileLocked()
    let (journal, dying) = (Journal(), JoiningPage())
    dying.journal = journal
    try await bench.die(restoring: Screen("root", children: [dying]), at: "merged", of: journal)
    /// Restores, saves, does something and saves again; returns the text that the page was given.
    func run(retries: Bool, _ then: (Screen, JoiningPage) -> Void) async throws -> String {
      bench.delegate.retries = retries ? [["root", "page"]] : []
      let page = JoiningPage()
      let (root, coordinator) = (Screen("root", children: [page]), bench.launch())
      _ = try await coordinator.restore(into: root)
      let text = page.restorableState
      _ = try await coordinator.preserve(root)
      then(root, page)
      _ = try await coordinator.preserve(root)
      try await bench.kill()
      return text
    }
    #expect(try await run(retries: false) { $1.restorableState = "new" } == "")
    #expect(try await run(retries: true) { root, _ in root.restorationChildren = [] } == "stored+typed+new")
    #expect(try await run(retries: false) { _, _ in } == "")
  }

  /// The same class in the program's next version, which can't read the older state.
  private enum Next {
    final class Page: JoiningTests.Page {
      override class var version: StateVersion { 2 }
    }
  }

  fileprivate class Page: RestorableController, MergingObject {
    class var version: StateVersion { 1 }
    var restoration: RestorationIdentity { RestorationIdentity("page", version: Self.version) }
    var restorableState = ""
    func merged(stored: String, pending: String) -> String { stored + "+" + pending }
  }

  @Test func `state that can't be joined costs none that can, and the report names it`() async throws {
    let older = Page()
    older.restorableState = "stored"
    try await bench.preserve(Screen("root", children: [older]))
    for line in ["one", "two"] {
      let page = Next.Page()
      try await bench.launchLocked(Screen("root", children: [page])) {
        page.restorableState = line
        page.invalidateRestorableState()
      }
      try await bench.kill()
    }
    try await bench.unlock()
    let page = Next.Page()
    let report = try await bench.launch().restore(into: Screen("root", children: [page]))
    #expect(page.restorableState == "one+two")
    let remarks = try #require(report[["root", "page"]]).remarks
    #expect(remarks.count == 2 && remarks.contains(.joined), "\(remarks)")
  }

  @Test func `an edit of a page on the deepest level of rows is joined`() async throws {
    func tree(_ page: JoiningPage) -> Screen {
      let bottom = Screen("bottom", children: [page])
      let chain = (0..<1020).reduce(bottom) { below, number in Screen("\(number)", children: [below]) }
      return Screen("root", children: [chain])
    }
    try await bench.preserve(tree(JoiningPage("stored")))
    let page = JoiningPage()
    try await bench.launchLocked(tree(page)) { page.restorableState = "typed" }
    try await bench.kill()
    try await bench.unlock()
    let last = JoiningPage()
    _ = try await bench.launch().restore(into: tree(last))
    #expect(last.restorableState == "stored+typed")
  }
}
