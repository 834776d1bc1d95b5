import ApplicationLifecycle
import Foundation
import SimulatedTime
import TestTraits
import Testing

/// Objects beside the delegate hear what the delegate hears.
@MainActor @Suite(.tags(.threads)) struct ObserverTests {
  let clock = ManualClock()
  let lifecycle: Lifecycle
  let recorder: Recorder

  init() {
    lifecycle = Lifecycle(budgets: Lifecycle.Budgets(enforcement: .kills), clock: clock)
    recorder = Recorder(lifecycle)
  }

  /// Writes down what an observer hears, among what the delegate hears.
  private func observe(as name: String) -> Lifecycle.Observation {
    lifecycle.observeCallbacks { [recorder] callback in
      // Whoever waits here is waited for.
      await Task.yield()
      recorder.calls.append("\(name):\(callback)".replacingOccurrences(of: " ", with: ""))
    }
  }

  @Test func `any object hears every callback, after the delegate and before the next step`() async throws {
    let observation = observe(as: "o")
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    try await lifecycle.enterForeground()
    try await lifecycle.terminate()
    let names = recorder.names.map { $0.contains("Lifecycle.LaunchOptions") ? String($0.prefix { $0 != "(" }) : $0 }
    #expect(
      names == [
        "willFinishLaunching", "o:willFinishLaunching", "showSnapshot", "restore", "removeSnapshot",
        "didFinishLaunching", "o:didFinishLaunching", "showWindow", "openHandles", "didBecomeActive",
        "o:didBecomeActive", "willResignActive", "o:willResignActive", "closeHandles", "didEnterBackground",
        "o:didEnterBackground", "preserve", "hideSensitiveContent", "takeSnapshot", "hideWindow",
        "willEnterForeground", "o:willEnterForeground", "revealSensitiveContent", "showWindow", "openHandles",
        "didBecomeActive", "o:didBecomeActive", "willResignActive", "o:willResignActive", "closeHandles",
        "willTerminate", "o:willTerminate", "preserve", "hideSensitiveContent", "takeSnapshot",
      ])
    withExtendedLifetime(observation) {}
  }

  @Test func `queued notifications reach every object on wake, before the way to the foreground`() async throws {
    let observations = [observe(as: "1"), observe(as: "2")]
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    lifecycle.post(Lifecycle.Notification(.locale, .change(from: "en", to: "de")))
    lifecycle.post(Lifecycle.Notification(.settings))
    lifecycle.post(.protectedData(isAvailable: false))
    #expect(recorder.calls.isEmpty)
    try await lifecycle.enterForeground()
    #expect(
      recorder.names.prefix(13) == [
        "locale:en→de", "1:didReceive(locale:en→de)", "2:didReceive(locale:en→de)", "settings",
        "1:didReceive(settings)", "2:didReceive(settings)", "protectedDataWillBecomeUnavailable",
        "1:protectedDataWillBecomeUnavailable", "2:protectedDataWillBecomeUnavailable",
        "protectedData:available→unavailable", "1:didReceive(protectedData:available→unavailable)",
        "2:didReceive(protectedData:available→unavailable)", "willEnterForeground",
      ])
    withExtendedLifetime(observations) {}
  }

  @Test func `a running program's objects hear notifications and memory warnings at once`() async throws {
    let log = CallbackLog()
    let observation = lifecycle.observeCallbacks { log.callbacks.append($0) }
    try await lifecycle.launch()
    log.callbacks = []
    lifecycle.post(Lifecycle.Notification(.settings))
    lifecycle.post(.protectedData(isAvailable: true))
    lifecycle.receiveMemoryWarning()
    #expect(
      log.callbacks == [
        .didReceive(Lifecycle.Notification(.settings)), .protectedDataDidBecomeAvailable,
        .didReceive(.protectedData(isAvailable: true)), .didReceiveMemoryWarning,
      ])
    withExtendedLifetime(observation) {}
  }

  @Test func `an observation that is let go hears nothing more, not even of the callback under way`() async throws {
    let log = CallbackLog()
    let second = Holder()
    let first = lifecycle.observeCallbacks { callback in
      log.callbacks.append(callback)
      if callback == .willResignActive { second.observation = nil }
    }
    second.observation = lifecycle.observeCallbacks { log.callbacks.append($0) }
    try await lifecycle.launch()
    log.callbacks = []
    try await lifecycle.resignActive()
    #expect(log.callbacks == [.willResignActive])
    first.cancel()
    try await lifecycle.becomeActive()
    #expect(log.callbacks == [.willResignActive])
  }

  @Test func `an observer that takes longer than the budget is a watchdog's business`() async throws {
    let clock = clock
    let observation = lifecycle.observeCallbacks { callback in
      guard callback == .didEnterBackground else { return }
      clock.advance(by: .milliseconds(5_001))
      // For ever: only a kill ends it.
      try? await ManualClock().sleep(for: .seconds(1))
    }
    try await lifecycle.launch()
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await lifecycle.enterBackground() }
    #expect(error?.code == .watchdog && lifecycle.endReason == .watchdog)
    withExtendedLifetime(observation) {}
  }

  @Test func `a request that an observer waits for is refused, and the callback goes on`() async throws {
    var code: Lifecycle.RequestError.Code?
    let lifecycle = lifecycle
    let observation = lifecycle.observeCallbacks { callback in
      guard callback == .didBecomeActive else { return }
      do throws(Lifecycle.RequestError) { try await lifecycle.resignActive() } catch { code = error.code }
    }
    try await lifecycle.launch()
    #expect(code == .waitsForItself && lifecycle.state == .active)
    withExtendedLifetime(observation) {}
  }

  @Test func `what the delegate does while it resigns active is awaited, within a budget of its own`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    recorder.during["willResignActive"] = { [recorder] in
      for _ in 0..<10 { await Task.yield() }
      recorder.calls.append("saved")
    }
    try await lifecycle.resignActive()
    #expect(recorder.names == ["willResignActive", "saved", "closeHandles"])
    try await lifecycle.becomeActive()
    recorder.during["willResignActive"] = { [clock] in
      clock.advance(by: .milliseconds(5_001))
      try? await ManualClock().sleep(for: .seconds(1))
    }
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await lifecycle.resignActive() }
    #expect(error?.code == .watchdog)
    #expect(recorder.incidents == [.overrun(.resigningActive, budget: .seconds(5))])
  }
}

@MainActor private final class CallbackLog {
  var callbacks: [Lifecycle.Callback] = []
}

@MainActor private final class Holder {
  var observation: Lifecycle.Observation?
}
