import ApplicationLifecycle
import SimulatedTime
import TestTraits
import Testing

/// What a program does in the middle of a transition, deliberately or by mistake.
@MainActor @Suite(.tags(.threads)) struct ReentrancyTests {
  let clock = ManualClock()
  let lifecycle: Lifecycle
  let recorder: Recorder

  init() {
    lifecycle = Lifecycle(budgets: Lifecycle.Budgets(enforcement: .kills), clock: clock)
    recorder = Recorder(lifecycle)
  }

  /// A request that is killed by an observer, at every step of its own.
  nonisolated static let requests: [(LifecycleRequest, Lifecycle.State)] = [
    (.enterBackground, .active), (.sleep, .active), (.terminate, .active), (.enterForeground, .suspended),
    (.resignActive, .active), (.wake, .suspended),
  ]

  private static func make(_ request: LifecycleRequest, _ lifecycle: Lifecycle) async throws(Lifecycle.RequestError) {
    switch request {
    case .enterBackground: try await lifecycle.enterBackground()
    case .sleep: try await lifecycle.sleep()
    case .terminate: try await lifecycle.terminate()
    case .enterForeground: try await lifecycle.enterForeground()
    case .resignActive: try await lifecycle.resignActive()
    case .wake: try await lifecycle.wake(for: "event")
    default: try await lifecycle.launch()
    }
  }

  @Test(arguments: requests)
  func `a kill from an observer at any step ends the program for good`(
    request: LifecycleRequest, start: Lifecycle.State
  ) async throws {
    var count = 0
    for number in 0... {
      let lifecycle = Lifecycle(clock: clock)
      let recorder = Recorder(lifecycle)
      try await lifecycle.launch()
      if start == .suspended { try await lifecycle.enterBackground() }
      recorder.calls = []
      var step = 0
      var wasKilled = false
      let observation = lifecycle.observe { [weak lifecycle] event in
        guard case .step = event, !wasKilled else { return }
        defer { step += 1 }
        guard step == number else { return }
        wasKilled = true
        try? lifecycle?.kill(.crash)
      }
      do {
        try await Self.make(request, lifecycle)
        // No step is left at which it could have been killed.
        #expect(!wasKilled || lifecycle.state == .notRunning)
      } catch {
        #expect(wasKilled && (error.code == .killed || error.code == .illegalTransition), "\(error)")
      }
      observation.cancel()
      if !wasKilled { break }
      count += 1
      #expect(lifecycle.state == .notRunning && lifecycle.endReason == .crash, "killed at step \(number)")
      let calls = recorder.calls.count
      #expect(throws: Lifecycle.RequestError.self) { try lifecycle.kill(.killed) }
      #expect(recorder.calls.count == calls && !lifecycle.isAcceptingInput)
    }
    #expect(count > 1)
  }

  @Test func `a kill from an observer of a kill ends the program once, for the first reason`() async throws {
    try await lifecycle.launch()
    let log = EventLog()
    let lifecycle = lifecycle
    let first = lifecycle.observe { event in if case .step(.stopInput, _) = event { try? lifecycle.kill(.crash) } }
    let second = lifecycle.observe { log.events.append($0) }
    try? lifecycle.kill(.killed)
    #expect(lifecycle.endReason == .killed && lifecycle.state == .notRunning)
    #expect(log.events.count { if case .ended = $0 { true } else { false } } == 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a request that its own work waits for is refused, and the work goes on`() async throws {
    let lifecycle = lifecycle
    var found: Lifecycle.RequestError?
    recorder.during["restore"] = {
      do throws(Lifecycle.RequestError) { try await lifecycle.enterBackground() } catch { found = error }
    }
    try await lifecycle.launch()
    #expect(found?.code == .waitsForItself && found?.from == .inactive && found?.to == .background)
    #expect(found?.message.contains("enterBackground") == true)
    #expect(lifecycle.state == .active)
  }

  @Test func `a request from a task of the work's own is served in its turn`() async throws {
    let lifecycle = lifecycle
    let signal = Signal()
    recorder.during["restore"] = { signal.task = Task { try? await lifecycle.enterBackground() } }
    try await lifecycle.launch()
    await signal.task?.value
    #expect(lifecycle.state == .suspended)
  }

  @Test(arguments: [
    "willFinishLaunching", "didFinishLaunching", "didBecomeActive", "willResignActive", "didEnterBackground",
    "hideWindow",
  ])
  func `illegal requests from callbacks are refused and change nothing`(callback: String) async throws {
    let lifecycle = lifecycle
    let errors = ErrorLog()
    recorder.duringCallback[callback] = {
      errors.tasks.append(
        Task {
          do throws(Lifecycle.RequestError) { try await lifecycle.launch() } catch { errors.codes.append(error.code) }
        })
    }
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    for task in errors.tasks { await task.value }
    #expect(errors.codes == [.illegalTransition] && lifecycle.state == .suspended)
  }

  @Test func `input that arrives while kept input is handled waits for what came before it`() async throws {
    try await lifecycle.launch()
    try await lifecycle.resignActive()
    recorder.calls = []
    let (lifecycle, recorder) = (lifecycle, recorder)
    lifecycle.receiveInput {
      recorder.calls.append("a")
      lifecycle.receiveInput { recorder.calls.append("c") }
    }
    lifecycle.receiveInput { recorder.calls.append("b") }
    try await lifecycle.becomeActive()
    #expect(recorder.names.suffix(3) == ["a", "b", "c"])
  }

  @Test func `kept input after a kill in the middle of it is not handled`() async throws {
    try await lifecycle.launch()
    try await lifecycle.resignActive()
    recorder.calls = []
    let (lifecycle, recorder) = (lifecycle, recorder)
    lifecycle.receiveInput { try? lifecycle.kill() }
    lifecycle.receiveInput { recorder.calls.append("never") }
    _ = try? await lifecycle.becomeActive()
    #expect(!recorder.names.contains("never") && lifecycle.state == .notRunning)
  }

  @Test func `queued notifications and warnings stop at a kill`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    let (lifecycle, recorder) = (lifecycle, recorder)
    lifecycle.post(Lifecycle.Notification("first"))
    lifecycle.post(Lifecycle.Notification("second"))
    recorder.calls = []
    recorder.duringCallback["first"] = { try? lifecycle.kill() }
    _ = try? await lifecycle.enterForeground()
    #expect(recorder.names == ["first"])
    try await lifecycle.launch()
    recorder.calls = []
    recorder.duringCallback["memoryWarning"] = { try? lifecycle.kill() }
    let log = EventLog()
    let observation = lifecycle.observe { if $0 == .memoryWarning { log.events.append($0) } }
    lifecycle.receiveMemoryWarning()
    #expect(recorder.names == ["memoryWarning"] && log.events.isEmpty)
    observation.cancel()
  }

  @Test func `a program that ended can be launched again, and is as new`() async throws {
    try await lifecycle.launch()
    _ = try lifecycle.beginBackgroundTask(named: "old") {}
    lifecycle.post(Lifecycle.Notification(.settings))
    try lifecycle.kill(.crash)
    recorder.calls = []
    try await lifecycle.launch()
    #expect(lifecycle.endReason == nil && lifecycle.openBackgroundTasks.isEmpty && lifecycle.state == .active)
    #expect(recorder.names.first == "willFinishLaunching")
    // What was queued and kept for the program that ended is not the new one's.
    try await lifecycle.enterBackground()
    lifecycle.post(Lifecycle.Notification(.settings))
    lifecycle.receiveInput { [recorder] in recorder.calls.append("old input") }
    try lifecycle.kill(.crash)
    recorder.calls = []
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    try await lifecycle.enterForeground()
    #expect(lifecycle.state == .active && !recorder.names.contains("settings") && !recorder.calls.contains("old input"))
  }
}

@MainActor private final class ErrorLog {
  var tasks: [Task<Void, Never>] = []
  var codes: [Lifecycle.RequestError.Code] = []
}
