public import FoundationShim

/// Runs the machine of one program on the main actor.
///
/// Requests are served one after another in the order they were made. Each
/// throws `illegalTransition` when the machine has no route, and `killed` or `watchdog` when the program ended before the
/// request was done. A request that the work of another one waits for would wait for ever, and throws `waitsForItself`.
/// Delegate and work are not retained.
@MainActor public final class Lifecycle {
  /// The delegate that gets the callbacks; not retained.
  public weak var delegate: (any LifecycleDelegate)?

  /// The worker for the steps that are not callbacks; not retained.
  package weak var work: (any LifecycleWork)?

  /// The budgets, and the consequence when one runs out.
  package let budgets: Lifecycle.Budgets

  /// Why the program was launched; `nil` before.
  package internal(set) var launchOptions: Lifecycle.LaunchOptions?

  /// What the delegate declined when it saw the options.
  package internal(set) var launchResponse: Lifecycle.LaunchResponse = .proceed

  /// Why the program ended, if it has.
  package internal(set) var endReason: TerminationReason?

  /// Whether input is handled at once; kept otherwise.
  package internal(set) var isAcceptingInput = false

  /// Where incidents go at once, from any thread; an application takes that of the program when there is none.
  package var log: LifecycleLog?

  let clock: any Clock<Duration>
  var tasks = BackgroundTasks()
  var backgroundStopwatch: Stopwatch?
  var backgroundTimer: Task<Void, Never>?
  var machine: LifecycleMachine
  var queue = NotificationQueue()
  var keptInput: [@MainActor () -> Void] = []
  var isHandlingKeptInput = false
  private var isBeingKilled = false
  /// Whether the program is told of its end, or about to be.
  var isTerminating = false
  /// What a running program is asked to open, until the delegate has it.
  var waitingURL: URL?
  /// What the delegate answered.
  var isOpened = false
  private var observers: [(id: UInt64, handler: @MainActor (LifecycleEvent) -> Void)] = []
  private var callbackObservers: [(id: UInt64, handler: @MainActor (Lifecycle.Callback) async -> Void)] = []
  private var lastObserver: UInt64 = 0
  var turns = TurnQueue()
  /// Counts lives, so that a request notices that its program has ended in the meantime.
  var life: UInt64 = 0
  var interruption: InterruptibleWork?

  /// Makes the life cycle of a program that has not been launched.
  ///
  /// - Parameters:
  ///   - exitsOnSuspend: Whether leaving the foreground ends the program.
  ///   - budgets: How long launching, leaving and ending may take.
  public convenience init(exitsOnSuspend: Bool = false, budgets: Lifecycle.Budgets = Lifecycle.Budgets()) {
    self.init(exitsOnSuspend: exitsOnSuspend, budgets: budgets, clock: ContinuousClock())
  }

  /// Makes a life cycle on a clock of the caller's; for tests.
  ///
  /// - Parameters:
  ///   - exitsOnSuspend: Whether leaving the foreground ends the program.
  ///   - budgets: How long launching, leaving and ending may take.
  ///   - clock: The clock of the budgets and of the background time.
  ///   - log: Where incidents go at once, from any thread.
  package init(
    exitsOnSuspend: Bool = false, budgets: Lifecycle.Budgets = Lifecycle.Budgets(), clock: any Clock<Duration>,
    log: LifecycleLog? = nil
  ) {
    self.machine = LifecycleMachine(exitsOnSuspend: exitsOnSuspend)
    self.budgets = budgets
    self.clock = clock
    self.log = log
  }

  /// The state that is reported now.
  public var state: Lifecycle.State { machine.state }

  /// Whether leaving the foreground ends the program.
  package var exitsOnSuspend: Bool { machine.exitsOnSuspend }

  // MARK: - Requests

  /// Launches into the foreground up to `active`, or into the background if the options name an event.
  public func launch(_ options: Lifecycle.LaunchOptions = .icon) async throws(Lifecycle.RequestError) {
    try await serve(
      options.isBackground ? .launchInBackground : .launch,
      preparing: {
        self.launchOptions = options
        self.launchResponse = .proceed
        self.endReason = nil
      })
  }

  /// An interruption is over.
  public func becomeActive() async throws(Lifecycle.RequestError) { try await serve(.becomeActive) }

  /// An interruption begins: a dialog of the system, for example.
  public func resignActive() async throws(Lifecycle.RequestError) { try await serve(.resignActive) }

  /// Leaves the foreground; returns when the program is suspended, or kept running by background tasks.
  public func enterBackground() async throws(Lifecycle.RequestError) { try await serve(.enterBackground) }

  /// Comes to the foreground, from suspended too, up to `active`.
  public func enterForeground() async throws(Lifecycle.RequestError) { try await serve(.enterForeground) }

  /// Wakes a suspended program for an event, without a window; it is suspended again afterwards.
  public func wake(for event: String) async throws(Lifecycle.RequestError) {
    try await serve(
      .wake,
      after: { (life: UInt64) async throws(Lifecycle.RequestError) in
        try await self.handleBackgroundEvent(event, life: life)
      })
  }

  /// Opens a URL in a program that runs; one in the background comes to the foreground, and opens it before it is active.
  ///
  /// The URL of a launch is one of its ``Lifecycle/LaunchOptions``.
  /// - Returns: The delegate's answer; false when it declined.
  public func open(_ url: URL) async throws(Lifecycle.RequestError) -> Bool {
    var isOpened = false
    try await serve(
      .open,
      preparing: {
        self.waitingURL = url
        self.isOpened = false
      },
      after: { (_: UInt64) in isOpened = self.isOpened })
    return isOpened
  }

  /// The device goes to sleep: leaves the foreground and locks.
  public func sleep() async throws(Lifecycle.RequestError) { try await serve(.sleep) }

  /// Ends the program, with `willTerminate` if it runs.
  public func terminate() async throws(Lifecycle.RequestError) { try await serve(.terminate) }

  /// Ends the program at once and without notice, in the middle of any request.
  package func kill(_ reason: TerminationReason = .killed) throws(Lifecycle.RequestError) {
    _ = try machine.route(for: .kill)
    // Asked for by an observer of these very steps: it is ending already, for the first reason.
    if isBeingKilled { return }
    isBeingKilled = true
    defer { isBeingKilled = false }
    let steps =
      machine.steps(of: LifecycleTransition(from: state, to: .notRunning, manner: .unannounced)) ?? []
    for step in steps {
      emit(.step(step, state))
      if step == .stopInput { isAcceptingInput = false }
    }
    _ = try machine.move(to: .notRunning, manner: .unannounced)
    finish(reason)
  }

  // MARK: - Input, notifications, memory

  /// Handles input now, or keeps it until the program accepts input; kept input is handled in order.
  public func receiveInput(_ input: @escaping @MainActor () -> Void) {
    guard state != .notRunning else { return }
    if isAcceptingInput, !isHandlingKeptInput { input() } else { keptInput.append(input) }
  }

  /// Delivers a notification, or queues it while the program is suspended.
  public func post(_ notification: Lifecycle.Notification) {
    switch state {
    case .notRunning: break
    case .suspended: queue.add(notification)
    case .inactive, .active, .background: deliverNow(notification)
    }
  }

  /// Warns the delegate, the controllers and the observers; a suspended program gets no warning.
  public func receiveMemoryWarning() {
    guard state.isRunning else { return }
    let life = life
    delegate?.didReceiveMemoryWarning()
    for responder in work?.memoryWarningResponders ?? [] where self.life == life {
      responder.didReceiveMemoryWarning()
    }
    guard self.life == life else { return }
    emit(.memoryWarning)
    tellSoon(.didReceiveMemoryWarning)
  }

  /// Registers an observer of every step, notification, warning and incident, for as long as the result lives.
  package func observe(_ handler: @escaping @MainActor (LifecycleEvent) -> Void) -> Lifecycle.Observation {
    lastObserver += 1
    observers.append((lastObserver, handler))
    return Lifecycle.Observation(of: self, id: lastObserver)
  }

  /// Calls back at every memory warning, after the delegate and the controllers, for as long as the result lives.
  public func observeMemoryWarnings(_ handler: @escaping @MainActor () -> Void) -> Lifecycle.Observation {
    observe { if $0 == .memoryWarning { handler() } }
  }

  /// Calls back at everything that the delegate is told, after the delegate, for as long as the result lives.
  ///
  /// Observers hear in the order in which they registered. What a step of the life cycle tells is awaited, one observer after
  /// the other, within the budget of the phase; there a request of the life cycle throws `waitsForItself`. A notification or
  /// a memory warning that comes while the program runs is told at once and not awaited.
  ///
  /// ```swift
  /// observation = lifecycle.observeCallbacks { callback in
  ///   if callback == .didEnterBackground { await cache.flush() }
  /// }
  /// ```
  ///
  /// - Parameter handler: Called on the main actor. Hold whoever keeps the result weakly in it.
  public func observeCallbacks(
    _ handler: @escaping @MainActor (Lifecycle.Callback) async -> Void
  ) -> Lifecycle.Observation {
    lastObserver += 1
    callbackObservers.append((lastObserver, handler))
    return Lifecycle.Observation(of: self, id: lastObserver)
  }

  func removeObserver(_ id: UInt64) {
    observers.removeAll { $0.id == id }
    callbackObservers.removeAll { $0.id == id }
  }

  /// Tells the observers, and waits for each; those that have gone and those of a program that has ended hear nothing.
  func tell(_ callback: Lifecycle.Callback, life: UInt64) async {
    for observer in callbackObservers where self.life == life && isRegistered(observer.id) {
      await observer.handler(callback)
    }
  }

  /// Tells the observers at once, up to the first point at which one waits.
  func tellSoon(_ callback: Lifecycle.Callback) {
    for observer in callbackObservers where isRegistered(observer.id) {
      Task.immediate { await observer.handler(callback) }
    }
  }

  private func isRegistered(_ id: UInt64) -> Bool { callbackObservers.contains { $0.id == id } }

  func report(_ incident: Lifecycle.Incident, isLogged: Bool = false) {
    if !isLogged { log?.write(incident) }
    delegate?.didBreakRules(incident)
    emit(.incident(incident))
  }

  func emit(_ event: LifecycleEvent) {
    for observer in observers { observer.handler(event) }
  }

  /// Tells the delegate, and one after the other what the observers are to be told.
  func deliver(_ notification: Lifecycle.Notification, _ tellObservers: (Lifecycle.Callback) async -> Void) async {
    if let callback = tellOfProtectedData(notification) { await tellObservers(callback) }
    delegate?.didReceive(notification)
    emit(.notification(notification))
    await tellObservers(.didReceive(notification))
  }

  private func deliverNow(_ notification: Lifecycle.Notification) {
    if let callback = tellOfProtectedData(notification) { tellSoon(callback) }
    delegate?.didReceive(notification)
    emit(.notification(notification))
    tellSoon(.didReceive(notification))
  }

  /// Tells the delegate of protected data, if the notification is about that.
  private func tellOfProtectedData(_ notification: Lifecycle.Notification) -> Lifecycle.Callback? {
    guard notification.kind == .protectedData, case .change(_, let value) = notification.content else { return nil }
    if value == "available" {
      delegate?.protectedDataDidBecomeAvailable()
      return .protectedDataDidBecomeAvailable
    }
    delegate?.protectedDataWillBecomeUnavailable()
    return .protectedDataWillBecomeUnavailable
  }
}
