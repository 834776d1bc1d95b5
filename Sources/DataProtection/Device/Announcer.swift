import Synchronization

/// Delivers a device's notifications, one after the other in the order of the events, whoever causes them.
///
/// Whoever finds the queue idle empties it, on its own thread and holding no lock, so that an observer may do anything:
/// its own notifications are queued behind the one in delivery.
final class Announcer: Sendable {
  private struct Observer {
    let number: UInt64
    let body: @Sendable (ProtectedDevice.Notification) -> Void
  }

  private struct State {
    var notifications: [ProtectedDevice.Notification] = []
    var isDelivering = false
    var nextObserver: UInt64 = 0
    /// In the order in which they came; an array, as a dictionary's type is dear to make in a process that has just begun.
    var observers: [Observer] = []
  }

  private let state = Mutex(State())

  /// Puts a notification at the end of the queue.
  func enqueue(_ notification: ProtectedDevice.Notification) {
    state.withLock { $0.notifications.append(notification) }
  }

  /// Empties the queue, unless somebody does already.
  func deliver() {
    guard begin() else { return }
    while let notification = next() { post(notification) }
  }

  private func post(_ notification: ProtectedDevice.Notification) {
    for number in state.withLock({ $0.observers.map(\.number) }) {
      // One that was cancelled by an observer before it isn't called any more.
      let observer = state.withLock { $0.observers.first { $0.number == number } }
      observer?.body(notification)
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
  private func next() -> ProtectedDevice.Notification? {
    state.withLock { state in
      guard !state.notifications.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.notifications.removeFirst()
    }
  }

  /// Adds an observer; returns its number.
  func add(_ observer: @escaping @Sendable (ProtectedDevice.Notification) -> Void) -> UInt64 {
    state.withLock { state in
      state.nextObserver += 1
      state.observers.append(Observer(number: state.nextObserver, body: observer))
      return state.nextObserver
    }
  }

  /// Removes an observer.
  func remove(_ number: UInt64) {
    // What it holds may do anything when it goes: let it go after the lock.
    let removed: Observer? = state.withLock { state in
      guard let index = state.observers.firstIndex(where: { $0.number == number }) else { return nil }
      return state.observers.remove(at: index)
    }
    _ = removed
  }
}
