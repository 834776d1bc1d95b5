/// What observers of a life cycle see.
package enum LifecycleEvent: Sendable, Hashable {
  /// A step is about to run, in this reported state; for `enter` the state is the one left.
  case step(LifecycleStep, Lifecycle.State)

  /// A notification was delivered to the delegate.
  case notification(Lifecycle.Notification)

  /// A memory warning reached the delegate and the controllers.
  case memoryWarning

  /// The rules were broken.
  case incident(Lifecycle.Incident)

  /// The program ended, for this reason.
  case ended(TerminationReason)
}

extension Lifecycle {
  /// Something that a delegate was told, for every other object: see ``Lifecycle/observeCallbacks(_:)``.
  @nonexhaustive public enum Callback: Sendable, Hashable {
    /// The program is launched; nothing has been restored.
    case willFinishLaunching(Lifecycle.LaunchOptions)

    /// Launching is over: the hierarchy is restored.
    case didFinishLaunching(Lifecycle.LaunchOptions)

    /// The program is active; input follows.
    case didBecomeActive

    /// The program will be inactive.
    case willResignActive

    /// The program is in the background; it is preserved after this.
    case didEnterBackground

    /// The program will be in the foreground again.
    case willEnterForeground

    /// The program will end; it is preserved after this.
    case willTerminate

    /// Memory is short.
    case didReceiveMemoryWarning

    /// Protected files will soon be unreadable.
    case protectedDataWillBecomeUnavailable

    /// Protected files are readable again.
    case protectedDataDidBecomeAvailable

    /// Something happened in the system, now or while suspended; also what has a case of its own.
    case didReceive(Lifecycle.Notification)
  }
}

extension Lifecycle {
  /// Keeps an observer registered for as long as the observation lives.
  @MainActor public final class Observation {
    private weak var lifecycle: Lifecycle?
    private let id: UInt64

    init(of lifecycle: Lifecycle, id: UInt64) {
      self.lifecycle = lifecycle
      self.id = id
    }

    /// Ends the observation before its time.
    public func cancel() { lifecycle?.removeObserver(id) }

    isolated deinit { lifecycle?.removeObserver(id) }
  }
}
