public import FoundationShim

/// What a program is told about its life, in the order of `Docs/Lifecycle.md`.
///
/// Every method has a default that does nothing (and declines nothing). Where a class uses a default, all its
/// subclasses do: a subclass can only override what its base class declares itself.
///
/// A method that is `async` here can be written without `async`. Written with it, it is awaited: the life cycle goes on when it
/// returns, and its time counts towards the budget of the phase. In such a method a request of the life cycle throws
/// `waitsForItself`; make it in a task of its own.
@MainActor public protocol LifecycleDelegate: AnyObject {
  /// Sees why the program is launched, before anything is restored; answers what it declines.
  func willFinishLaunching(with options: Lifecycle.LaunchOptions) async -> Lifecycle.LaunchResponse

  /// Launching is over: the hierarchy is restored; may decline the URL, but the restoring no more.
  func didFinishLaunching(with options: Lifecycle.LaunchOptions) async -> Lifecycle.LaunchResponse

  /// The program is active; input follows.
  func didBecomeActive() async

  /// The program will be inactive; no more input comes.
  ///
  /// A program that is interrupted can save here: see ``Lifecycle/Budgets/resigningActive``.
  func willResignActive() async

  /// The program is in the background: the last reliable moment to keep something.
  func didEnterBackground() async

  /// The program will be in the foreground again.
  func willEnterForeground() async

  /// The program will end; not called when it is killed, quit by force, or suspended.
  ///
  /// Here no background task can be begun.
  func willTerminate() async

  /// The window may be seen from here on.
  func showWindow()

  /// The window is no longer seen.
  func hideWindow()

  /// Opens what the program was launched for, after restoring, or is asked to open while it runs; `false` declines.
  func open(_ url: URL) async -> Bool

  /// Handles an event for which the program was launched into, or woken in, the background.
  func handleBackgroundEvent(_ name: String) async

  /// Memory is short: free everything that can be made again.
  func didReceiveMemoryWarning()

  /// Something happened in the system, now or while suspended.
  func didReceive(_ notification: Lifecycle.Notification)

  /// Protected files will soon be unreadable.
  func protectedDataWillBecomeUnavailable()

  /// Protected files are readable again.
  func protectedDataDidBecomeAvailable()

  /// The program went against the rules of the life cycle.
  func didBreakRules(_ incident: Lifecycle.Incident)
}

extension LifecycleDelegate {
  /// Declines nothing.
  public func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse { .proceed }

  /// Declines nothing.
  public func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse { .proceed }

  /// Does nothing.
  public func didBecomeActive() {}

  /// Does nothing.
  public func willResignActive() {}

  /// Does nothing.
  public func didEnterBackground() {}

  /// Does nothing.
  public func willEnterForeground() {}

  /// Does nothing.
  public func willTerminate() {}

  /// Does nothing.
  public func showWindow() {}

  /// Does nothing.
  public func hideWindow() {}

  /// Declines.
  public func open(_ url: URL) -> Bool { false }

  /// Does nothing.
  public func handleBackgroundEvent(_ name: String) {}

  /// Does nothing.
  public func didReceiveMemoryWarning() {}

  /// Does nothing.
  public func didReceive(_ notification: Lifecycle.Notification) {}

  /// Does nothing.
  public func protectedDataWillBecomeUnavailable() {}

  /// Does nothing.
  public func protectedDataDidBecomeAvailable() {}

  /// Does nothing; the program's log has it too.
  public func didBreakRules(_ incident: Lifecycle.Incident) {}
}
