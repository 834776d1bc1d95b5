/// Turns the events of a platform or a toolkit into requests to a life cycle.
///
/// ``SignalDriver`` does it for terminal programs. A toolkit's adapter conforms and maps its own events:
///
/// | The toolkit says | The driver asks for |
/// |---|---|
/// | the window has the focus again | `becomeActive` or, when it was hidden, `enterForeground` |
/// | the window lost the focus, a system dialog is open | `resignActive` |
/// | the window was minimised or hidden | `enterBackground` |
/// | the session is locked or the machine sleeps | `sleep` |
/// | the session ends, the last window was closed | `terminate` |
/// | a key, a click | `receiveInput` |
///
/// A request that is not legal in the present state throws and changes nothing: a driver may make it anyway.
@MainActor public protocol LifecycleDriver: AnyObject {
  /// Begins to turn events into requests; the driver is retained by the caller.
  func start(driving lifecycle: Lifecycle)

  /// Ends it; events go where they went before.
  func stop()
}
