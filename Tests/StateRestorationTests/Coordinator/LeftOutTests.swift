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

  private func crashed(_ kind: StoreKind = .memory, hasView: Bool = false) async throws -> Bench {
    let bench = try await Bench(kind)
    let (root, bad) = hierarchy()
    bad.text = "crashes"
    if hasView { bad.restorationViews = [Field("field", 3)] }
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

    #expect(try bench.newestReader().keptNodes().isEmpty)
    #expect(try await bench.launch().restore(into: hierarchy().root).leftOut == [["root", "bad"]])
    let (next, again) = hierarchy()
    let report = try await bench.launch().restore(into: next, retriesLeftOut: true)
    #expect(again.text == "crashes")
    #expect([again["first"]?.text, again["second"]?.text] == ["one", "two"], "\(report)")
  }

  /// When the launches are in which the user types while the device is locked.
  enum LockedLaunch: CaseIterable, Sendable {
    /// The first one after the crash; the unlock comes in the next.
    case atOnce
    /// The first one after the crash, in which the unlock comes too.
    case unlockedInIt
    /// The one after a launch that has left out what crashed.
    case later
  }

  @Test(arguments: LockedLaunch.allCases, StoreKind.allCases)
  func `what is typed below it while locked comes back after the unlock`(
    launch: LockedLaunch, on kind: StoreKind
  ) async throws {
    let bench = try await crashed(kind)
    if launch == .later { #expect(try await bench.launch().restore(into: hierarchy().root).leftOut.count == 1) }
    try await bench.lock()
    let (root, bad) = hierarchy(["first", "second", "newcomer"])
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    for _ in 0..<5 { await Task.yield() }
    bad["first"]?.text = "typed"
    bad["newcomer"]?.text = "new"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    if launch == .unlockedInIt {
      try await bench.unlock(coordinator)
      #expect(coordinator.lastReport?.leftOut == [])
      #expect([bad["first"]?.text, bad["second"]?.text, bad["newcomer"]?.text] == ["typed", "two", "new"])
    } else {
      try await bench.kill()
      try await bench.unlock()
    }
    for _ in 0..<2 {
      let (next, again) = hierarchy(["first", "second", "newcomer"])
      let report = try await bench.launch().restore(into: next)
      #expect(report.leftOut.isEmpty)
      #expect(report[["root", "bad"]]?.findings == [.keptState(versions: [1])])
      #expect([again["first"]?.text, again["second"]?.text, again["newcomer"]?.text] == ["typed", "two", "new"])
      #expect(again.text.isEmpty)
    }
    let (asked, retried) = hierarchy(["first", "second", "newcomer"])
    _ = try await bench.launch().restore(into: asked, retriesLeftOut: true)
    #expect(retried.text == "crashes")
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `who refers to what was left out refers to it again when it comes back`(
    isMadeByHand: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    func launch() -> (coordinator: RestorationCoordinator, root: Panel, owner: Panel, bad: Panel) {
      let (root, owner, bad) = (Panel("root"), Panel("owner"), Panel("bad"))
      if isMadeByHand { bad.tag = "bad" }
      root.restorationChildren = isMadeByHand ? [owner] : [owner, bad]
      return (bench.launch { $0.register(Panel.self, as: "bad") { [weak bad] _, _ in bad } }, root, owner, bad)
    }
    let saved = launch()
    (saved.owner.value, saved.owner.strongFriend, saved.bad.value) = (1, saved.bad, 2)
    _ = try await saved.coordinator.preserve(saved.root)
    try await bench.die(at: isMadeByHand ? ["root", "owner", "bad"] : ["root", "bad"])
    for _ in 0..<2 {
      let next = launch()
      #expect(try await next.coordinator.restore(into: next.root).leftOut.count == 1)
      #expect(next.owner.value == 1)
      #expect(next.owner.strongFriend == nil)
      next.root.value += 1
      _ = try await next.coordinator.preserve(next.root)
    }
    #expect(try bench.newestReader().keptNodes().isEmpty)
    let asked = launch()
    _ = try await asked.coordinator.restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.bad.value == 2)
    #expect(asked.owner.strongFriend === asked.bad)
    #expect(asked.owner.value == 1)
  }

  @Test(arguments: [1, 2])
  func `an edit below one or two that were left out ends that, and takes nothing from others there`(
    edited: Int
  ) async throws {
    let bench = Bench()
    func chain() -> [Panel] {
      let panels = ["root", "first", "second", "third", "fourth"].map { Panel(.init(rawValue: $0)) }
      panels[0].restorationChildren = [panels[1]]
      panels[1].restorationChildren = [panels[2]]
      panels[2].restorationChildren = [panels[3], panels[4]]
      return panels
    }
    let saved = chain()
    for (value, panel) in saved.enumerated() { panel.value = value }
    try await bench.preserve(saved[0])
    for path: RestorationPath in [["root", "first", "second"], ["root", "first"]] {
      try await bench.die(at: path)
      _ = try await bench.launch().restore(into: chain()[0])
    }
    let panels = chain()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: panels[0])
    panels[1 + edited].value = 7
    _ = try await coordinator.preserve(panels[0])
    let next = chain()
    #expect(try await bench.launch().restore(into: next[0]).leftOut.isEmpty)
    #expect(next.map(\.value) == (edited == 1 ? [0, 0, 7, 3, 4] : [0, 0, 0, 7, 4]))
  }

  @Test(arguments: ["nothing", "the root", "it"], StoreKind.allCases)
  func `a shared object stays out like any other, until it has something newer`(
    edited: String, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let path: RestorationPath = ["$shared", "settings"]
    func launch() -> (coordinator: RestorationCoordinator, root: Screen, settings: Screen) {
      let settings = Screen("settings")
      return (bench.launch { $0.register(shared: settings, as: "settings") }, Screen("root"), settings)
    }
    let saved = launch()
    saved.settings.text = "stored"
    _ = try await saved.coordinator.preserve(saved.root)
    try await bench.die(at: path)
    let (coordinator, root, settings) = launch()
    _ = try await coordinator.restore(into: root)
    #expect(settings.text == "")
    switch edited {
    case "the root": root.text = "edited"
    case "it": settings.text = "edited"
    default: break
    }
    for _ in 0..<2 { _ = try await coordinator.preserve(root) }

    for _ in 0..<2 {
      let (coordinator, root, settings) = launch()
      let report = try await coordinator.restore(into: root)
      #expect(settings.text == (edited == "it" ? "edited" : ""))
      #expect(report[path]?.notRestoredReason == (edited == "it" ? nil : .leftOutAfterCrash))
      _ = try await coordinator.preserve(root)
    }
    let asked = launch()
    _ = try await asked.coordinator.restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.settings.text == "stored")
  }

  @Test(arguments: [false, true])
  func `another model's object in its place gets nothing of it, and it comes back whole on request`(
    editsChild: Bool
  ) async throws {
    let bench = Bench()
    func editor(_ model: ModelIdentifier) -> (root: Screen, editor: Screen) {
      let editor = Screen("editor", children: [Screen("first"), Screen("second")])
      editor.restorationModelIdentifier = model
      return (Screen("root", children: [editor]), editor)
    }
    let saved = editor("one")
    saved.editor.text = "theirs"
    saved.editor["first"]?.text = "their first"
    saved.editor["second"]?.text = "their second"
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "editor"])
    let other = editor("two")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: other.root)
    if editsChild { other.editor["first"]?.text = "ours" } else { other.editor.text = "ours" }
    _ = try await coordinator.preserve(other.root)

    let next = editor("two")
    _ = try await bench.launch().restore(into: next.root)
    let texts = [next.editor.text, next.editor["first"]?.text, next.editor["second"]?.text]
    #expect(texts == (editsChild ? ["", "ours", ""] : ["ours", "", ""]))
    let asked = editor("one")
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.editor.text == "theirs")
    #expect([asked.editor["first"]?.text, asked.editor["second"]?.text] == ["their first", "their second"])
  }

  @Test(arguments: [false, true])
  func `what comes below it ends the leaving out once, and not again after another crash`(
    isLocked: Bool
  ) async throws {
    let bench = try await crashed(.device)
    var leftOut: [Int] = []
    for launch in 0..<4 {
      if isLocked { try await bench.lock() }
      let (root, bad) = hierarchy()
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: root)
      for _ in 0..<5 { await Task.yield() }
      if !isLocked { leftOut.append(report.leftOut.count) }
      if isLocked {
        bad["first"]?.text = "typed"
      } else {
        bad.restorationChildren.append(Screen("made \(launch)", text: "made"))
      }
      _ = try await coordinator.preserve(root)
      if isLocked {
        try await bench.kill()
        try await bench.unlock()
        let unlocked = bench.launch()
        let next = hierarchy().root
        leftOut.append(try await unlocked.restore(into: next).leftOut.count)
        _ = try await unlocked.preserve(next)
      }
      // What restoring died at is tried again as soon as it isn't left out, and it dies again.
      if launch == 0 { try await bench.die(at: ["root", "bad"]) }
    }
    #expect(leftOut == (isLocked ? [0, 1, 1, 1] : [1, 1, 1, 1]))
    let (asked, again) = hierarchy()
    _ = try await bench.launch().restore(into: asked, retriesLeftOut: true)
    #expect(again.text == "crashes")
    #expect([again["first"]?.text, again["second"]?.text] == [isLocked ? "typed" : "one", "two"])
  }

  @Test(arguments: [false, true])
  func `an object that turns up later is not given what restoring died at, unless it is asked for`(
    isAskedFor: Bool
  ) async throws {
    let bench = try await crashed(hasView: true)
    for launch in 0..<2 {
      // Right after the crash nobody is asked.
      let isAskedFor = isAskedFor && launch > 0
      if isAskedFor { bench.delegate.retries = [["root", "bad"]] }
      let (root, bad) = hierarchy()
      let field = Field("field")
      bad.restorationViews = [field]
      root.restorationChildren.removeFirst()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root.restorationChildren.insert(bad, at: 0)
      let report = coordinator.register(bad, at: ["root", "bad"])
      if isAskedFor {
        #expect(report?.isRestored == true)
        #expect([bad.text, bad["first"]?.text] == ["crashes", "one"])
        #expect(field.restorableState == 3)
      } else {
        #expect(report?.notRestoredReason == .leftOutAfterCrash)
        #expect([bad.text, bad["first"]?.text] == ["", ""])
      }
      _ = try await coordinator.preserve(root)
    }
    #expect(try bench.newestReader().keptNodes().isEmpty)
    let (asked, again) = hierarchy()
    let field = Field("field")
    again.restorationViews = [field]
    _ = try await bench.launch().restore(into: asked, retriesLeftOut: true)
    #expect([again.text, again["first"]?.text, again["second"]?.text] == ["crashes", "one", "two"])
    #expect(field.restorableState == 3)
  }

  @Test func `an unedited child below a parent that turns up later saves nothing over what was left out`() async throws
  {
    let bench = Bench()
    func late() -> (root: Screen, parent: Screen) {
      let parent = Screen("parent", children: [Screen("bad"), Screen("good")])
      return (Screen("root"), parent)
    }
    let saved = late()
    saved.parent["bad"]?.text = "crashes"
    saved.parent["good"]?.text = "good"
    saved.root.restorationChildren = [saved.parent]
    try await bench.preserve(saved.root)
    try await bench.die(at: ["root", "parent", "bad"])
    for _ in 0..<3 {
      let (root, parent) = late()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root.restorationChildren = [parent]
      #expect(coordinator.register(parent, at: ["root", "parent"])?.isRestored == true)
      #expect([parent["bad"]?.text, parent["good"]?.text] == ["", "good"])
      _ = try await coordinator.preserve(root)
    }
    #expect(try bench.newestReader().keptNodes().isEmpty)
    let (root, parent) = late()
    root.restorationChildren = [parent]
    _ = try await bench.launch().restore(into: root, retriesLeftOut: true)
    #expect(parent["bad"]?.text == "crashes")
  }

  @Test func `who is built anew where nobody was keeps all that was left out there, for one request`() async throws {
    let bench = try await crashed()
    let (root, reopened) = hierarchy(["first"])
    root.restorationChildren.removeFirst()
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).leftOut == [["root", "bad"]])
    root.restorationChildren.insert(reopened, at: 0)
    reopened["first"]?.text = "typed"
    _ = try await coordinator.preserve(root)

    let (next, again) = hierarchy()
    _ = try await bench.launch().restore(into: next)
    #expect([again.text, again["first"]?.text, again["second"]?.text] == ["", "typed", "two"])
    let (asked, retried) = hierarchy()
    _ = try await bench.launch().restore(into: asked, retriesLeftOut: true)
    #expect([retried.text, retried["first"]?.text, retried["second"]?.text] == ["crashes", "one", "two"])
  }
}
