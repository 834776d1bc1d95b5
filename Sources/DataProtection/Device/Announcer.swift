import Synchronization

/// Delivers a device's notifications, one after the other in the order of the events, whoever causes them.
///
/// Whoever finds the queue idle empties it, on its own thread and holding no lock, so that an observer may do anything:
/// what it causes is queued behind what is being delivered.
final class Announcer: Sendable {
  private struct State {
    var notifications: [ProtectedDataNotification] = []
    var isDelivering = false
    var nextObserver: UInt64 = 0
    var observers: [UInt64: @Sendable (ProtectedDataNotification) -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Puts a notification at the end of the queue.
  func enqueue(_ notification: ProtectedDataNotification) {
    state.withLock { $0.notifications.append(notification) }
  }

  /// Empties the queue, unless somebody does already.
  func deliver() {
    guard begin() else { return }
    while let notification = next() { post(notification) }
  }

  private func post(_ notification: ProtectedDataNotification) {
    for number in state.withLock({ $0.observers.keys.sorted() }) {
      // One that was cancelled by an observer before it isn't called any more.
      let observer = state.withLock { $0.observers[number] }
      observer?(notification)
    }
  }

  private func begin() -> Bool {
    state.withLock { state in
      guard !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
  }

  /// The next notification; with the last one the queue is idle again.
  private func next() -> ProtectedDataNotification? {
    state.withLock { state in
      guard !state.notifications.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.notifications.removeFirst()
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
