import ApplicationLifecycle
import SimulatedTime
import TestTraits
import Testing

/// The end of the background time, in the middle of something else.
@MainActor @Suite(.tags(.threads)) struct BackgroundExpiryTests {
  let clock = ManualClock()

  private func make(_ enforcement: Lifecycle.Budgets.Enforcement = .kills) -> (Lifecycle, Recorder) {
    let lifecycle = Lifecycle(
      budgets: Lifecycle.Budgets(
        enteringBackground: .seconds(1_000), terminating: .seconds(1_000), enforcement: enforcement), clock: clock)
    return (lifecycle, Recorder(lifecycle))
  }

  private func settle() async { for _ in 0..<200 { await Task.yield() } }

  @Test(arguments: [LifecycleRequest.terminate, .enterForeground])
  func `expiry in the middle of another request waits for it, and is then no more`(
    request: LifecycleRequest
  ) async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    let log = NameLog()
    _ = try lifecycle.beginBackgroundTask(named: "upload") { log.names.append("expired") }
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    let clock = clock
    recorder.during[request == .terminate ? "preserve" : "revealSensitiveContent"] = {
      clock.advance(by: .seconds(181))
      for _ in 0..<200 { await Task.yield() }
    }
    if request == .terminate { try await lifecycle.terminate() } else { try await lifecycle.enterForeground() }
    await settle()
    #expect(log.names.isEmpty && recorder.incidents.isEmpty)
    #expect(lifecycle.state == (request == .terminate ? .notRunning : .active))
    #expect(lifecycle.endReason == (request == .terminate ? .requested : nil))
  }

  @Test func `a handler that ends another one's task spares it its own`() async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    let log = NameLog()
    let (first, second) = (TaskBox(), TaskBox())
    first.task = try lifecycle.beginBackgroundTask(named: "first") {
      log.names.append("first")
      for box in [first, second] { if let task = box.task { try? lifecycle.endBackgroundTask(task) } }
    }
    second.task = try lifecycle.beginBackgroundTask(named: "second") { log.names.append("second") }
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180))
    for _ in 0..<100_000 where lifecycle.state != .suspended { await Task.yield() }
    #expect(log.names == ["first"] && recorder.incidents.isEmpty && lifecycle.state == .suspended)
  }

  @Test func `no task begins when the time is over, and its work is not begun either`() async throws {
    let (lifecycle, _) = make(.reports)
    try await lifecycle.launch()
    let log = NameLog()
    let box = TaskBox()
    box.task = try lifecycle.beginBackgroundTask(named: "first") {
      do throws(Lifecycle.RequestError) {
        _ = try lifecycle.beginBackgroundTask(named: "one more") {}
      } catch {
        log.names.append("\(error.code)")
      }
      if let task = box.task { try? lifecycle.endBackgroundTask(task) }
    }
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(180))
    for _ in 0..<100_000 where lifecycle.state != .suspended { await Task.yield() }
    #expect(log.names == ["backgroundTimeOver"])
    await #expect(throws: Lifecycle.RequestError.self) {
      try await lifecycle.withBackgroundTask(named: "late") { log.names.append("late work") }
    }
    await settle()
    #expect(log.names == ["backgroundTimeOver"], "work without time is not begun")
  }

  @Test func `a new stay in the background has time of its own`() async throws {
    let (lifecycle, recorder) = make()
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(170))
    try await lifecycle.enterForeground()
    try await lifecycle.enterBackground()
    #expect(lifecycle.backgroundTimeRemaining == .seconds(180))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(20))
    await settle()
    #expect(lifecycle.state == .background && recorder.incidents.isEmpty)
    try lifecycle.endBackgroundTask(task)
    for _ in 0..<100_000 where lifecycle.state != .suspended { await Task.yield() }
    #expect(lifecycle.state == .suspended)
  }

  @Test func `footprints without bounds are purged without overflow`() {
    let candidates = (0..<3).map {
      PurgeOrder.Candidate(name: "\($0)", state: .suspended, footprint: $0 == 2 ? .min : .max - $0, suspendedAt: 0)
    }
    #expect(PurgeOrder.purging(candidates, toFree: .max).map(\.name) == ["0"] + [])
    #expect(PurgeOrder.purging(Array(candidates.dropFirst()), toFree: .max).map(\.name) == ["1", "2"])
  }
}
