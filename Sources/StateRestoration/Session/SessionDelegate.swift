import FoundationShim

/// What a program of ``RestorationSession`` or ``RestoredWindows`` can do beside its hierarchy: everything has a default.
///
/// Consent with the coder in hand, state of the whole program, the callbacks of the life cycle, snapshots, and the end:
///
/// ```swift
/// final class Notes: RestorationSessionDelegate {
///   var sortsByDate = false
///
///   func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { coder.context.versionTag == "2" }
///   func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encode(sortsByDate, forKey: "sort") }
///   func didEnterBackground() { pauseSync() }
///   func sessionDidEnd(by signal: Lifecycle.Signal?) { giveTerminalBack() }
/// }
/// ```
///
/// The session answers yes to both questions unless the delegate says otherwise, and gives the hierarchies itself:
/// ``RestorableApplicationDelegate/rootController`` is not asked. With windows the state of the whole program is kept once beside
/// them. The delegate is held for as long as the program runs.
@MainActor public protocol RestorationSessionDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  /// The program ends, after its last save: give back what is the user's, such as the terminal.
  ///
  /// Called once: before the process ends by a signal, or before `run` returns or throws.
  ///
  /// - Parameter signal: The signal that ends the process; nil when the body has ended.
  func sessionDidEnd(by signal: Lifecycle.Signal?)
}

extension RestorationSessionDelegate {
  /// Yes.
  public func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  /// Yes.
  public func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  /// Not asked: the session knows its root.
  public var rootController: (any RestorableController)? { nil }

  /// Does nothing.
  public func sessionDidEnd(by signal: Lifecycle.Signal?) {}
}

/// What a session answers for its program: its hierarchies; the rest is the program's delegate's, where there is one.
@MainActor final class SessionDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  /// The top of the hierarchy of a program with one.
  weak var rootController: (any RestorableController)?
  /// The program's own.
  let program: (any RestorationSessionDelegate)?

  init(_ program: (any RestorationSessionDelegate)? = nil) { self.program = program }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func protectedDataDidBecomeAvailable() { program?.protectedDataDidBecomeAvailable() }
  func didFailToRestore(_ error: RestorationError) { program?.didFailToRestore(error) }

  private var hasEnded = false

  /// Tells the program of its end, once.
  func end(by signal: Lifecycle.Signal?) {
    if hasEnded { return }
    hasEnded = true
    program?.sessionDidEnd(by: signal)
  }

  // MARK: - Told to the program

  func willFinishLaunching(with options: Lifecycle.LaunchOptions) async -> Lifecycle.LaunchResponse {
    await program?.willFinishLaunching(with: options) ?? .proceed
  }
  func didFinishLaunching(with options: Lifecycle.LaunchOptions) async -> Lifecycle.LaunchResponse {
    await program?.didFinishLaunching(with: options) ?? .proceed
  }
  func didBecomeActive() async { await program?.didBecomeActive() }
  func willResignActive() async { await program?.willResignActive() }
  func didEnterBackground() async { await program?.didEnterBackground() }
  func willEnterForeground() async { await program?.willEnterForeground() }
  func willTerminate() async { await program?.willTerminate() }
  func showWindow() { program?.showWindow() }
  func hideWindow() { program?.hideWindow() }
  func open(_ url: URL) async -> Bool { await program?.open(url) ?? false }
  func handleBackgroundEvent(_ name: String) async { await program?.handleBackgroundEvent(name) }
  func didReceiveMemoryWarning() { program?.didReceiveMemoryWarning() }
  func didReceive(_ notification: Lifecycle.Notification) { program?.didReceive(notification) }
  func protectedDataWillBecomeUnavailable() { program?.protectedDataWillBecomeUnavailable() }
  func didBreakRules(_ incident: Lifecycle.Incident) { program?.didBreakRules(incident) }
  var topVisibleController: (any RestorableController)? { program?.topVisibleController }
  func makeSnapshot() -> Data? { program?.makeSnapshot() }
  func showSnapshot(_ snapshot: Data) { program?.showSnapshot(snapshot) }
  func removeSnapshot() { program?.removeSnapshot() }
  func didRestore(_ report: RestorationReport) { program?.didRestore(report) }
  func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) { program?.didPreserve(result) }
  func didFailToReopen(_ handle: ProtectedFiles.Handle, error: ProtectionError) {
    program?.didFailToReopen(handle, error: error)
  }
}

/// What a program's delegate answers for one of its windows: everything but the state of the whole program, which is kept
/// once beside them.
@MainActor final class WindowDelegate: RestorationCoordinatorDelegate {
  private let program: any RestorationSessionDelegate
  /// Called when a window is saved.
  var onSave: () -> Void = {}

  init(_ program: any RestorationSessionDelegate) { self.program = program }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool {
    guard program.shouldSaveApplicationState(with: coder) else { return false }
    onSave()
    return true
  }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
    program.shouldRestoreApplicationState(with: coder)
  }

  func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
    program.makeController(at: path, coder: coder)
  }

  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision {
    program.coordinator(coordinator, decideAfter: history)
  }

  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool {
    program.coordinator(coordinator, shouldRetryNodeAt: path)
  }

  func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> RestorationCoordinator.LateRestoration {
    program.coordinatorCanRestoreLate(coordinator)
  }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    program.coordinator(coordinator, didRestoreLate: report)
  }

  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    program.coordinator(coordinator, didPreserve: outcome)
  }

  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    program.coordinator(coordinator, didFailToPreserve: error)
  }

  func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator) {
    program.coordinatorExtensionDidTimeOut(coordinator)
  }
}

extension RestorationCoordinator {
  /// Does what an unlock has left to do, and returns when the hierarchy has its state; at once if nothing is left.
  ///
  /// Call it after the device's `unlock`, where the program has to know that its objects have their state: late restoring
  /// begins by itself, a moment after the unlock.
  ///
  /// - Returns: The report of the last restoration: of the late one, if there was one. One that says `locked` still waits: the
  ///   device is locked, the program is suspended, or its delegate has answered `wait`.
  @discardableResult
  public func finishLateRestoration() async -> RestorationReport? {
    // A restoration that was in progress at the unlock leaves the late one to a second look.
    for _ in 0..<2 {
      await endOperations()
      guard waitsForUnlock else { return lastReport }
      await followUnlock()
    }
    await endOperations()
    return lastReport
  }

  /// Returns when the operations that were asked for before are over.
  func endOperations() async { await operations.run(.saving) {} }
}
