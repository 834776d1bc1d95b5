import ApplicationLifecycle
import SimulatedTime
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct NotificationTests {
  let lifecycle = Lifecycle(clock: ManualClock())
  let recorder: Recorder

  init() { recorder = Recorder(lifecycle) }

  @Test func `a running program gets a notification at once`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    lifecycle.post(Lifecycle.Notification(.settings))
    lifecycle.post(.protectedData(isAvailable: false))
    lifecycle.post(.protectedData(isAvailable: true))
    #expect(
      recorder.names == [
        "settings", "protectedDataWillBecomeUnavailable", "protectedData:available→unavailable",
        "protectedDataDidBecomeAvailable", "protectedData:unavailable→available",
      ])
  }

  @Test func `a program at work in the background gets a notification at once`() async throws {
    try await lifecycle.launch()
    let task = try lifecycle.beginBackgroundTask(named: "upload") {}
    try await lifecycle.enterBackground()
    recorder.calls = []
    lifecycle.post(Lifecycle.Notification(.settings))
    #expect(recorder.calls == ["settings [background]"])
    try lifecycle.endBackgroundTask(task)
  }

  @Test func `what happens while suspended is delivered on wake, one per kind, before anything else`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    lifecycle.post(Lifecycle.Notification(.locale, .change(from: "en", to: "de")))
    lifecycle.post(Lifecycle.Notification(.significantTimeChange))
    lifecycle.post(Lifecycle.Notification(.locale, .change(from: "de", to: "fr")))
    lifecycle.post(Lifecycle.Notification(.significantTimeChange))
    lifecycle.post(.protectedData(isAvailable: false))
    #expect(recorder.calls.isEmpty, "a suspended program gets nothing")
    lifecycle.receiveInput { [recorder] in recorder.calls.append("input [active]") }
    try await lifecycle.enterForeground()
    #expect(
      recorder.names == [
        "locale:en→fr", "significantTimeChange", "protectedDataWillBecomeUnavailable",
        "protectedData:available→unavailable", "willEnterForeground", "revealSensitiveContent", "showWindow",
        "openHandles", "didBecomeActive", "input",
      ])
  }

  @Test func `observers get what the delegate gets, after it, at once or on wake`() async throws {
    let log = EventLog()
    let observation = lifecycle.observe { [recorder] event in
      guard case .notification = event else { return }
      #expect(recorder.names.last == "settings")
      log.events.append(event)
    }
    let settings = LifecycleEvent.notification(Lifecycle.Notification(.settings))
    try await lifecycle.launch()
    lifecycle.post(Lifecycle.Notification(.settings))
    #expect(log.events == [settings])
    try await lifecycle.enterBackground()
    lifecycle.post(Lifecycle.Notification(.settings))
    #expect(log.events == [settings])
    try await lifecycle.enterForeground()
    #expect(log.events == [settings, settings])
    observation.cancel()
  }

  @Test func `a lock and an unlock while suspended come to nothing`() async throws {
    try await lifecycle.launch()
    try await lifecycle.enterBackground()
    recorder.calls = []
    lifecycle.post(.protectedData(isAvailable: false))
    lifecycle.post(.protectedData(isAvailable: true))
    try await lifecycle.wake(for: "timer")
    #expect(recorder.names == ["event:timer", "preserve", "hideSensitiveContent", "takeSnapshot"])
  }

  @Test func `input is kept while the program is inactive and handled in order`() async throws {
    try await lifecycle.launch()
    recorder.calls = []
    lifecycle.receiveInput { [recorder] in recorder.calls.append("a") }
    try await lifecycle.resignActive()
    lifecycle.receiveInput { [recorder] in recorder.calls.append("b") }
    lifecycle.receiveInput { [recorder] in recorder.calls.append("c") }
    #expect(recorder.names == ["a", "willResignActive", "closeHandles"])
    try await lifecycle.becomeActive()
    #expect(recorder.names.suffix(2) == ["b", "c"])
  }

  @Test func `a program that does not run gets neither notifications nor input`() {
    lifecycle.post(Lifecycle.Notification(.settings))
    lifecycle.receiveInput { [recorder] in recorder.calls.append("input") }
    #expect(recorder.calls.isEmpty)
  }

  @Test func `the queue keeps the order of first arrival and forgets what came to nothing`() {
    var queue = NotificationQueue()
    queue.add(Lifecycle.Notification("b"))
    queue.add(Lifecycle.Notification("a", .change(from: "1", to: "2")))
    queue.add(Lifecycle.Notification("c", .change(from: "x", to: "y")))
    queue.add(Lifecycle.Notification("b"))
    queue.add(Lifecycle.Notification("a", .change(from: "2", to: "3")))
    queue.add(Lifecycle.Notification("c", .change(from: "y", to: "x")))
    #expect(queue.drain() == [Lifecycle.Notification("b"), Lifecycle.Notification("a", .change(from: "1", to: "3"))])
    #expect(queue.drain().isEmpty, "what is drained is gone")
  }
}
