internal import Dispatch
internal import Synchronization

/// The turns of the main actor that a coordinator asks for: what it has to do there waits here for the next one.
///
/// A turn is a job of the main actor, or a block in the program's own main loop, whichever comes first. Neither needs the
/// other. Where no turn comes, because the main thread is blocked, that is said once.
final class MainTurns: Sendable {
  private struct State {
    /// What waits, in the order in which it came, and how much has come so far.
    var waiting: [@MainActor @Sendable () -> Void] = []
    var added = 0
    /// Whether a job and a block are on their way.
    var (isJobAsked, isLoopAsked) = (false, false)
    /// How many turns there were.
    var had = 0
    /// How long to wait for one, and where to speak; nil while nothing is preserved by itself.
    var plan: (limit: Duration, log: RestorationLog)?
    var (isWatching, hasSpoken) = (false, false)
  }

  private enum Kind { case job, block }

  /// The program's main loop; nil where that runs the jobs of the main actor.
  private let loop: RestorationMainLoop?
  /// How long a job may take before the loop is asked.
  private let headStart: Duration
  private let state = Mutex(State())

  /// Whether the turn in progress is one of the program's main loop: nobody else may run jobs of the main actor.
  @MainActor private(set) var isInLoop = false
  /// Whether what waits may run now: a loop of the program's may turn while its code is asked for something.
  @MainActor var mayBegin: @MainActor () -> Bool = { true }

  /// Notices, waits and speaks; a thread of Swift's pool might be blocked, too.
  private static let watch = DispatchQueue(label: "state-restoration.turns")

  init(_ loop: RestorationMainLoop?, headStart: Duration = .zero) {
    self.loop = loop
    self.headStart = headStart
  }

  /// Speaks after two intervals without a turn; never with nil.
  func watch(_ interval: Duration?, log: RestorationLog) {
    // A loop that was given is there, and some take their time to show a window.
    let least = loop == nil ? Duration.milliseconds(200) : .seconds(5)
    state.withLock { $0.plan = interval.map { (max(($0.clampedForSleep * 2).clampedForSleep, least), log) } }
  }

  /// Runs a body in a later turn; bodies keep their order.
  func perform(_ body: @escaping @MainActor @Sendable () -> Void) {
    let watches = state.withLock { state in
      state.waiting.append(body)
      state.added += 1
      guard state.plan != nil, !state.isWatching, !state.hasSpoken else { return false }
      state.isWatching = true
      return true
    }
    ask()
    if watches { keepWatch() }
  }

  private func ask() {
    let (job, block) = state.withLock { state in
      defer { (state.isJobAsked, state.isLoopAsked) = (true, true) }
      return (!state.isJobAsked, !state.isLoopAsked)
    }
    if job { Task { @MainActor in take(.job) } }
    guard block, let loop else { return }
    if headStart == .zero {
      loop.perform { self.takeBlock() }
    } else {
      Self.watch.asyncAfter(deadline: .now() + headStart.seconds) {
        let isWaiting = self.state.withLock { state in
          if state.waiting.isEmpty { state.isLoopAsked = false }
          return !state.waiting.isEmpty
        }
        if isWaiting { loop.perform { self.takeBlock() } }
      }
    }
  }

  private func takeBlock() {
    // Traps where the loop runs its blocks on another thread.
    MainActor.assumeIsolated { take(.block) }
  }

  @MainActor private func take(_ kind: Kind) {
    let end = state.withLock { state in
      switch kind {
      case .job: state.isJobAsked = false
      case .block: state.isLoopAsked = false
      }
      return state.added
    }
    guard mayBegin() else {
      // The loop turns inside of what the program does for us; a moment later that may be over.
      return Self.watch.asyncAfter(deadline: .now() + 0.01) { self.ask() }
    }
    state.withLock { $0.had += 1 }
    let before = isInLoop
    isInLoop = kind == .block
    defer { isInLoop = before }
    while let body = next(before: end) { body() }
  }

  /// What came before the turn; what comes in it waits for another one.
  private func next(before end: Int) -> (@MainActor @Sendable () -> Void)? {
    state.withLock { state in
      guard !state.waiting.isEmpty, state.added - state.waiting.count < end else { return nil }
      return state.waiting.removeFirst()
    }
  }

  // MARK: - The watch

  /// Waits for a turn, on a thread of its own, for as long as one is asked for.
  private func keepWatch() {
    let waiting = state.withLock { state -> (limit: Duration, had: Int)? in
      guard let plan = state.plan, !state.waiting.isEmpty, !state.hasSpoken else {
        state.isWatching = false
        return nil
      }
      return (plan.limit, state.had)
    }
    guard let (limit, had) = waiting else { return }
    Self.watch.asyncAfter(deadline: .now() + limit.seconds) {
      self.speak(ifStillAt: had)
      self.keepWatch()
    }
  }

  private func speak(ifStillAt had: Int) {
    let log = state.withLock { state -> RestorationLog? in
      guard state.had == had, let plan = state.plan, !state.waiting.isEmpty else { return nil }
      state.hasSpoken = true
      return plan.log
    }
    log?.log(.warning, loop == nil ? Self.advice : Self.loopAdvice)
  }

  private static let advice =
    "nothing is preserved, because the main actor gets no turn: do not block the main thread, with readLine() or a main loop "
    + "of your own; the article “In a program that owns its main thread” says what to do"
  private static let loopAdvice =
    "nothing is preserved, because the main loop of the configuration does not run what it is given; "
    + "the article “In a program that owns its main thread” says how it is called"
}

extension Duration {
  /// The seconds, as libdispatch counts them.
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
