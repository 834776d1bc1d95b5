import ApplicationLifecycle
import Foundation
import SimulatedTime
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct LifecycleTests {
  let lifecycle = Lifecycle(clock: ManualClock())
  let recorder: Recorder

  init() { recorder = Recorder(lifecycle) }

  @Test func `launching calls back around restoring and ends active`() async throws {
    try await lifecycle.launch()
    #expect(
      recorder.calls == [
        "willFinishLaunching [inactive]", "showSnapshot [inactive]", "restore [inactive]",
        "removeSnapshot [inactive]", "didFinishLaunching [inactive]", "showWindow [inactive]",
        "openHandles [inactive]", "didBecomeActive [active]",
      ])
    #expect(lifecycle.state == .active && lifecycle.isAcceptingInput)
  }

  @Test func `leaving preserves and takes the snapshot after didEnterBackground, then suspends`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    try await lifecycle.enterBackground()
    #expect(
      recorder.calls == [
        "willResignActive [active]", "closeHandles [inactive]", "didEnterBackground [background]",
        "preserve [background]", "hideSensitiveContent [background]", "takeSnapshot [background]",
        "hideWindow [background]",
      ])
    #expect(lifecycle.state == .suspended && !lifecycle.isAcceptingInput)
  }

  @Test func `returning calls willEnterForeground, then didBecomeActive`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    try await lifecycle.enterForeground()
    #expect(
      recorder.calls == [
        "willEnterForeground [background]", "revealSensitiveContent [background]", "showWindow [background]",
        "openHandles [inactive]", "didBecomeActive [active]",
      ])
    #expect(lifecycle.state == .active)
  }

  @Test func `sleep locks after didEnterBackground, which still sees inactive`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    try await lifecycle.sleep()
    #expect(
      recorder.calls == [
        "willResignActive [active]", "closeHandles [inactive]", "didEnterBackground [inactive]",
        "preserve [inactive]", "hideSensitiveContent [inactive]", "takeSnapshot [inactive]",
        "hideWindow [inactive]", "lockDevice [inactive]",
      ])
    #expect(lifecycle.state == .suspended)
  }

  @Test func `a device that sleeps while the program is suspended locks all the same`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    try await lifecycle.sleep()
    #expect(recorder.calls == ["lockDevice [suspended]"])
  }

  @Test func `an interruption makes the program inactive and active again`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    try await lifecycle.resignActive()
    #expect(lifecycle.state == .inactive)
    try await lifecycle.becomeActive()
    #expect(recorder.names == ["willResignActive", "closeHandles", "openHandles", "didBecomeActive"])
  }

  @Test func `a running program is told of its end and preserves`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    try await lifecycle.terminate()
    #expect(
      recorder.names == [
        "willResignActive", "closeHandles", "willTerminate", "preserve", "hideSensitiveContent", "takeSnapshot",
      ])
    #expect(lifecycle.state == .notRunning && lifecycle.endReason == .requested)
  }

  @Test func `a suspended program is not told of its end`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    try await lifecycle.terminate()
    #expect(recorder.calls.isEmpty && lifecycle.state == .notRunning)
  }

  @Test(arguments: TerminationReason.allCases.filter { $0 != .requested })
  func `an unannounced end calls nobody`(reason: TerminationReason) async throws {
    try await lifecycle.launch()
    recorder.calls = []
    try lifecycle.kill(reason)
    #expect(recorder.calls.isEmpty)
    #expect(lifecycle.state == .notRunning && lifecycle.endReason == reason)
    #expect(throws: Lifecycle.RequestError.self) { try lifecycle.kill(reason) }
  }

  @Test func `exitsOnSuspend makes leaving the foreground the end`() async throws {
    for sleeps in [false, true] {
      let lifecycle = Lifecycle(exitsOnSuspend: true, clock: ManualClock())
      let recorder = Recorder(lifecycle)
      try await lifecycle.launch()
      recorder.calls = []
      if sleeps { try await lifecycle.sleep() } else { try await lifecycle.enterBackground() }
      #expect(
        recorder.names == [
          "willResignActive", "closeHandles", "willTerminate", "preserve", "hideSensitiveContent", "takeSnapshot",
        ]
          + (sleeps ? ["lockDevice"] : []))
      #expect(lifecycle.state == .notRunning)
    }
  }

  @Test
  func `a background launch restores, shows nothing, handles its event, preserves and is suspended`() async throws {
    try await lifecycle.launch(.backgroundEvent("fetch"))
    #expect(
      recorder.calls == [
        "willFinishLaunching [background]", "restore [background]", "didFinishLaunching [background]",
        "event:fetch [background]", "preserve [background]", "hideSensitiveContent [background]",
        "takeSnapshot [background]",
      ])
    #expect(lifecycle.state == .suspended)
    recorder.calls = []
    try await lifecycle.enterForeground()
    #expect(recorder.names.contains("showWindow") && !recorder.names.contains("restore"))
  }

  @Test func `a wake for an event runs in the background and is suspended again`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    try await lifecycle.wake(for: "timer")
    #expect(recorder.names == ["event:timer", "preserve", "hideSensitiveContent", "takeSnapshot"])
    #expect(lifecycle.state == .suspended)
  }

  @Test func `a program that a background task has kept running preserves before it is suspended`() async throws {
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    recorder.calls = []
    try lifecycle.endBackgroundTask(task)
    for _ in 0..<1_000 where lifecycle.state != .suspended { await Task.yield() }
    #expect(recorder.names == ["preserve", "hideSensitiveContent", "takeSnapshot"])
  }

  @Test func `a program that nothing keeps running preserves once on its way to suspended`() async throws {
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    try await lifecycle.enterForeground()
    try lifecycle.endBackgroundTask(task)
    recorder.calls = []
    try await lifecycle.enterBackground()
    #expect(lifecycle.state == .suspended)
    #expect(recorder.names.count { $0 == "preserve" } == 1)
  }

  @Test func `a URL is opened after restoring and before the program is active`() async throws {
    recorder.opens = false
    try await lifecycle.launch(.opening(try #require(URL(string: "note:7"))))
    let names = recorder.names
    let open = try #require(names.firstIndex(of: "open"))
    #expect(try #require(names.firstIndex(of: "restore")) < open)
    #expect(open < (try #require(names.firstIndex(of: "didBecomeActive"))))
    #expect(lifecycle.launchOptions?.url?.absoluteString == "note:7")
  }

  @Test(arguments: [
    Lifecycle.LaunchOptions.icon, .backgroundEvent("fetch"), .opening(URL(filePath: "/note")),
    Lifecycle.LaunchOptions(values: ["from": "test"]),
  ])
  func `both launch callbacks see why the program is launched`(options: Lifecycle.LaunchOptions) async throws {
    try await lifecycle.launch(options)
    #expect(recorder.options == [options, options] && lifecycle.launchOptions == options)
    #expect(recorder.opened == [options.url].compactMap { $0 })
  }

  @Test func `the delegate can decline the URL, the restoring, or both`() async throws {
    let url = try #require(URL(string: "note:7"))
    for response: Lifecycle.LaunchResponse in [
      [], .declinesURL, .declinesRestoring, [.declinesURL, .declinesRestoring],
    ] {
      let lifecycle = Lifecycle(clock: ManualClock())
      let recorder = Recorder(lifecycle)
      recorder.response = response
      try await lifecycle.launch(.opening(url))
      #expect(recorder.names.contains("open") == !response.contains(.declinesURL))
      for step in ["showSnapshot", "restore", "removeSnapshot"] {
        #expect(recorder.names.contains(step) == !response.contains(.declinesRestoring))
      }
    }
  }

  @Test func `didFinishLaunching can still decline the URL, and only that`() async throws {
    let url = try #require(URL(string: "note:7"))
    for response: Lifecycle.LaunchResponse in [[], .declinesURL, .declinesRestoring] {
      let lifecycle = Lifecycle(clock: ManualClock())
      let recorder = Recorder(lifecycle)
      recorder.lateResponse = response
      try await lifecycle.launch(.opening(url))
      #expect(recorder.opened == (response == .declinesURL ? [] : [url]))
      #expect(!lifecycle.launchResponse.contains(.declinesRestoring), "restoring is over")
    }
  }

  @Test(arguments: [Lifecycle.State.inactive, .active, .background, .suspended], [false, true])
  func `a URL reaches a program that runs`(state: Lifecycle.State, opens: Bool) async throws {
    let url = try #require(URL(string: "note:8"))
    recorder.opens = opens
    try await lifecycle.launch()
    if state == .inactive { try await lifecycle.resignActive() }
    if state == .background { _ = try lifecycle.beginBackgroundTask(named: "upload") {} }
    if state == .background || state == .suspended { try await lifecycle.enterBackground() }
    try #require(lifecycle.state == state)
    recorder.calls = []
    #expect(try await lifecycle.open(url) == opens)
    #expect(recorder.opened == [url])
    switch state {
    case .inactive, .active: #expect(recorder.names == ["open"] && lifecycle.state == state)
    default:
      #expect(
        recorder.names == [
          "willEnterForeground", "revealSensitiveContent", "showWindow", "open", "openHandles", "didBecomeActive",
        ])
    }
  }

  @Test func `a program that does not run is launched with its URL, and opens none otherwise`() async throws {
    let url = try #require(URL(string: "note:9"))
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await lifecycle.open(url) }
    #expect(error?.code == .illegalTransition && recorder.opened.isEmpty)
    try await lifecycle.launch()
    #expect(recorder.opened.isEmpty)
  }

  @Test func `requests are served one after another`() async throws {
    try await lifecycle.launch()
    let lifecycle = lifecycle
    let second = Signal()
    recorder.calls = []
    recorder.during["preserve"] = {
      second.task = Task { try? await lifecycle.enterForeground() }
      await Task.yield()
      #expect(lifecycle.state == .background, "the second request waits for its turn")
    }
    try await lifecycle.enterBackground()
    await second.task?.value
    let names = recorder.names
    #expect(
      try #require(names.firstIndex(of: "takeSnapshot")) < (try #require(names.firstIndex(of: "willEnterForeground"))))
    #expect(lifecycle.state == .active)
  }

  @Test func `a kill leaves work behind and ends what is under way`() async throws {
    try await lifecycle.launch()
    let lifecycle = lifecycle
    recorder.during["preserve"] = {
      try? lifecycle.kill(.killed)
      try? await ManualClock().sleep(for: .seconds(1_000))
    }
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await lifecycle.enterBackground() }
    #expect(error?.code == .killed)
    #expect(!recorder.names.contains("takeSnapshot") && lifecycle.state == .notRunning)
  }

  @Test func `an illegal request names both states and calls nobody`() async throws {
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await lifecycle.enterBackground() }
    #expect(error?.from == .notRunning && error?.to == .background)
    #expect(recorder.calls.isEmpty)
  }

  @Test func `observers see every step with the state it runs in, until they are let go`() async throws {
    let log = EventLog()
    var observation: Lifecycle.Observation? = lifecycle.observe { log.events.append($0) }
    try await lifecycle.launch()
    let expected = try LifecycleMachine().route(for: .launch)
    let steps = log.events.compactMap { event in if case .step(let step, _) = event { step } else { nil } }
    let table = expected.flatMap { LifecycleMachine().steps(of: $0) ?? [] }
    #expect(steps == table.filter { $0 != .openURL })
    observation?.cancel()
    observation = nil
    log.events = []
    try await lifecycle.resignActive()
    #expect(log.events.isEmpty)
  }
}

@MainActor final class EventLog {
  var events: [LifecycleEvent] = []
}

@MainActor final class Signal {
  var task: Task<Void, Never>?
}
