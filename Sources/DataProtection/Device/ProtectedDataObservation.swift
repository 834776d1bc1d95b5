/// Keeps an observer of a device registered until it is cancelled or goes.
package final class ProtectedDataObservation: Sendable {
  private let announcer: Announcer
  private let number: UInt64

  init(_ announcer: Announcer, number: UInt64) {
    self.announcer = announcer
    self.number = number
  }

  deinit {
    announcer.remove(number)
  }

  /// Ends the observation; a call that is under way on another thread finishes.
  package func cancel() {
    announcer.remove(number)
  }
}
