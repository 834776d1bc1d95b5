/// Time passed on any clock of durations, without naming the clock's type.
struct Stopwatch: Sendable {
  private let read: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    self.read = { start.duration(to: clock.now) }
    self.sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// The time since the stopwatch was made.
  var elapsed: Duration { read() }

  /// Sleeps until so much time has passed since the stopwatch was made, however late the sleep began.
  func sleep(untilElapsed duration: Duration) async throws { try await sleep(duration) }
}
