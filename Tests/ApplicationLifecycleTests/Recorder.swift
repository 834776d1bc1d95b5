import ApplicationLifecycle
import Foundation

/// A program that writes down what it is told, and the state it saw meanwhile.
@MainActor final class Recorder: LifecycleDelegate, LifecycleWork {
  var calls: [String] = []
  var incidents: [Lifecycle.Incident] = []
  var response: Lifecycle.LaunchResponse = .proceed
  /// The answer of `didFinishLaunching`.
  var lateResponse: Lifecycle.LaunchResponse = .proceed
  var opens = true
  /// The reasons that the launch callbacks saw, and what was to be opened.
  var options: [Lifecycle.LaunchOptions] = []
  var opened: [URL] = []
  /// Runs inside the callback or step of that name.
  var during: [String: @MainActor () async -> Void] = [:]
  var duringCallback: [String: @MainActor () -> Void] = [:]
  var responders: [any Lifecycle.MemoryWarningResponder] = []
  weak var lifecycle: Lifecycle?

  init(_ lifecycle: Lifecycle) {
    self.lifecycle = lifecycle
    lifecycle.delegate = self
    lifecycle.work = self
  }

  private func note(_ name: String) {
    let state = lifecycle.map { "\($0.state)" } ?? "gone"
    calls.append("\(name) [\(state)]")
    duringCallback[name]?()
  }

  /// The names alone, without the states.
  var names: [String] { calls.map { String($0.prefix { $0 != " " }) } }

  var memoryWarningResponders: [any Lifecycle.MemoryWarningResponder] { responders }

  func perform(_ step: LifecycleStep) async {
    note(step.description)
    await during[step.description]?()
  }

  func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    note("willFinishLaunching")
    self.options.append(options)
    return response
  }
  func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    note("didFinishLaunching")
    self.options.append(options)
    return lateResponse
  }
  func didBecomeActive() { note("didBecomeActive") }
  func willResignActive() async {
    note("willResignActive")
    await during["willResignActive"]?()
  }
  func didEnterBackground() { note("didEnterBackground") }
  func willEnterForeground() { note("willEnterForeground") }
  func willTerminate() { note("willTerminate") }
  func showWindow() { note("showWindow") }
  func hideWindow() { note("hideWindow") }
  func open(_ url: URL) -> Bool {
    note("open")
    opened.append(url)
    return opens
  }
  func handleBackgroundEvent(_ name: String) { note("event:\(name)") }
  func didReceiveMemoryWarning() { note("memoryWarning") }
  func didReceive(_ notification: Lifecycle.Notification) {
    note(notification.description.replacingOccurrences(of: " ", with: ""))
  }
  func protectedDataWillBecomeUnavailable() { note("protectedDataWillBecomeUnavailable") }
  func protectedDataDidBecomeAvailable() { note("protectedDataDidBecomeAvailable") }
  func didBreakRules(_ incident: Lifecycle.Incident) { incidents.append(incident) }
}
