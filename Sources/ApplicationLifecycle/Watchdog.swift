import Synchronization

/// Watches one transition against its budget, from outside the main actor.
///
/// It barks once: into the log at once, wherever the main actor is, and then on the main actor.
final class Watchdog: Sendable {
  let kind: LifecycleBudgets.Kind
  private let budget: Duration
  private let stopwatch: Stopwatch
  private let log: LifecycleLog
  private let isLogged = Mutex(false)
  private let timer = Mutex<Task<Void, Never>?>(nil)

  /// `onOverrun` is called on the main actor; the caller sees to it that the second call does nothing.
  init(
    _ kind: LifecycleBudgets.Kind, budget: Duration, clock: any Clock<Duration>, log: LifecycleLog,
    onOverrun: @escaping @MainActor @Sendable () -> Void
  ) {
    self.kind = kind
    self.budget = budget
    let stopwatch = Stopwatch(clock)
    self.stopwatch = stopwatch
    self.log = log
    let timer = Task.detached { [weak self] in
      // A millisecond more, so that work which ends exactly when its budget does is in time.
      do { try await stopwatch.sleep(untilElapsed: budget + .milliseconds(1)) } catch { return }
      guard let self, self.logOverrun() else { return }
      await onOverrun()
    }
    self.timer.withLock { $0 = timer }
  }

  /// Whether the budget is over now; the first answer of yes goes into the log.
  func isOverrun() -> Bool { logOverrun() }

  /// Ends the watch.
  func stop() { timer.withLock { $0 }?.cancel() }

  private func logOverrun() -> Bool {
    guard stopwatch.elapsed > budget else { return false }
    let isFirst = isLogged.withLock { logged in
      defer { logged = true }
      return !logged
    }
    if isFirst { log.write(.overrun(kind, budget: budget)) }
    return true
  }
}
