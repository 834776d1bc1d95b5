import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import RestorationArchive
import StateRestoration
import Synchronization
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct SnapshotTests {
  private let old = Data("old".utf8)

  @Test func `the last snapshot is shown before restoring and removed after it`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    try await fake.application.launch()
    let log = fake.log.all
    #expect(
      log.filter { ["show old", "restore", "removeSnapshot"].contains($0) } == [
        "show old", "restore", "removeSnapshot",
      ])
    #expect(!fake.application.isShowingSnapshot)
  }

  @Test func `a background launch shows no snapshot`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    try await fake.application.launch(.backgroundEvent("fetch"))
    #expect(!fake.log.all.contains("show old") && fake.log.all.contains("restore"))
  }

  @Test func `sensitive controllers are hidden before the snapshot, everywhere in the hierarchy`() async throws {
    let fake = FakeApplication()
    fake.delegate.root?.restorationChildren = [FakeController("a", fake.log), FakeController(nil, fake.log)]
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.enterBackground()
    #expect(fake.log.all.suffix(4) == ["hide root", "hide a", "hide nameless", "makeSnapshot"])
  }

  @Test func `sensitive views are hidden before the snapshot, and shown again`() async throws {
    let fake = FakeApplication()
    fake.delegate.root?.restorationViews = [FakeView("field", fake.log)]
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.enterBackground()
    #expect(fake.log.all.suffix(3) == ["hide root", "hide view", "makeSnapshot"])
    fake.log.clear()
    try await fake.lifecycle.enterForeground()
    #expect(fake.log.all.prefix(2) == ["reveal root", "reveal view"])
  }

  @Test func `what the hierarchy shows twice is hidden once`() async throws {
    let fake = FakeApplication()
    let (child, view) = (FakeController("child", fake.log), FakeView("field", fake.log))
    fake.delegate.root?.restorationChildren = [child, child]
    fake.delegate.root?.restorationViews = [view]
    child.restorationViews = [view]
    child.restorationChildren = [try #require(fake.delegate.root)]
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.enterBackground()
    #expect(fake.log.all.filter { $0.hasPrefix("hide") } == ["hide root", "hide view", "hide child"])
  }

  @Test func `a program launched again after a force quit keeps snapshots again`() async throws {
    let fake = FakeApplication()
    try await fake.application.launch()
    try await fake.application.forceQuit()
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == Data("picture".utf8))
  }

  @Test(arguments: [-31, -29, 29, 31])
  func `a snapshot goes after long disuse, and when its time can't be true`(days: Int) async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    fake.snapshots.takenAt.withLock { $0 = Date().addingTimeInterval(Double(days) * 86_400) }
    try await fake.application.launch()
    #expect(fake.log.all.contains("show old") == (abs(days) < 30))
    #expect((fake.snapshots.snapshot == nil) == (abs(days) > 30))
  }

  @Test func `a picture that nobody has seen the program change is left as it is`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    try await fake.application.launch(.backgroundEvent("fetch"))
    #expect(fake.snapshots.snapshot == old && !fake.log.all.contains("makeSnapshot"))
    try await fake.lifecycle.enterForeground()
    try await fake.lifecycle.terminate()
    #expect(fake.snapshots.snapshot == Data("picture".utf8))
  }

  @Test func `the stock containers know which controllers are seen`() async throws {
    let fake = FakeApplication()
    let (secret, plain) = (FakeController(nil, fake.log), FakeController("plain", fake.log))
    let other = FakeController("other", fake.log)
    let stack = NavigationController("stack", root: plain)
    let tabs = TabController("tabs", tabs: [stack, other])
    let split = SplitController("split", primary: tabs, secondary: nil)
    let window = WindowController("window", content: split)
    fake.delegate.root?.restorationChildren = [window]
    try await fake.application.launch()
    func isKept() async throws -> Bool {
      try await fake.lifecycle.enterBackground()
      try await fake.lifecycle.enterForeground()
      return fake.snapshots.snapshot != nil
    }
    #expect(try await isKept())
    stack.push(secret)
    #expect(try await !isKept(), "on top of the stack")
    tabs.select(1)
    #expect(try await isKept(), "in another tab")
    tabs.select(0)
    stack.push(FakeController("top", fake.log))
    #expect(try await isKept(), "below the top")
    stack.present(secret)
    #expect(try await !isKept(), "presented")
    stack.dismiss()
    split.secondary = FakeController("", fake.log)
    #expect(try await !isKept(), "beside the others")
    window.state = .minimized
    #expect(try await isKept(), "in a minimized window")
    window.state = .normal
    fake.delegate.top = other
    #expect(try await isKept(), "the program knows better")
  }

  @Test func `ignoreSnapshotOnNextLaunch drops the snapshot once`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    try await fake.application.launch()
    fake.application.ignoreSnapshotOnNextLaunch()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == nil)
    try await fake.lifecycle.enterForeground()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot != nil)
  }

  @Test func `ignoreSnapshotOnNextLaunch drops one that was taken already`() async throws {
    let fake = FakeApplication()
    try await fake.application.launch()
    let task = try fake.lifecycle.beginBackgroundTask(named: "afterwards") {}
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot != nil)
    try await fake.application.ignoreSnapshotOnNextLaunch().value
    #expect(fake.snapshots.snapshot == nil)
    try fake.lifecycle.endBackgroundTask(task)
  }

  @Test func `a top controller that is not preserved drops the snapshot`() async throws {
    let fake = FakeApplication()
    let excluded = FakeController(nil, fake.log)
    let below = FakeController("below", fake.log)
    excluded.restorationChildren = [below]
    let first = FakeController("twin", fake.log)
    let second = FakeController("twin", fake.log)
    fake.delegate.root?.restorationChildren = [excluded, first, second]
    try await fake.application.launch()
    for (top, isKept) in [(excluded, false), (below, false), (first, true), (second, false)] {
      fake.delegate.top = top
      try await fake.lifecycle.enterBackground()
      #expect((fake.snapshots.snapshot != nil) == isKept)
      try await fake.lifecycle.enterForeground()
    }
  }

  @Test(arguments: [PreservationOutcome.declined(.answeredNo), .deferred(.discarded), .unchanged(nil)])
  func `a snapshot of state that was not preserved is dropped`(outcome: PreservationOutcome) async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    fake.engine.outcome = .success(outcome)
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    #expect((fake.snapshots.snapshot != nil) == (outcome == .unchanged(nil)))
  }

  @Test func `a snapshot that can't be deleted is logged, and told to who asks for it`() async throws {
    let fake = FakeApplication()
    fake.snapshots.isUndeletable.store(true, ordering: .relaxed)
    fake.engine.outcome = .success(.declined(.answeredNo))
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    #expect(fake.engine.messages.lines.contains { $0.contains("snapshot") })
    await #expect(throws: ProtectionError.self) { try await fake.application.ignoreSnapshotOnNextLaunch().value }
  }

  @Test(arguments: [false, true])
  func `while the state waits for an unlock the snapshot of it stays, unless it is to be ignored`(
    isIgnored: Bool
  ) async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    fake.engine.outcome = .success(.deferred(.locked))
    try await fake.application.launch()
    if isIgnored { fake.application.ignoreSnapshotOnNextLaunch() }
    fake.log.clear()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == (isIgnored ? nil : old))
    #expect(!fake.log.all.contains("makeSnapshot"))
  }

  @Test func `ignoring the snapshot while it is taken drops it, and no later one`() async throws {
    let fake = FakeApplication()
    try await fake.application.launch()
    fake.delegate.onMakeSnapshot = { [application = fake.application] in application.ignoreSnapshotOnNextLaunch() }
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == nil)
    fake.delegate.onMakeSnapshot = {}
    try await fake.lifecycle.enterForeground()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot != nil)
  }

  @Test func `a snapshot on its way when the user quits by force is not kept`() async throws {
    let fake = FakeApplication()
    try await fake.application.launch()
    let quit = Signal()
    fake.delegate.onMakeSnapshot = { [application = fake.application] in
      quit.task = Task { try await application.forceQuit() }
    }
    _ = try? await fake.lifecycle.enterBackground()
    try await quit.task?.value
    #expect(fake.snapshots.snapshot == nil && fake.lifecycle.endReason == .forceQuit)
  }

  @Test func `a snapshot that can't be kept is dropped, the older one too`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    fake.snapshots.isFailing.store(true, ordering: .relaxed)
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == nil)
    #expect(fake.lifecycle.state == .suspended)
  }

  @Test func `a delegate without a snapshot drops the older one`() async throws {
    let fake = FakeApplication()
    fake.snapshots.snapshot = old
    fake.delegate.snapshot = nil
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    #expect(fake.snapshots.snapshot == nil)
  }
}

@MainActor private final class Signal {
  var task: Task<Void, any Error>?
}
