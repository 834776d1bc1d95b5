/// Does the steps of a transition that are not callbacks: restoring, preserving, snapshots, handles, locking.
///
/// ``Lifecycle`` calls it on the main actor and waits for each step before the next one begins.
@MainActor package protocol LifecycleWork: AnyObject {
  /// Does one step; called only for the steps that ``LifecycleStep/isWork`` names.
  func perform(_ step: LifecycleStep) async

  /// Everything that is told of a memory warning between the delegate and the observers, parents first.
  var memoryWarningResponders: [any Lifecycle.MemoryWarningResponder] { get }
}

extension Lifecycle {
  /// A controller or view that frees memory when it is short.
  @MainActor public protocol MemoryWarningResponder: AnyObject {
    /// Memory is short: free everything that can be made again.
    func didReceiveMemoryWarning()
  }
}

extension LifecycleStep {
  /// Whether the step is work for ``LifecycleWork``, rather than a callback or a change of state.
  package var isWork: Bool {
    switch self {
    case .showSnapshot, .restore, .removeSnapshot, .openHandles, .closeHandles, .preserve,
      .hideSensitiveContent,
      .takeSnapshot, .lockDevice, .revealSensitiveContent:
      true
    default: false
    }
  }
}
