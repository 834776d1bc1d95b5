import FoundationShim

/// Joins the life cycle of a program with its coordinator and its device.
///
/// It restores between the two launch callbacks, preserves on entering the background and on terminating, takes
/// snapshots, locks on sleep, closes and reopens handles of `complete` files around inactivity, and deletes the state when the
/// user quits by force. Requests go through ``lifecycle``, directly or by signals, see ``answerSignals(_:willEnd:)``; only
/// launching and quitting by force have methods here. The delegate is not retained.
///
/// ```swift
/// let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: appDelegate)
/// try await application.launch()
/// application.answerSignals()
/// ```
@MainActor public final class RestorableApplication {
  /// The program's life cycle.
  public let lifecycle: Lifecycle

  /// The delegate that gives the hierarchy and is told about the state; not retained.
  public weak var delegate: (any RestorableApplicationDelegate)? {
    didSet { lifecycle.delegate = delegate }
  }

  /// The report of the last restoring, also of one that came late; `nil` before it, and when it was declined or failed.
  public var report: RestorationReport? { hasRestored ? engine.lastReport : nil }

  /// Why the last restoring failed as a whole; `nil` when it didn't.
  package private(set) var restoreError: RestorationError?

  /// What became of the last preserving; `nil` before it.
  package private(set) var lastPreservation: Result<PreservationOutcome, RestorationError>?

  /// Whether a snapshot is shown now.
  package private(set) var isShowingSnapshot = false

  private let engine: any ApplicationEngine
  private let device: any ApplicationDevice
  private let snapshots: SnapshotKeeper
  private let handles = HandleKeeper()
  private var availability: (any Sendable)?
  private var observation: Lifecycle.Observation?
  private var ignoresNextSnapshot = false
  /// The count of saves at which the snapshot on disk shows the state; 0 is the state of the launch.
  private var snapshotSave: UInt64 = 0
  /// Whether the program was in the foreground since the snapshot was taken.
  private var wasSeen = false
  private var hasRestored = false
  private var hasDeclined = false
  /// What the user's quitting by force has begun.
  private var deletion: Task<RestorationError?, Never>?
  /// What answers the signals, while something does.
  private var signals: SignalDriver?

  package init(
    engine: any ApplicationEngine, device: any ApplicationDevice, snapshots: any SnapshotStore, lifecycle: Lifecycle,
    delegate: any RestorableApplicationDelegate
  ) {
    self.engine = engine
    self.device = device
    let configuration = engine.configuration
    self.snapshots = SnapshotKeeper(
      store: snapshots, lifetime: configuration.snapshotLifetime, now: configuration.now, log: configuration.log)
    self.lifecycle = lifecycle
    self.delegate = delegate
    lifecycle.delegate = delegate
    lifecycle.work = self
    engine.snapshots = self.snapshots
    if lifecycle.log == nil {
      let log = engine.configuration.log
      lifecycle.log = LifecycleLog { log.log(.warning, $0.description) }
    }
    observation = lifecycle.observe { [weak self] event in
      switch event {
      case .step(.enter(.suspended), _):
        self?.engine.suspend()
        // A suspended program that holds little is purged late.
        self?.engine.freeMemory()
      case .memoryWarning: self?.engine.freeMemory()
      case .step(.enter(.inactive), .notRunning), .step(.enter(.inactive), .background): self?.wasSeen = true
      case .step(.enter(let next), .suspended):
        self?.engine.wake()
        if next == .notRunning { self?.engine.didEnd() }
      case .step(.enter(.notRunning), _): self?.engine.didEnd()
      case .step(.willTerminate, _): self?.engine.announceEnd()
      case .step(.willFinishLaunching, _):
        self?.forgetRestoring()
        self?.hasDeclined = false
      default: break
      }
    }
    availability = device.observeAvailability { [weak self] isAvailable in
      Task { @MainActor in self?.availabilityChanged(isAvailable) }
    }
  }

  /// Launches the program; guarded, so that a launch that ends badly is not tried again with the same state.
  ///
  /// Throws `killed` or `watchdog` when the program ended in the middle, `illegalTransition` when it runs already, and
  /// `waitsForItself` when called by one of its own callbacks.
  @discardableResult
  public func launch(_ options: Lifecycle.LaunchOptions = .icon) async throws(Lifecycle.RequestError)
    -> RestorationReport?
  {
    engine.beginGuard()
    await snapshots.begin()
    do throws(Lifecycle.RequestError) {
      try await lifecycle.launch(options)
    } catch {
      // A program that was killed leaves the guard's mark on disk, as its end would.
      if error.code == .illegalTransition || error.code == .waitsForItself { await engine.endGuard() }
      throw error
    }
    await declineIfAsked()
    await engine.endGuard()
    return report
  }

  /// The user ends the program by force: no callback, and the state is deleted.
  ///
  /// With ``RestorationConfiguration/isDeveloperMode`` the state stays. Of several windows all are tried, and the first error is
  /// thrown. While the device is locked, nobody can say which windows there were: those of this run are deleted, and
  /// `discardFailed` is thrown, with `locked` as its cause. After the unlock, ``RestoredWindows/known`` names the others, and
  /// ``RestoredWindows/discard(_:)`` deletes each. `discardFailed` is also thrown, now and later, after a list of windows was
  /// lost: nobody can name those that were only in it.
  public func forceQuit() async throws(RestorationError) {
    do throws(Lifecycle.RequestError) {
      try lifecycle.kill(.forceQuit)
    } catch {
      throw RestorationError(.discardFailed, "The program does not run, so nothing was deleted.", cause: error)
    }
    if engine.configuration.isDeveloperMode { return }
    // A callback that asks for it is left behind by the kill, with its task.
    let deletion = Task.immediate { await deleteEverything() }
    self.deletion = deletion
    if let failure = await deletion.value { throw failure }
  }

  /// Returns when a deletion that was begun is over: the process must not end before, and save everything once more.
  func finishForceQuit() async { _ = await deletion?.value }

  private func deleteEverything() async -> RestorationError? {
    var failure: RestorationError?
    do throws(ProtectionError) {
      try await snapshots.deleteForGood()
    } catch {
      failure = RestorationError(.discardFailed, "The snapshot of the state could not be deleted.", cause: error)
    }
    do throws(RestorationError) { try await engine.deleteState() } catch { return error }
    return failure
  }

  /// Preserves now; the outcome is reported to the delegate too.
  ///
  /// - Returns: The outcome; nil when there is no root, or the program is not launched: the state has not come
  ///   back yet then, and must not be overwritten with a hierarchy that knows nothing of it.
  @discardableResult
  public func preserve() async throws(RestorationError) -> PreservationOutcome? {
    guard lifecycle.state != .notRunning else { return nil }
    await declineIfAsked()
    let result: Result<PreservationOutcome, RestorationError>
    do throws(RestorationError) {
      guard let outcome = try await engine.preserveState(of: delegate?.rootController) else { return nil }
      result = .success(outcome)
    } catch {
      result = .failure(error)
    }
    lastPreservation = result
    delegate?.didPreserve(result)
    return try result.get()
  }

  /// Answers the signals of this process with requests to the life cycle; for a program of ``RestorationSession``, `run` does it.
  ///
  /// SIGTSTP enters the background and, when the program is suspended, stops the process; SIGCONT comes back. SIGTERM,
  /// SIGHUP, SIGINT and SIGQUIT terminate; then the process ends by that signal, so that its parent sees the reason. A signal that
  /// is ignored stays ignored, as `nohup` wants it. Called again, it answers those of the second call instead. Only one application
  /// of a process can answer signals; it takes those of a ``RestorationSession`` that was opened.
  ///
  /// If the main thread takes no turn for five seconds, or a signal to end comes twice, the process ends at once.
  ///
  /// - Parameters:
  ///   - signals: The signals that are answered; those left out do what they did.
  ///   - willEnd: Called when a signal ends the program, after the last save: the place to give a terminal back.
  public func answerSignals(
    _ signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases),
    willEnd: (@MainActor (Lifecycle.Signal) -> Void)? = nil
  ) {
    let driver = makeDriver(signals, willEnd)
    driver.start(driving: lifecycle)
    self.signals = driver
  }

  /// Has signals do what they did before ``answerSignals(_:willEnd:)``.
  public func stopAnsweringSignals() {
    signals?.stop()
    signals = nil
  }

  /// Answers signals, unless something else in the process does: that saves what is open here, too, before the process ends.
  func answerSignalsIfFree(_ signals: Set<Lifecycle.Signal>, willEnd: @escaping @MainActor (Lifecycle.Signal) -> Void) {
    let driver = makeDriver(signals, willEnd)
    if driver.startIfFree(driving: lifecycle) { self.signals = driver }
  }

  private func makeDriver(
    _ signals: Set<Lifecycle.Signal>, _ willEnd: (@MainActor (Lifecycle.Signal) -> Void)?
  ) -> SignalDriver {
    stopAnsweringSignals()
    return SignalDriver(signals: signals, mainLoop: engine.configuration.mainLoop) { signal in
      willEnd?(signal)
      SignalPipe.endProcess(by: signal)
    }
  }

  /// Does what an unlock has left to do, and returns when every hierarchy has its state; at once if nothing is left.
  ///
  /// Late restoring begins by itself, a moment after the unlock: call this where the program has to know that it is over. Of
  /// several windows also those come back whose list could not be read at launch; the delegate makes their roots.
  ///
  /// ```swift
  /// try await device.unlock(passcode: passcode)
  /// let report = await application.finishLateRestoration()
  /// ```
  ///
  /// - Returns: The report of the last restoration: of the late one, if there was one. One that says `locked` still waits: the
  ///   device is locked, the program is suspended, or the coordinator's delegate has answered `wait`. Nil when the launch has
  ///   not restored and declined.
  @discardableResult
  public func finishLateRestoration() async -> RestorationReport? {
    let report = await engine.finishLateRestoration()
    if report != nil, !lifecycle.launchResponse.contains(.declinesRestoring) { hasRestored = true }
    return self.report
  }

  /// Drops the snapshot that will be taken next, and the one that was kept: the next launch shows none.
  ///
  /// - Returns: The deletion of the one that was kept, for a caller that has to know that it is gone.
  @discardableResult
  public func ignoreSnapshotOnNextLaunch() -> Task<Void, any Error> {
    ignoresNextSnapshot = true
    return Task { [snapshots] in try await snapshots.delete() }
  }

  /// Closes this handle when the program resigns active, if its file is `complete`, and opens it anew.
  ///
  /// One that can't be opened again, because the file is gone, say, is told to the delegate; while locked it is tried again
  /// after the unlock. The handle is not retained.
  public func manage(_ handle: ProtectedFiles.Handle) { keep(handle) }

  /// Closes and opens a handle with the program.
  func keep(_ handle: any ReopenableHandle) { handles.add(handle) }

  private func reopeningFailed(of handle: any ReopenableHandle, with error: ProtectionError) {
    guard let handle = handle as? ProtectedFiles.Handle else { return }
    delegate?.didFailToReopen(handle, error: error)
  }

  private func availabilityChanged(_ isAvailable: Bool) {
    lifecycle.post(.protectedData(isAvailable: isAvailable))
    guard isAvailable else { return handles.deviceWasLocked() }
    engine.protectedDataDidBecomeAvailable()
    Task { await handles.deviceWasUnlocked(onFailure: reopeningFailed) }
  }
}

extension RestorableApplication: LifecycleWork {
  /// Every controller and view that frees memory, parents first.
  package var memoryWarningResponders: [any Lifecycle.MemoryWarningResponder] {
    walk.objects.compactMap { $0 as? any Lifecycle.MemoryWarningResponder }
  }

  /// Does one step of a transition; the life cycle calls it.
  package func perform(_ step: LifecycleStep) async {
    switch step {
    case .showSnapshot: await showSnapshot()
    case .restore: await restore()
    case .removeSnapshot: removeSnapshot()
    case .openHandles: await openHandles()
    case .closeHandles: handles.closeAll()
    case .preserve: _ = try? await preserve()
    case .hideSensitiveContent:
      for content in sensitiveContent { content.hideSensitiveContent() }
    case .revealSensitiveContent: for content in sensitiveContent { content.revealSensitiveContent() }
    case .takeSnapshot: await takeSnapshot()
    case .lockDevice: device.lock()
    default: break
    }
  }

  /// The hierarchies: the delegate's, and with several scenes one for each.
  private var walk: ControllerWalk {
    ControllerWalk(roots: [delegate?.rootController].compactMap(\.self) + engine.roots)
  }

  private var sensitiveContent: [any SensitiveContent] { walk.objects.compactMap { $0 as? any SensitiveContent } }

  private func restore() async {
    forgetRestoring()
    let extent = engine.extent
    engine.extent = lifecycle.launchOptions?.extent ?? .restore
    do throws(RestorationError) {
      // Without a root the program restores itself.
      guard let report = try await engine.restoreState(into: delegate?.rootController) else {
        return engine.extent = extent
      }
      hasRestored = true
      delegate?.didRestore(report)
    } catch {
      restoreError = error
      delegate?.didFailToRestore(error)
    }
  }

  /// Keeps the stored state from the first save of a launch that declined restoring.
  private func declineIfAsked() async {
    guard lifecycle.launchResponse.contains(.declinesRestoring), !hasDeclined else { return }
    hasDeclined = true
    await engine.declineRestoring(into: delegate?.rootController)
  }

  private func forgetRestoring() {
    hasRestored = false
    restoreError = nil
  }

  private func showSnapshot() async {
    guard let snapshot = await snapshots.open() else { return }
    isShowingSnapshot = true
    delegate?.showSnapshot(snapshot)
  }

  private func removeSnapshot() {
    guard isShowingSnapshot else { return }
    isShowingSnapshot = false
    delegate?.removeSnapshot()
  }

  private func takeSnapshot() async {
    guard let delegate else { return }
    let save = snapshots.saveCount
    // Nobody has seen the program since the last one was taken, and its state is what it was: the picture is still true.
    guard wasSeen || ignoresNextSnapshot || save != snapshotSave else { return }
    let walk = walk
    let tops = delegate.topVisibleController.map { [$0] } ?? walk.roots
    let isTopPreserved = !tops.isEmpty && tops.allSatisfy(walk.showsOnlyPreserved)
    func rules() -> SnapshotRules {
      SnapshotRules(
        isStatePreserved: isStatePreserved, isTopControllerPreserved: isTopPreserved,
        isIgnoredOnNextLaunch: ignoresNextSnapshot)
    }
    let payload = rules().keepsSnapshot ? delegate.makeSnapshot() : nil
    // Asked again: the program may see only now that its picture is not to be shown.
    let keepsSnapshot = rules().keepsSnapshot
    let isIgnored = ignoresNextSnapshot
    ignoresNextSnapshot = false
    (snapshotSave, wasSeen) = (save, false)
    // While the stored state could not be looked at, it will come back, and its picture with it.
    do throws(ProtectionError) {
      if let payload, keepsSnapshot {
        try await snapshots.keep(payload, ofSave: save)
      } else if !isDeferred || isIgnored {
        try await snapshots.delete()
      }
    } catch {
      engine.configuration.log.log(.warning, error.ofSnapshot)
    }
  }

  /// Whether what the snapshot shows is on disk.
  private var isStatePreserved: Bool {
    switch lastPreservation {
    case .success(.preserved), .success(.unchanged): true
    default: false
    }
  }

  /// Whether preserving waits for an unlock, and the stored state is still the old one.
  private var isDeferred: Bool {
    if case .success(.deferred(.locked)) = lastPreservation { true } else { false }
  }

  private func openHandles() async {
    await handles.openAll(onFailure: reopeningFailed)
  }
}
