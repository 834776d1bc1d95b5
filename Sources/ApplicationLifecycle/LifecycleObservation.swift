/// What observers of a life cycle see.
package enum LifecycleEvent: Sendable, Hashable {
  /// A step is about to run, in this reported state; for `enter` the state is the one left.
  case step(LifecycleStep, LifecycleState)

  /// A notification was delivered to the delegate.
  case notification(SystemNotification)

  /// A memory warning reached the delegate and the controllers.
  case memoryWarning

  /// The rules were broken.
  case incident(LifecycleIncident)

  /// The program ended, for this reason.
  case ended(TerminationReason)
}

/// Keeps an observer registered for as long as the observation lives.
@MainActor public final class LifecycleObservation {
  private weak var lifecycle: Lifecycle?
  private let id: UInt64

  init(of lifecycle: Lifecycle, id: UInt64) {
    self.lifecycle = lifecycle
    self.id = id
  }

  /// Ends the observation before its time.
  package func cancel() { lifecycle?.removeObserver(id) }

  isolated deinit { lifecycle?.removeObserver(id) }
}
