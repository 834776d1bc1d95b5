internal import Dispatch
internal import Synchronization

/// Calls its listeners at an interval while the process is at work, and twice a minute while it rests.
///
/// A thread of its own looks at the processor time that the other threads have used, and wakes none of them as long as that
/// is next to nothing.
final class Pulse: Sendable {
  /// The pulse of the process.
  static let shared = Pulse()

  /// Less than this was used by a process that rests: threads that end, and timers.
  private static let rest = Duration.microseconds(300)
  /// A process that rests is asked as often: it may have changed something in less time than ``rest``.
  private static let longest = Duration.seconds(30)
  /// After so long the threads that worked for a call sleep again.
  private static let settling = DispatchTimeInterval.milliseconds(10)

  /// What is called, on a thread of its own; it says when it is done.
  typealias Body = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  private struct Listener {
    let interval: Duration
    let body: Body
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var count = 0
    var isRunning = false
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "state-restoration.pulse", qos: .utility)

  /// Calls a body, after the interval and then again and again, until the result is given to ``remove(_:)``.
  func add(every interval: Duration, _ body: @escaping Body) -> Int {
    let (number, isFirst) = state.withLock { state in
      state.count += 1
      state.listeners[state.count] = Listener(interval: max(interval, .milliseconds(1)).clampedForSleep, body: body)
      defer { state.isRunning = true }
      return (state.count, !state.isRunning)
    }
    if isFirst { queue.async { [self] in run() } } else { wake.signal() }
    return number
  }

  /// Calls a body no more.
  func remove(_ number: Int) { state.withLock { $0.listeners[number] = nil } }

  /// The shortest interval; nil, and the thread ends, when nobody listens.
  private var interval: Duration? {
    state.withLock { state in
      let shortest = state.listeners.values.lazy.map(\.interval).min()
      if shortest == nil { state.isRunning = false }
      return shortest
    }
  }

  private func run() {
    var (last, restedAt) = (ContinuousClock.now, Duration?.none)
    while let interval {
      // Whoever has come wants the first call after an interval.
      if wake.wait(timeout: .now() + interval.dispatched) == .success {
        restedAt = nil
        continue
      }
      if let restedAt, HostProcess.timeOfOtherThreads - restedAt < Self.rest, last.duration(to: .now) < Self.longest {
        continue
      }
      call()
      _ = wake.wait(timeout: .now() + Self.settling)
      (last, restedAt) = (.now, HostProcess.timeOfOtherThreads)
    }
  }

  /// Calls all that listen, and returns when they are done, or take very long.
  private func call() {
    let calls = DispatchGroup()
    for listener in state.withLock({ $0.listeners.values.map(\.self) }) {
      calls.enter()
      listener.body { calls.leave() }
    }
    _ = calls.wait(timeout: .now() + Self.longest.dispatched)
  }
}

/// Calls a body at an interval for as long as it is kept.
final class Repetition: Sendable {
  private let stop: @Sendable () -> Void

  /// On the clock of the machine the body is called less often while the process rests; see ``Pulse``.
  init(
    every interval: Duration, on clock: any Clock<Duration> & Sendable,
    _ body: @escaping Pulse.Body
  ) {
    if clock is ContinuousClock {
      let number = Pulse.shared.add(every: interval, body)
      stop = { Pulse.shared.remove(number) }
    } else {
      let task = Task {
        while !Task.isCancelled {
          try await clock.sleep(for: interval.clampedForSleep)
          await withCheckedContinuation { continuation in body { continuation.resume() } }
        }
      }
      stop = { task.cancel() }
    }
  }

  deinit { stop() }
}

extension Duration {
  fileprivate var dispatched: DispatchTimeInterval {
    // Ten years at most.
    .nanoseconds(Int(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000))
  }
}
