internal import Synchronization

/// Notices that the main actor gets no turn while a change waits to be preserved, and says so once.
///
/// A program that blocks its main thread, in `readLine()` say, keeps automatic preservation waiting without a word. Real
/// time counts, whatever clock the coordinator has.
final class TurnWatch: Sendable {
  private struct State {
    /// How long to wait, and where to speak; nil while nothing is preserved by itself.
    var plan: (limit: Duration, log: any RestorationLog)?
    /// How many turns the main actor was asked for, and has had.
    var (asked, had) = (0, 0)
    var isWatching = false
    var hasSpoken = false
  }

  private let state = Mutex(State())

  /// Speaks after two intervals without a turn; never with nil.
  func watch(_ interval: Duration?, log: any RestorationLog) {
    state.withLock { $0.plan = interval.map { ((max($0, .milliseconds(100)) * 2).clampedForSleep, log) } }
  }

  /// A change waits for a turn of the main actor.
  func begin() {
    let isFirst = state.withLock { state in
      state.asked += 1
      guard state.plan != nil, !state.isWatching, !state.hasSpoken else { return false }
      state.isWatching = true
      return true
    }
    guard isFirst else { return }
    Task.detached { [self] in
      while let (limit, had) = waiting {
        try? await Task.sleep(for: limit)
        speak(ifStillAt: had)
      }
    }
  }

  /// The main actor has had its turn.
  func noteTurn() { state.withLock { $0.had += 1 } }

  /// How long to wait for the next turn; nil, and watching ends, when none is waited for.
  private var waiting: (limit: Duration, had: Int)? {
    state.withLock { state in
      guard let plan = state.plan, state.asked > state.had, !state.hasSpoken else {
        state.isWatching = false
        return nil
      }
      return (plan.limit, state.had)
    }
  }

  private func speak(ifStillAt had: Int) {
    let log = state.withLock { state -> (any RestorationLog)? in
      guard state.had == had, let plan = state.plan else { return nil }
      state.hasSpoken = true
      return plan.log
    }
    log?.log(
      .warning,
      "nothing is preserved, because the main actor gets no turn: do not block the main thread, with readLine() say; "
        + "read in a task of its own")
  }
}
