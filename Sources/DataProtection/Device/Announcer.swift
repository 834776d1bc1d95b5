import Synchronization

/// Delivers a device's notifications, one after the other in the order of the events, whoever causes them.
///
/// Whoever finds the queue idle empties it, on its own thread and holding no lock, so that an observer may do anything:
/// what it causes is queued behind what is being delivered.
final class Announcer: Sendable {
  /// Something to do in its turn.
  enum Step: Sendable {
    case post(ProtectedDataNotification)
    case run(@Sendable () -> Void)
  }

  private struct State {
    var steps: [Step] = []
    var isDelivering = false
    var nextObserver: UInt64 = 0
    var observers: [UInt64: @Sendable (ProtectedDataNotification) -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Puts steps at the end of the queue.
  func enqueue(_ steps: [Step]) {
    state.withLock { $0.steps += steps }
  }

  /// Empties the queue, unless somebody does already.
  func deliver() {
    guard begin() else { return }
    while let step = next() { perform(step) }
  }

  private func perform(_ step: Step) {
    switch step {
    case .run(let body): body()
    case .post(let notification):
      for number in state.withLock({ $0.observers.keys.sorted() }) {
        // One that was cancelled by an observer before it isn't called any more.
        let observer = state.withLock { $0.observers[number] }
        observer?(notification)
      }
    }
  }

  private func begin() -> Bool {
    state.withLock { state in
      guard !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
  }

  /// The next step; with the last one the queue is idle again.
  private func next() -> Step? {
    state.withLock { state in
      guard !state.steps.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.steps.removeFirst()
    }
  }

  /// Adds an observer; returns its number.
  func add(_ observer: @escaping @Sendable (ProtectedDataNotification) -> Void) -> UInt64 {
    state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return state.nextObserver
    }
  }

  /// Removes an observer.
  func remove(_ number: UInt64) {
    let removed = state.withLock { $0.observers.removeValue(forKey: number) }
    _ = removed
  }
}
