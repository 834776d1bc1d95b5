#if canImport(Glibc)

/// Drives the life cycle of a terminal program by signals.
///
/// SIGTSTP enters the background and, when the program is suspended, stops the process; SIGCONT comes back. SIGTERM,
/// SIGHUP, SIGINT and SIGQUIT terminate. A handler only notes its signal; all work is done on the main actor, in the order
/// of arrival. A signal that was ignored when the driver was started stays ignored, as `nohup` wants it. Only one driver
/// can be started in a process.
@MainActor public final class SignalDriver {
  private let watched: Set<LifecycleSignal>
  private let onExit: @MainActor (LifecycleSignal) -> Void
  private var pipe: SignalPipe?
  private var reader: Task<Void, Never>?
  private var worker: Task<Void, Never>?
  private var waiting: [LifecycleSignal] = []
  private var observation: LifecycleObservation?
  private var stopsWhenSuspended = false
  private var isEnding = false

  /// Makes a driver.
  ///
  /// - Parameters:
  ///   - signals: The signals to take over; the others go where they went before.
  ///   - onExit: Called when a signal has ended the life cycle; by default the process ends by that signal, so
  ///     that its parent sees the reason.
  public init(
    signals: Set<LifecycleSignal> = Set(LifecycleSignal.allCases),
    onExit: (@MainActor (LifecycleSignal) -> Void)? = nil
  ) {
    watched = signals
    self.onExit = onExit ?? { SignalPipe.endProcess(by: $0) }
  }

  /// Takes over the signals of this process.
  public func start(driving lifecycle: Lifecycle) {
    precondition(pipe == nil, "This signal driver was started before; stop it first.")
    guard let pipe = SignalPipe(watched) else {
      preconditionFailure("Another signal driver of this process is started; stop it before you start one more.")
    }
    self.pipe = pipe
    observation = lifecycle.observe { [weak self, weak lifecycle] event in
      guard case .step(.enter(.suspended), _) = event, let self, let lifecycle else { return }
      // The step is about to happen: look again when the request is through.
      Task { self.stopIfSuspended(lifecycle) }
    }
    reader = Task { [weak self, weak lifecycle] in
      for await signal in pipe.signals {
        guard let self, let lifecycle else { return }
        self.waiting.append(signal)
        self.handleNext(lifecycle)
      }
    }
  }

  /// Handles the signals that have arrived, one after another; new ones are seen, so that the process doesn't stop
  /// itself with a signal to go on already in hand.
  private func handleNext(_ lifecycle: Lifecycle) {
    guard worker == nil, !waiting.isEmpty else { return }
    worker = Task {
      while !waiting.isEmpty { await handle(waiting.removeFirst(), lifecycle) }
      worker = nil
    }
  }

  /// Gives the signals back to their former handlers.
  public func stop() {
    reader?.cancel()
    reader = nil
    waiting = []
    observation = nil
    pipe?.giveBack()
    pipe = nil
  }

  /// Ends the process by a signal, so that its parent sees the reason: what `onExit` does unless told otherwise.
  ///
  /// For an `onExit` of your own that first gives back a terminal or closes a window.
  public nonisolated static func endProcess(by signal: LifecycleSignal) -> Never { SignalPipe.endProcess(by: signal) }

  isolated deinit { pipe?.giveBack() }

  private func handle(_ signal: LifecycleSignal, _ lifecycle: Lifecycle) async {
    switch signal {
    case .terminalStop:
      stopsWhenSuspended = true
      if lifecycle.state == .notRunning { return waiting.isEmpty ? stopNow() : () }
      try? await lifecycle.enterBackground()
      if lifecycle.state == .notRunning { return end(by: signal) }
      stopIfSuspended(lifecycle)
    case .resume:
      stopsWhenSuspended = false
      if !lifecycle.state.isForeground { try? await lifecycle.enterForeground() }
    case .hangUp, .interrupt, .quit, .terminate:
      try? await lifecycle.terminate()
      end(by: signal)
    }
  }

  private func stopIfSuspended(_ lifecycle: Lifecycle) {
    if stopsWhenSuspended, waiting.isEmpty, lifecycle.state == .suspended { stopNow() }
  }

  private func stopNow() {
    stopsWhenSuspended = false
    SignalPipe.stopProcess()
  }

  private func end(by signal: LifecycleSignal) {
    if isEnding { return }
    isEnding = true
    stop()
    onExit(signal)
  }
}
#endif
