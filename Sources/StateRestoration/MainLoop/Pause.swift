/// A time that passes elsewhere, before something is done in a turn of the main actor.
@MainActor final class Pause {
  private var sleep: Task<Void, Never>?
  private var isCancelled = false

  /// Begins it; once.
  func begin(
    _ length: Duration, _ clock: any Clock<Duration> & Sendable, in turns: MainTurns,
    then body: @escaping @MainActor () -> Void
  ) {
    sleep = Task.detached {
      try? await clock.sleep(for: length)
      guard !Task.isCancelled else { return }
      turns.perform { if !self.isCancelled { body() } }
    }
  }

  /// Has nothing done after it.
  func cancel() {
    isCancelled = true
    sleep?.cancel()
  }
}
