import Dispatch
import Synchronization

/// Drives a life cycle by signals: what answers them for ``RestorableApplication/answerSignals(_:willEnd:)`` and for sessions.
///
/// A handler only notes its signal; all work is done on the main actor, in the order of arrival. Only one driver can be started
/// in a process; it takes the signals of a ``RestorationSession`` that was opened.
@MainActor package final class SignalDriver {
  private let watched: Set<Lifecycle.Signal>
  private let onExit: @MainActor (Lifecycle.Signal) -> Void
  private let arrivals: SignalArrivals
  /// Called before the process stops itself, after the save, and once it goes on; not in a program with a life cycle.
  var (onStop, onResume): (@MainActor () -> Void, @MainActor () -> Void) = ({}, {})
  private var pipe: SignalPipe?
  private weak var lifecycle: Lifecycle?
  private var worker: Task<Void, Never>?
  private var waiting: [Lifecycle.Signal] = []
  private var observation: Lifecycle.Observation?
  private var stopsWhenSuspended = false
  private var isEnding = false

  /// The driver that answers for sessions that were opened; one with a life cycle takes its place.
  private static weak var ofSessions: SignalDriver?

  /// Makes a driver.
  ///
  /// - Parameters:
  ///   - signals: The signals to take over; the others go where they went before.
  ///   - mainLoop: That of a program which has one of its own.
  ///   - onExit: Called when a signal has ended the life cycle; by default the process ends by that signal, so
  ///     that its parent sees the reason.
  package init(
    signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases), mainLoop: RestorationMainLoop? = nil,
    onExit: (@MainActor (Lifecycle.Signal) -> Void)? = nil
  ) {
    watched = signals
    arrivals = SignalArrivals(mainLoop)
    self.onExit = onExit ?? { SignalPipe.endProcess(by: $0) }
  }

  /// Takes over the signals of this process.
  package func start(driving lifecycle: Lifecycle) {
    Self.ofSessions?.stop()
    guard startIfFree(driving: lifecycle) else {
      preconditionFailure(
        "Another application of this process answers signals; call its stopAnsweringSignals() before answerSignals().")
    }
  }

  /// Takes over the signals, unless another driver has them: that one saves all sessions before the process ends.
  @discardableResult
  func startIfFree(driving lifecycle: Lifecycle) -> Bool {
    guard open() else { return false }
    self.lifecycle = lifecycle
    observation = lifecycle.observe { [weak self, weak lifecycle] event in
      guard case .step(.enter(.suspended), _) = event, let self, let lifecycle else { return }
      // The step is about to happen: look again when the request is through.
      Task { self.stopIfSuspended(lifecycle) }
    }
    return true
  }

  /// Answers the signals with a save of all sessions that are open; false if another driver has them.
  func startSavingSessions() -> Bool {
    guard open() else { return false }
    Self.ofSessions = self
    return true
  }

  private func open() -> Bool {
    guard pipe == nil else { return false }
    arrivals.onTurn = { [weak self] in self?.take($0, isInLoop: $1) }
    pipe = SignalPipe(watched) { [arrivals] in arrivals.add($0) }
    return pipe != nil
  }

  /// Takes what has arrived.
  private func take(_ signals: [Lifecycle.Signal], isInLoop: Bool) {
    guard pipe != nil else { return }
    // In a turn of the program's main loop nobody would go on with the life cycle.
    guard let lifecycle, !isInLoop else { return answerNow(signals) }
    waiting += signals
    handleNext(lifecycle)
  }

  /// Saves what is open, and ends or stops the process; or tells the program that it goes on.
  private func answerNow(_ signals: [Lifecycle.Signal]) {
    if let end = signals.first(where: \.isEnd) { return self.end(by: end) }
    guard signals.last == .terminalStop else {
      if signals.contains(.resume) { onResume() }
      return
    }
    ExitGuard.saveAll(isEnd: false)
    onStop()
    stopNow()
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
  package func stop() {
    waiting = []
    observation = nil
    lifecycle = nil
    pipe?.giveBack()
    pipe = nil
  }

  isolated deinit { pipe?.giveBack() }

  private func handle(_ signal: Lifecycle.Signal, _ lifecycle: Lifecycle) async {
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

  private func end(by signal: Lifecycle.Signal) {
    if isEnding { return }
    isEnding = true
    // Those of this process that another driver would have had to answer for.
    ExitGuard.saveAll(isEnd: true)
    stop()
    onExit(signal)
  }
}

/// Signals on their way to the main actor: in a job of it, or after a moment in a turn of the program's main loop.
private final class SignalArrivals: Sendable {
  private struct State {
    var signals: [Lifecycle.Signal] = []
    /// When the first of them came that asks for the end.
    var firstEnd: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let turns: MainTurns
  /// Called with what has arrived, in a turn.
  @MainActor var onTurn: @MainActor ([Lifecycle.Signal], _ isInLoop: Bool) -> Void = { _, _ in }

  /// So long a signal waits for a turn before the process ends without one.
  private static var patience: DispatchTimeInterval { .seconds(5) }

  init(_ mainLoop: RestorationMainLoop?) { turns = MainTurns(mainLoop, headStart: .milliseconds(100)) }

  /// Adds a signal; on the thread of the pipe.
  func add(_ signal: Lifecycle.Signal) {
    let now = ContinuousClock().now
    let isRepeated = state.withLock { state in
      state.signals.append(signal)
      guard signal.isEnd else { return false }
      defer { state.firstEnd = state.firstEnd ?? now }
      // A terminal that is closed may say so twice, at once.
      return state.firstEnd.map { now - $0 > .seconds(1) } ?? false
    }
    if isRepeated { SignalPipe.endProcess(by: signal) }
    turns.perform { self.take() }
    guard signal.isEnd else { return }
    SignalPipe.queue.asyncAfter(deadline: .now() + Self.patience) {
      guard self.state.withLock({ $0.firstEnd == now }) else { return }
      HostProcess.writeToStandardError(
        "state restoration: warning: \(signal) ends the program without a last save: the main thread took no turn")
      SignalPipe.endProcess(by: signal)
    }
  }

  @MainActor private func take() {
    let taken = state.withLock { state in
      defer { state = State() }
      return state.signals
    }
    if !taken.isEmpty { onTurn(taken, turns.isInLoop) }
  }
}
