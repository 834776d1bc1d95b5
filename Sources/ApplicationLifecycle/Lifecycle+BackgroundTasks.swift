extension Lifecycle {
  /// How much of the background time is left; `nil` (not limited) outside the background.
  public var backgroundTimeRemaining: Duration? {
    backgroundStopwatch.map { max(.zero, budgets.backgroundTasks - $0.elapsed) }
  }

  /// The names of the open background tasks, in the order in which they began.
  package var openBackgroundTasks: [String] { tasks.open.map(\.task.name) }

  /// Asks for time in the background; end the task exactly once, in the handler at the latest.
  ///
  /// - Parameters:
  ///   - name: What the task is called in messages.
  ///   - expirationHandler: Runs when the time is over; a task that is open afterwards is a leak.
  /// - Throws: `terminating` from `willTerminate` on: the process ends as soon as the last save is through.
  ///   `backgroundTimeOver` when the background time is used up; another code when the program does not run.
  public func beginBackgroundTask(
    named name: String, expirationHandler: @escaping @MainActor () -> Void
  ) throws(Lifecycle.RequestError) -> Lifecycle.BackgroundTask {
    guard state.isRunning else {
      throw Lifecycle.RequestError(
        code: .notRunning, from: state, message: "The background task \(name) was begun while \(state).")
    }
    guard !isTerminating else {
      throw Lifecycle.RequestError(
        code: .terminating, from: state,
        message: "The background task \(name) was begun while the program is ending: finish the work in willTerminate, "
          + "or begin the task in didEnterBackground.")
    }
    guard state != .background || backgroundTimeRemaining != .zero else {
      throw Lifecycle.RequestError(
        code: .backgroundTimeOver, from: state,
        message: "The background task \(name) was begun when the time for background tasks was over.")
    }
    return tasks.begin(name: name, expirationHandler: expirationHandler)
  }

  /// Ends a background task; the last one to end lets the program be suspended.
  public func endBackgroundTask(_ task: Lifecycle.BackgroundTask) throws(Lifecycle.RequestError) {
    guard tasks.end(task) else {
      report(.backgroundTaskEndedTwice(name: task.name))
      throw Lifecycle.RequestError(
        code: .backgroundTaskNotOpen,
        message: "The background task \(task.name) is not open: it was ended before, or ran out of time.")
    }
    if tasks.open.isEmpty, state == .background { suspendSoon() }
  }

  /// Does work under a background task of its own; when the time is over, the work is cancelled.
  public func withBackgroundTask<Result: Sendable>(
    named name: String, _ work: @escaping @MainActor () async throws -> Result
  ) async throws -> Result {
    var opened: Lifecycle.BackgroundTask?
    var running: Task<Result, any Error>?
    let end: @MainActor () -> Void = { [weak self] in
      guard let task = opened else { return }
      opened = nil
      try? self?.endBackgroundTask(task)
    }
    // Before the work: a program that gets no time must not begin it.
    opened = try beginBackgroundTask(named: name) {
      running?.cancel()
      end()
    }
    defer { end() }
    let task = Task { try await work() }
    running = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  func startBackgroundTimer() {
    guard backgroundTimer == nil, let stopwatch = backgroundStopwatch else { return }
    let limit = budgets.backgroundTasks
    backgroundTimer = Task.detached { [weak self] in
      do { try await stopwatch.sleep(untilElapsed: limit) } catch { return }
      await self?.expireBackgroundTime()
    }
  }

  func stopBackgroundTimer() {
    backgroundTimer?.cancel()
    backgroundTimer = nil
    backgroundStopwatch = nil
  }

  /// Runs the handlers when it is nobody's turn: not in the middle of terminating or of coming to the foreground.
  private func expireBackgroundTime() async {
    await turns.begin()
    defer { turns.end() }
    // A request under way may have left the background, or entered it anew.
    guard state == .background, !tasks.open.isEmpty, backgroundTimeRemaining == .zero else { return }
    let life = life
    // One handler may end another one's task, or bring the program to its end.
    for open in tasks.open where self.life == life && tasks.isOpen(open.task) { open.expirationHandler() }
    guard self.life == life else { return }
    let leaked = tasks.open.map(\.task.name)
    if !leaked.isEmpty {
      report(.leakedBackgroundTasks(names: leaked))
      if self.life == life, budgets.enforcement == .kills { try? kill(.backgroundTimeExpired) }
      tasks.endAll()
    }
    try? await suspendIfIdle(life: life)
  }
}
