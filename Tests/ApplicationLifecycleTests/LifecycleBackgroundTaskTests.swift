import ApplicationLifecycle
import SimulatedTime
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct BackgroundTaskTests {
  let clock = ManualClock()

  @Test func `the time left is unlimited in the foreground and runs in the background`() async throws {
    let (lifecycle, recorder) = make()
    #expect(lifecycle.backgroundTimeRemaining == nil)
    try await lifecycle.launch()
    #expect(lifecycle.backgroundTimeRemaining == nil)
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    #expect(lifecycle.state == .background, "an open task keeps the program running")
    #expect(lifecycle.backgroundTimeRemaining == .seconds(180))
    clock.advance(by: .seconds(100))
    #expect(lifecycle.backgroundTimeRemaining == .seconds(80))
    try await lifecycle.enterForeground()
    #expect(lifecycle.backgroundTimeRemaining == nil)
    try lifecycle.endBackgroundTask(task)
    #expect(lifecycle.state == .active && recorder.incidents.isEmpty)
  }

  @Test func `the end of the last task suspends the program`() async throws {
    let (lifecycle, _) = make()
    try await lifecycle.launch()
    let first = try lifecycle.beginBackgroundTask(named: "first") {}
    let second = try lifecycle.beginBackgroundTask(named: "second") {}
    try await lifecycle.enterBackground()
    try lifecycle.endBackgroundTask(second)
    await settle()
    #expect(lifecycle.state == .background && lifecycle.openBackgroundTasks == ["first"])
    try lifecycle.endBackgroundTask(first)
    await reach(.suspended, lifecycle)
  }

  @Test func `on expiry the handlers run in order, then the program is suspended`() async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    let log = NameLog()
    for name in ["first", "second"] {
      let box = TaskBox()
      box.task = try lifecycle.beginBackgroundTask(named: name) {
        log.names.append(name)
        if let task = box.task { try? lifecycle.endBackgroundTask(task) }
      }
    }
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180) - .nanoseconds(1))
    await settle()
    #expect(log.names.isEmpty, "not a moment too early")
    clock.advance(by: .nanoseconds(1))
    await reach(.suspended, lifecycle)
    #expect(log.names == ["first", "second"])
    #expect(recorder.incidents.isEmpty)
  }

  @Test func `a task still open after its handler is named, and ended in production`() async throws {
    let (lifecycle, recorder) = make(.reports)
    try await lifecycle.launch()
    _ = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180))
    await reach(.suspended, lifecycle)
    #expect(recorder.incidents == [.leakedBackgroundTasks(names: ["upload"])])
    #expect(recorder.incidents[0].description.contains("upload"))
  }

  @Test func `a task still open after its handler kills in the testing product`() async throws {
    let (lifecycle, recorder) = make(.kills)
    try await lifecycle.launch()
    _ = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180))
    await reach(.notRunning, lifecycle)
    #expect(lifecycle.endReason == .backgroundTimeExpired)
    #expect(recorder.incidents == [.leakedBackgroundTasks(names: ["upload"])])
  }

  @Test func `a task ended twice is named`() async throws {
    let log = IncidentLog()
    let lifecycle = Lifecycle(
      budgets: Lifecycle.Budgets(enforcement: .reports), clock: clock,
      log: LifecycleLog { incident in log.withLock { $0.append(incident) } })
    let (recorder, events) = (Recorder(lifecycle), EventLog())
    let observation = lifecycle.observe { if case .incident = $0 { events.events.append($0) } }
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try lifecycle.endBackgroundTask(task)
    let error = try #require(throws: Lifecycle.RequestError.self) { try lifecycle.endBackgroundTask(task) }
    #expect(error.code == .backgroundTaskNotOpen && error.message.contains("upload"))
    #expect(recorder.incidents == [.backgroundTaskEndedTwice(name: "upload")])
    #expect(log.withLock { $0 } == recorder.incidents && events.events == [.incident(recorder.incidents[0])])
    observation.cancel()
  }

  @Test(arguments: [Lifecycle.State.notRunning, .suspended])
  func `only a running program begins tasks`(state: Lifecycle.State) async throws {
    let (lifecycle, _) = make()
    if state == .suspended {
      try await lifecycle.launch()
      try await lifecycle.enterBackground()
    }
    let error = try #require(throws: Lifecycle.RequestError.self) {
      try lifecycle.beginBackgroundTask(named: "late") {}
    }
    #expect(error.code == .notRunning && error.from == state && error.message.contains("late"))
  }

  @Test func `a scoped task ends itself, and is cancelled when the time is over`() async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    let value = try await lifecycle.withBackgroundTask(named: "short") { 7 }
    #expect(value == 7 && lifecycle.openBackgroundTasks.isEmpty)
    let endless = ManualClock()
    let running = Task {
      try await lifecycle.withBackgroundTask(named: "long") { try await endless.sleep(for: .seconds(1)) }
    }
    await endless.waitForSleepers(1)
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180))
    await #expect(throws: CancellationError.self) { try await running.value }
    await reach(.suspended, lifecycle)
    #expect(recorder.incidents.isEmpty)
  }

  @Test func `no task begins from willTerminate on`() async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    var codes: [Lifecycle.RequestError.Code?] = []
    let attempt: @MainActor () -> Void = {
      do throws(Lifecycle.RequestError) {
        _ = try lifecycle.beginBackgroundTask(named: "too late") {}
        codes.append(nil)
      } catch { codes.append(error.code) }
    }
    recorder.duringCallback["willResignActive"] = attempt
    recorder.duringCallback["willTerminate"] = attempt
    recorder.duringCallback["preserve"] = attempt
    try await lifecycle.terminate()
    #expect(codes == [nil, .terminating, .terminating])
    // A program that is launched anew gets its time again.
    recorder.duringCallback = [:]
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try lifecycle.endBackgroundTask(task)
  }

  private func make(_ enforcement: Lifecycle.Budgets.Enforcement = .reports) -> (Lifecycle, Recorder) {
    let lifecycle = Lifecycle(budgets: Lifecycle.Budgets(enforcement: enforcement), clock: clock)
    return (lifecycle, Recorder(lifecycle))
  }

  /// Lets everything that is due on the main actor run.
  private func settle() async { for _ in 0..<50 { await Task.yield() } }

  /// Waits until the state is reached, for a bounded number of turns.
  private func reach(_ state: Lifecycle.State, _ lifecycle: Lifecycle) async {
    for _ in 0..<100_000 where lifecycle.state != state { await Task.yield() }
    #expect(lifecycle.state == state)
  }
}

@MainActor final class NameLog {
  var names: [String] = []
}

@MainActor final class TaskBox {
  var task: Lifecycle.BackgroundTask?
}
