import ApplicationLifecycle
import Foundation
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct LifecycleBudgetTests {
  /// The callback or step in which each phase spends its time, and how the phase is reached.
  nonisolated static let phases: [(Lifecycle.Budgets.Kind, String)] = [
    (.launching, "willFinishLaunching"), (.launching, "didFinishLaunching"),
    (.enteringBackground, "didEnterBackground"), (.enteringBackground, "hideWindow"),
    (.terminating, "willTerminate"), (.resigningActive, "willResignActive"),
  ]

  static func reach(_ kind: Lifecycle.Budgets.Kind, _ lifecycle: Lifecycle) async throws(Lifecycle.RequestError) {
    switch kind {
    case .launching: try await lifecycle.launch()
    case .enteringBackground: try await lifecycle.enterBackground()
    case .terminating: try await lifecycle.terminate()
    case .resigningActive: try await lifecycle.resignActive()
    }
  }

  @Test func `budgets longer than any clock counts stop no program`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let never = Duration.seconds(Int64.max)
      let lifecycle = Lifecycle(
        budgets: Lifecycle.Budgets(
          launching: never, resigningActive: never, enteringBackground: never, terminating: never,
          backgroundTasks: never),
        clock: ContinuousClock())
      try await lifecycle.launch()
      let task = try lifecycle.beginBackgroundTask(named: "upload") {}
      try await lifecycle.enterBackground()
      // The watch over the task has begun to sleep by then.
      for _ in 0..<100 { await Task.yield() }
      try lifecycle.endBackgroundTask(task)
      try await lifecycle.terminate()
    }
  }

  @Test(arguments: phases)
  func `work that ends exactly with its budget is in time`(kind: Lifecycle.Budgets.Kind, callback: String) async throws
  {
    let (lifecycle, recorder, clock, log) = make(.kills)
    if kind != .launching { try await lifecycle.launch() }
    recorder.duringCallback[callback] = { clock.advance(by: .seconds(5)) }
    try await Self.reach(kind, lifecycle)
    #expect(recorder.incidents.isEmpty && log.withLock { $0.isEmpty })
  }

  @Test(arguments: phases)
  func `a millisecond more is reported once, and the work goes on`(
    kind: Lifecycle.Budgets.Kind, callback: String
  ) async throws {
    let (lifecycle, recorder, clock, log) = make(.reports)
    if kind != .launching { try await lifecycle.launch() }
    recorder.duringCallback[callback] = { clock.advance(by: .milliseconds(5_001)) }
    try await Self.reach(kind, lifecycle)
    let expected: [Lifecycle.Incident] = [.overrun(kind, budget: .seconds(5))]
    #expect(recorder.incidents == expected)
    #expect(log.withLock { $0 } == expected)
    #expect(
      lifecycle.state
        == (kind == .launching
          ? .active : kind == .resigningActive ? .inactive : kind == .terminating ? .notRunning : .suspended))
  }

  @Test(arguments: phases)
  func `in the testing product it is a watchdog kill`(kind: Lifecycle.Budgets.Kind, callback: String) async throws {
    let (lifecycle, recorder, clock, _) = make(.kills)
    if kind != .launching { try await lifecycle.launch() }
    recorder.duringCallback[callback] = { clock.advance(by: .milliseconds(5_001)) }
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await Self.reach(kind, lifecycle) }
    #expect(error?.code == .watchdog)
    #expect(lifecycle.state == .notRunning && lifecycle.endReason == .watchdog)
    #expect(recorder.names.last == callback, "nothing is called after the kill")
    #expect(recorder.incidents == [.overrun(kind, budget: .seconds(5))])
  }

  @Test func `time adds up over the steps of a phase`() async throws {
    let (lifecycle, recorder, clock, _) = make(.reports)
    recorder.duringCallback["willFinishLaunching"] = { clock.advance(by: .seconds(3)) }
    recorder.duringCallback["didFinishLaunching"] = { clock.advance(by: .seconds(3)) }
    try await lifecycle.launch()
    #expect(recorder.incidents == [.overrun(.launching, budget: .seconds(5))])
  }

  @Test func `restoring that hangs is noticed without its end, and killed`() async throws {
    let (lifecycle, recorder, clock, log) = make(.kills)
    let hanging = ManualClock()
    recorder.during["restore"] = { try? await hanging.sleep(for: .seconds(1)) }
    let launch = Task { try await lifecycle.launch() }
    await clock.waitForSleepers(1)
    await hanging.waitForSleepers(1)
    clock.advance(by: .seconds(6))
    let result = await launch.result
    #expect(throws: Lifecycle.RequestError.self) { try result.get() }
    #expect(lifecycle.endReason == .watchdog)
    #expect(log.withLock { $0.count } == 1)
    #expect(!recorder.names.contains("didFinishLaunching"))
  }

  @Test func `an overrun is in the log while the main actor is stuck, and told when it is free`() async throws {
    let clock = ManualClock()
    let logged = DispatchSemaphore(value: 0)
    let lifecycle = Lifecycle(clock: clock, log: LifecycleLog { _ in logged.signal() })
    let recorder = Recorder(lifecycle)
    recorder.duringCallback["didFinishLaunching"] = {
      clock.advance(by: .seconds(6))
      #expect(logged.wait(timeout: .now() + .seconds(30)) == .success, "nothing was logged meanwhile")
      #expect(recorder.incidents.isEmpty)
    }
    try await lifecycle.launch()
    #expect(recorder.incidents == [.overrun(.launching, budget: .seconds(5))])
  }

  @Test func `each phase has its own budget`() async throws {
    let clock = ManualClock()
    let budgets = Lifecycle.Budgets(
      launching: .seconds(1), enteringBackground: .seconds(2), terminating: .seconds(3))
    let lifecycle = Lifecycle(budgets: budgets, clock: clock)
    let recorder = Recorder(lifecycle)
    recorder.duringCallback["willFinishLaunching"] = { clock.advance(by: .milliseconds(1_500)) }
    recorder.duringCallback["didEnterBackground"] = { clock.advance(by: .milliseconds(1_500)) }
    recorder.duringCallback["willTerminate"] = { clock.advance(by: .milliseconds(3_500)) }
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    try await lifecycle.enterForeground()
    try await lifecycle.terminate()
    #expect(
      recorder.incidents == [
        .overrun(.launching, budget: .seconds(1)), .overrun(.terminating, budget: .seconds(3)),
      ])
  }

  @Test func `time outside the phases has no budget`() async throws {
    let (lifecycle, recorder, clock, _) = make(.kills)
    try await lifecycle.launch()
    clock.advance(by: .seconds(3_600))
    recorder.duringCallback["didBecomeActive"] = { clock.advance(by: .seconds(60)) }
    try await lifecycle.enterBackground()
    clock.advance(by: .seconds(3_600))
    try await lifecycle.enterForeground()
    #expect(recorder.incidents.isEmpty && lifecycle.state == .active)
  }

  private func make(
    _ enforcement: Lifecycle.Budgets.Enforcement
  ) -> (Lifecycle, Recorder, ManualClock, IncidentLog) {
    let clock = ManualClock()
    let log = IncidentLog()
    let lifecycle = Lifecycle(
      budgets: Lifecycle.Budgets(enforcement: enforcement), clock: clock,
      log: LifecycleLog { incident in log.withLock { $0.append(incident) } })
    return (lifecycle, Recorder(lifecycle), clock, log)
  }
}

/// Incidents written from any thread.
final class IncidentLog: Sendable {
  private let incidents = Mutex<[Lifecycle.Incident]>([])

  func withLock<Result: Sendable>(_ body: (inout sending [Lifecycle.Incident]) -> sending Result) -> Result {
    incidents.withLock { body(&$0) }
  }
}
