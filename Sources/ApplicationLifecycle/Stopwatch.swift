/// Time passed on any clock of durations, without naming the clock's type.
struct Stopwatch: Sendable {
  private let read: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    self.read = { start.duration(to: clock.now) }
    // The system's clocks stop the program when they can't count to the end, as with `.seconds(Int64.max)` for "never".
    let longest = Duration.seconds(10 * 365 * 86_400)
    self.sleep = { try await clock.sleep(until: start.advanced(by: min($0, longest)), tolerance: nil) }
  }

  /// The time since the stopwatch was made.
  var elapsed: Duration { read() }

  /// Sleeps until so much time has passed since the stopwatch was made, however late the sleep began.
  func sleep(untilElapsed duration: Duration) async throws { try await sleep(duration) }
}
