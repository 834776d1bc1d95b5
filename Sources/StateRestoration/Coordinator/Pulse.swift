internal import Dispatch
internal import Synchronization

/// Calls its listeners at an interval; where the main actor has a thread of its own, twice a minute while that rests.
///
/// A thread of its own looks at the processor time that the other threads have used, and wakes none of them while the main
/// actor's has not run; see ``ProcessRest``. In a program whose `main` awaits, the main actor's jobs run on threads of a pool,
/// and a change may take less time than the pool needs to keep itself: such a program is asked each time.
final class Pulse: Sendable {
  /// The pulse of the process.
  static let shared = Pulse()

  /// A call that takes longer is waited for no more.
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
    var rest: ProcessRest?
    var thread: HostProcess.ThreadClock?
    while let interval {
      // Whoever has come wants the first call after an interval.
      if wake.wait(timeout: .now() + interval.dispatched) == .success {
        rest = nil
        continue
      }
      if rest?.lasts(to: .now(of: thread)) == true { continue }
      thread = call()
      _ = wake.wait(timeout: .now() + Self.settling)
      rest = thread?.isOfFirstThread == true ? ProcessRest(.now(of: thread)) : nil
    }
  }

  /// Calls all that listen, and returns when they are done, or take very long.
  ///
  /// - Returns: The clock of the thread on which the last one was done.
  private func call() -> HostProcess.ThreadClock? {
    let calls = DispatchGroup()
    let thread = ThreadOfCalls()
    for listener in state.withLock({ $0.listeners.values.map(\.self) }) {
      calls.enter()
      listener.body {
        thread.clock.withLock { $0 = .current }
        calls.leave()
      }
    }
    _ = calls.wait(timeout: .now() + Self.longest.dispatched)
    return thread.clock.withLock(\.self)
  }
}

/// The thread on which a listener was done.
private final class ThreadOfCalls: Sendable {
  let clock = Mutex<HostProcess.ThreadClock?>(nil)
}

/// What the process has used since its objects were asked, which tells whether it has changed anything.
///
/// Whatever the program's own thread uses counts: while it waits it uses nothing at all. The other threads are allowed a
/// little in every second, and only what is above that counts, added up. For libdispatch looks at its threads once a second, and these come
/// and go: added up, that would be taken for work, and be answered by asking, which is work again.
struct ProcessRest {
  /// The processor time that was used up to a moment.
  struct Usage {
    var time = ContinuousClock.now
    /// By the thread on which the program was asked.
    var own: Duration
    /// By all others but the one that looks.
    var others: Duration
  }

  /// The other threads have done something once more than this has come together.
  private static let limit = Duration.microseconds(100)
  /// The other threads may use so much in a second.
  private static let allowance = Duration.microseconds(150)
  /// It ends after so long: something may have changed in very little time.
  private static let longest = Duration.seconds(30)

  private let beginning: Usage
  private var last: Usage
  private var excess = Duration.zero

  /// Begins when the program was asked.
  init(_ usage: Usage) { (beginning, last) = (usage, usage) }

  /// Whether it goes on.
  mutating func lasts(to now: Usage) -> Bool {
    let allowed = Self.allowance * (last.time.duration(to: now.time) / .seconds(1))
    excess = max(.zero, excess + now.others - last.others - allowed)
    last = now
    return now.own == beginning.own && excess < Self.limit
      && beginning.time.duration(to: now.time) < Self.longest
  }
}

extension ProcessRest.Usage {
  /// That of this process.
  fileprivate static func now(of thread: HostProcess.ThreadClock?) -> Self {
    // A thread that has ended is one of the others.
    let own = thread?.time ?? .zero
    return Self(own: own, others: HostProcess.timeOfOtherThreads - own)
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
