extension Lifecycle {
  /// Serves one request in its turn: the route's transitions, then what the request adds, then suspending.
  func serve(
    _ request: LifecycleRequest, preparing prepare: @MainActor () -> Void = {},
    after: @MainActor (_ life: UInt64) async throws(Lifecycle.RequestError) -> Void = { _ in }
  ) async throws(Lifecycle.RequestError) {
    if interruption?.isRunningHere == true { throw .waitingForItself(request, in: state) }
    await turns.begin()
    defer { turns.end() }
    let route = try machine.route(for: request)
    waitingURL = nil
    prepare()
    let life = life
    for transition in route {
      try await run(transition, life: life)
      // On the way to the foreground, between the callbacks of both transitions.
      if transition.from == .background, transition.to == .inactive { try await openWaitingURL(life: life) }
    }
    if route.isEmpty { try await openWaitingURL(life: life) }
    try await after(self.life)
    if request == .sleep, !route.contains(where: { $0.manner == .asleep }) {
      try await step(.lockDevice, life: self.life)
    }
    try await suspendIfIdle(life: life)
  }

  /// Suspends a program in the background that has no open task; the rest of a request, or one of its own.
  func suspendIfIdle(life: UInt64) async throws(Lifecycle.RequestError) {
    guard state == .background, self.life == life else { return }
    guard tasks.open.isEmpty else {
      machine.keepRunning()
      return startBackgroundTimer()
    }
    for transition in try machine.route(for: .suspend) { try await run(transition, life: life) }
  }

  /// Suspends later, when it is nobody's turn, if there is still no reason to run.
  func suspendSoon() {
    Task {
      await turns.begin()
      defer { turns.end() }
      try? await suspendIfIdle(life: life)
    }
  }

  private func run(_ transition: LifecycleTransition, life: UInt64) async throws(Lifecycle.RequestError) {
    guard let steps = machine.steps(of: transition) else {
      throw Lifecycle.RequestError.illegal(transition, exitsOnSuspend: machine.exitsOnSuspend)
    }
    isTerminating = transition.manner == .announced
    let watchdog = transition.budget.map { makeWatchdog($0) }
    defer { watchdog?.stop() }
    for step in steps {
      if case .enter(let next) = step {
        emit(.step(step, state))
        // An observer may have ended the program: then there is nothing to move any more.
        if self.life != life { throw endError() }
        _ = try machine.move(to: next, manner: transition.manner)
        didEnter(next)
      } else {
        try await self.step(step, life: life)
      }
      watchdog?.check()
      if self.life != life, step != .enter(.notRunning) { throw endError() }
    }
    watchdog?.finish()
    if self.life != life, transition.to != .notRunning { throw endError() }
  }

  private func step(_ step: LifecycleStep, life: UInt64) async throws(Lifecycle.RequestError) {
    switch step {
    case .restore, .showSnapshot, .removeSnapshot:
      if launchResponse.contains(.declinesRestoring) { return }
    case .openURL:
      guard let url = launchOptions?.url, !launchResponse.contains(.declinesURL) else { return }
      waitingURL = url
      return try await openWaitingURL(life: life)
    case .handleBackgroundEvent:
      guard case .backgroundEvent(let name) = launchOptions?.reason else { return }
      return try await handleBackgroundEvent(name, life: life)
    default: break
    }
    try announce(step, life: life)
    switch step {
    case .showWindow: delegate?.showWindow()
    case .hideWindow: delegate?.hideWindow()
    case .stopInput: isAcceptingInput = false
    case .startInput: startInput()
    case _ where step.isWork:
      guard let work else { return }
      try await interruptibly(life) { await work.perform(step) }
    default: try await interruptibly(life) { await self.callBack(step, life: life) }
    }
  }

  /// Calls the delegate and then the observers of a step, and waits for each.
  private func callBack(_ step: LifecycleStep, life: UInt64) async {
    let options = launchOptions ?? .icon
    switch step {
    case .willFinishLaunching:
      let response = await delegate?.willFinishLaunching(with: options) ?? .proceed
      guard self.life == life else { return }
      launchResponse = response
      if options.extent == .pristine { launchResponse.insert(.declinesRestoring) }
      await tell(.willFinishLaunching(options), life: life)
    case .didFinishLaunching:
      let response = await delegate?.didFinishLaunching(with: options) ?? .proceed
      guard self.life == life else { return }
      // Restoring is over: there is nothing left to decline.
      launchResponse.formUnion(response.intersection(.declinesURL))
      await tell(.didFinishLaunching(options), life: life)
    case .didBecomeActive:
      await delegate?.didBecomeActive()
      await tell(.didBecomeActive, life: life)
    case .willResignActive:
      await delegate?.willResignActive()
      await tell(.willResignActive, life: life)
    case .didEnterBackground:
      await delegate?.didEnterBackground()
      await tell(.didEnterBackground, life: life)
    case .willEnterForeground:
      await delegate?.willEnterForeground()
      await tell(.willEnterForeground, life: life)
    case .willTerminate:
      await delegate?.willTerminate()
      await tell(.willTerminate, life: life)
    case .deliverNotifications:
      for notification in queue.drain() where self.life == life {
        await deliver(notification) { await tell($0, life: life) }
      }
    default: break
    }
  }

  /// Opens what a request or the launch brought, if it was not opened yet.
  private func openWaitingURL(life: UInt64) async throws(Lifecycle.RequestError) {
    guard let url = waitingURL else { return }
    waitingURL = nil
    try announce(.openURL, life: life)
    try await interruptibly(life) { self.isOpened = await self.delegate?.open(url) ?? false }
  }

  /// Handles an event in the background.
  func handleBackgroundEvent(_ name: String, life: UInt64) async throws(Lifecycle.RequestError) {
    try announce(.handleBackgroundEvent, life: life)
    try await interruptibly(life) { await self.delegate?.handleBackgroundEvent(name) }
  }

  /// Does work that a kill leaves behind.
  private func interruptibly(
    _ life: UInt64, _ body: @escaping @MainActor () async -> Void
  ) async throws(Lifecycle.RequestError) {
    let interruption = InterruptibleWork()
    self.interruption = interruption
    await interruption.run(body)
    if self.interruption === interruption { self.interruption = nil }
    if self.life != life { throw endError() }
  }

  /// Tells the observers of a step; one of them may end the program, and then the step is not done.
  private func announce(_ step: LifecycleStep, life: UInt64) throws(Lifecycle.RequestError) {
    emit(.step(step, state))
    if self.life != life { throw endError() }
  }

  private func startInput() {
    isAcceptingInput = true
    // Input that arrives meanwhile waits for its turn.
    isHandlingKeptInput = true
    defer { isHandlingKeptInput = false }
    while isAcceptingInput, !keptInput.isEmpty { keptInput.removeFirst()() }
  }

  private func didEnter(_ state: Lifecycle.State) {
    switch state {
    case .background: backgroundStopwatch = Stopwatch(clock)
    case .inactive, .active, .suspended: stopBackgroundTimer()
    case .notRunning: finish(.requested)
    }
  }

  func finish(_ reason: TerminationReason) {
    life += 1
    isTerminating = false
    endReason = reason
    isAcceptingInput = false
    keptInput = []
    queue = NotificationQueue()
    tasks.endAll()
    stopBackgroundTimer()
    interruption?.interrupt()
    interruption = nil
    emit(.ended(reason))
  }

  private func endError() -> Lifecycle.RequestError {
    endReason == .watchdog
      ? Lifecycle.RequestError(code: .watchdog, message: "A budget ran out, and the watchdog ended the program.")
      : Lifecycle.RequestError(
        code: .killed, message: "The program ended (\(endReason ?? .killed)) before the request was done.")
  }

  // MARK: - Budgets

  private func makeWatchdog(_ kind: Lifecycle.Budgets.Kind) -> Watchdog {
    Watchdog(kind, budget: budgets[kind], clock: clock, log: log) { [weak self] watchdog in
      guard let self else { return }
      self.report(.overrun(kind, budget: watchdog.budget), isLogged: true)
      if self.budgets.enforcement == .kills { try? self.kill(.watchdog) }
    }
  }
}
