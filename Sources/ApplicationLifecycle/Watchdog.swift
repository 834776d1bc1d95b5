import Synchronization

/// Watches one transition against its budget, from outside the main actor.
///
/// It barks once: into the log at once, wherever the main actor is, and then on the main actor.
final class Watchdog: Sendable {
  private enum Phase { case watching, logged, stopped }

  let kind: Lifecycle.Budgets.Kind
  let budget: Duration
  private let stopwatch: Stopwatch
  private let log: LifecycleLog?
  private let phase = Mutex(Phase.watching)
  private let timer = Mutex<Task<Void, Never>?>(nil)
  @MainActor private var isReported = false
  private let onOverrun: @MainActor @Sendable (Watchdog) -> Void

  /// `onOverrun` is called on the main actor, at most once.
  init(
    _ kind: Lifecycle.Budgets.Kind, budget: Duration, clock: any Clock<Duration>, log: LifecycleLog?,
    onOverrun: @escaping @MainActor @Sendable (Watchdog) -> Void
  ) {
    self.kind = kind
    self.budget = budget
    let stopwatch = Stopwatch(clock)
    self.stopwatch = stopwatch
    self.log = log
    self.onOverrun = onOverrun
    let timer = Task.detached { [weak self] in
      // A millisecond more, so that work which ends exactly when its budget does is in time.
      do { try await stopwatch.sleep(untilElapsed: budget + .milliseconds(1)) } catch { return }
      guard let self, self.logOverrun() else { return }
      await self.check()
    }
    self.timer.withLock { $0 = timer }
  }

  /// Reports the overrun if the budget is over by now.
  @MainActor func check() {
    guard logOverrun(), !isReported else { return }
    isReported = true
    onOverrun(self)
  }

  /// Ends the watch in time; an overrun that is in the log by now is reported.
  @MainActor func finish() {
    let wasLogged = phase.withLock { phase in
      defer { if phase == .watching { phase = .stopped } }
      return phase == .logged
    }
    if wasLogged { check() }
    stop()
  }

  /// Ends the watch.
  func stop() {
    phase.withLock { $0 = .stopped }
    timer.withLock { $0 }?.cancel()
  }

  private func logOverrun() -> Bool {
    guard stopwatch.elapsed > budget else { return false }
    return phase.withLock { phase in
      // Under the lock, so that whoever sees the overrun finds it in the log.
      if phase == .watching { log?.write(.overrun(kind, budget: budget)) }
      if phase != .stopped { phase = .logged }
      return phase != .stopped
    }
  }
}
