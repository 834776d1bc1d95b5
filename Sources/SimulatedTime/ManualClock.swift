import Synchronization

/// A clock that stands still until a test moves it.
///
/// Nothing here takes real time. Sleepers wake in the order of their deadlines, and those with one deadline in the
/// order in which they fell asleep; while a sleeper is woken, `now` is its deadline.
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(10)) }
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(10))
/// try await task.value
/// ```
package final class ManualClock: Clock, Sendable {
  /// A moment of one manual clock, counted from its beginning.
  package struct Instant: InstantProtocol {
    /// The time since the clock began.
    package let offset: Duration

    /// Makes a moment from the time since the clock began.
    package init(offset: Duration = .zero) {
      self.offset = offset
    }

    /// The moment that lies so much later.
    package func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// The time from this moment to another.
    package func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Whether one moment lies before another.
    package static func < (left: Instant, right: Instant) -> Bool {
      left.offset < right.offset
    }
  }

  private struct Sleeper {
    let id: UInt64
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Watcher {
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = Instant()
    var nextID: UInt64 = 0
    var sleepers: [Sleeper] = []
    var watchers: [Watcher] = []
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())

  /// Makes a clock whose time is zero.
  package init() {}

  /// The time as the test last set it.
  package var now: Instant { state.withLock { $0.now } }

  /// Manual time has no grain.
  package var minimumResolution: Duration { .zero }

  /// How many callers are asleep.
  package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Sleeps until the test has moved the clock to the deadline; throws `CancellationError` when cancelled.
  package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    // A cancellation that comes while the sleeper wakes leaves a mark that nobody would look at again.
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        fallAsleep(Sleeper(id: id, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Moves the clock forward, waking everyone whose deadline is reached, in order.
  package func advance(by duration: Duration) {
    precondition(duration >= .zero, "A manual clock only moves forward; it was asked to move by \(duration).")
    advance(to: now.advanced(by: duration))
  }

  /// Moves the clock forward to a moment, waking everyone whose deadline is reached, in order.
  package func advance(to instant: Instant) {
    while let sleeper = nextSleeper(until: instant) {
      sleeper.continuation.resume()
    }
  }

  /// Returns when at least so many callers are asleep: what a test awaits before it moves the clock.
  package func waitForSleepers(_ count: Int = 1) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append(Watcher(count: count, continuation: continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  private enum Bedtime {
    case sleeps(waking: [CheckedContinuation<Void, Never>])
    case isDue
    case isCancelled
  }

  private func fallAsleep(_ sleeper: Sleeper) {
    let bedtime: Bedtime = state.withLock { state in
      if state.cancelled.remove(sleeper.id) != nil { return .isCancelled }
      if sleeper.deadline <= state.now { return .isDue }
      let index = state.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? state.sleepers.endIndex
      state.sleepers.insert(sleeper, at: index)
      let count = state.sleepers.count
      let ready = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      return .sleeps(waking: ready)
    }
    switch bedtime {
    case .sleeps(let waking): for watcher in waking { watcher.resume() }
    case .isDue: sleeper.continuation.resume()
    case .isCancelled: sleeper.continuation.resume(throwing: CancellationError())
    }
  }

  private func cancel(_ id: UInt64) {
    let sleeper: Sleeper? = state.withLock { state in
      guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
        // It isn't asleep yet, and will find this mark; or it has just woken.
        state.cancelled.insert(id)
        return nil
      }
      return state.sleepers.remove(at: index)
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  /// Takes the next sleeper due by `instant` and sets the time to its deadline; else sets it to `instant`.
  private func nextSleeper(until instant: Instant) -> Sleeper? {
    state.withLock { state in
      guard let first = state.sleepers.first, first.deadline <= instant else {
        state.now = max(state.now, instant)
        return nil
      }
      state.now = max(state.now, first.deadline)
      return state.sleepers.removeFirst()
    }
  }
}
