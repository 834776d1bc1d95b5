import Dispatch
import Sealing
import Synchronization

/// Ends the grace period of a lock.
protocol GraceTimer: Sendable {
  /// Calls the body after the grace period; a later call may replace one that is still to come.
  func start(_ gracePeriod: Duration, _ body: @escaping @Sendable () -> Void)
}

/// Waits on a clock of the caller's: for tests, whose time doesn't pass by itself.
struct ClockTimer: GraceTimer {
  let clock: any Clock<Duration>

  func start(_ gracePeriod: Duration, _ body: @escaping @Sendable () -> Void) {
    let clock = clock
    Task {
      try? await clock.sleep(for: gracePeriod)
      body()
    }
  }
}

/// Waits on a thread of its own.
///
/// The threads of Swift's concurrency are as many as cores, and blocking calls can fill them all: a task that sleeps
/// there might never wake, and the keys would stay. The clock is `SuspendingClock`. The thread ends with the grace
/// period, or with the timer.
final class ThreadTimer: GraceTimer {
  private let core = TimerCore()

  func start(_ gracePeriod: Duration, _ body: @escaping @Sendable () -> Void) {
    guard core.schedule(SuspendingClock.now + gracePeriod, body) else { return }
    // Without a thread nothing would end the grace period, so it ends now.
    let core = core
    if !DetachedThread.start({ core.run() }) { core.finish() }
  }

  deinit {
    core.cancel()
  }
}

/// What a timer and its thread share.
private final class TimerCore: Sendable {
  private struct State {
    var due: (deadline: SuspendingClock.Instant, body: @Sendable () -> Void)?
    var hasThread = false
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// Notes the next work, in place of the former; returns whether a thread has to be started for it.
  func schedule(_ deadline: SuspendingClock.Instant, _ body: @escaping @Sendable () -> Void) -> Bool {
    let needsThread = state.withLock { state in
      state.due = (deadline, body)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    wake.signal()
    return needsThread
  }

  /// Does the noted work now, without a thread.
  func finish() {
    let due = state.withLock { state in
      defer { state = State() }
      return state.due
    }
    due?.body()
  }

  /// Drops the noted work; the thread ends.
  func cancel() {
    state.withLock { $0.due = nil }
    wake.signal()
  }

  /// The thread: waits until the noted work is due, does it and ends.
  ///
  /// Work that is noted meanwhile gets a thread of its own: the body may hang, in a custody that does.
  func run() {
    while true {
      switch next() {
      case .wait(let duration):
        // A day at most, so that no conversion overflows; then the clock is read again.
        _ = wake.wait(timeout: .now() + min(duration, .seconds(86_400)) / .seconds(1))
      case .end(let body):
        body?()
        return
      }
    }
  }

  private enum Step: Sendable {
    case wait(Duration)
    case end((@Sendable () -> Void)?)
  }

  private func next() -> Step {
    state.withLock { state in
      if let due = state.due {
        let rest = SuspendingClock.now.duration(to: due.deadline)
        if rest > .zero { return .wait(rest) }
      }
      let body = state.due?.body
      state = State()
      return .end(body)
    }
  }
}
