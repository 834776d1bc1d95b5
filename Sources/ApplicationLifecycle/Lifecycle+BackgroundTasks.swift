extension Lifecycle {
  /// How much of the background time is left; `nil` (not limited) outside the background.
  public var backgroundTimeRemaining: Duration? {
    backgroundStopwatch.map { max(.zero, budgets.backgroundTasks - $0.elapsed) }
  }

  /// The names of the open background tasks, in the order in which they began.
  public var openBackgroundTasks: [String] { tasks.open.map(\.task.name) }

  /// Asks for time in the background; end the task exactly once, in the handler at the latest.
  ///
  /// - Parameters:
  ///   - name: What the task is called in messages.
  ///   - expirationHandler: Runs when the time is over; a task that is open afterwards is a leak.
  public func beginBackgroundTask(
    named name: String, expirationHandler: @escaping @MainActor () -> Void
  ) throws(LifecycleError) -> BackgroundTask {
    guard state.isRunning else {
      throw LifecycleError(
        code: .notRunning, from: state, message: "The background task \(name) was begun while \(state).")
    }
    return tasks.begin(name: name, expirationHandler: expirationHandler)
  }

  /// Ends a background task; the last one to end lets the program be suspended.
  public func endBackgroundTask(_ task: BackgroundTask) throws(LifecycleError) {
    guard tasks.end(task) else {
      report(.backgroundTaskEndedTwice(name: task.name))
      throw LifecycleError(
        code: .backgroundTaskNotOpen,
        message: "The background task \(task.name) is not open: it was ended before, or ran out of time.")
    }
    if tasks.open.isEmpty, state == .background { suspendSoon() }
  }

  /// Does work under a background task of its own; when the time is over, the work is cancelled.
  public func withBackgroundTask<Result: Sendable>(
    named name: String, _ work: @escaping @MainActor () async throws -> Result
  ) async throws -> Result {
    let running = Task { try await work() }
    var opened: BackgroundTask?
    let end: @MainActor () -> Void = { [weak self] in
      guard let task = opened else { return }
      opened = nil
      try? self?.endBackgroundTask(task)
    }
    do {
      opened = try beginBackgroundTask(named: name) {
        running.cancel()
        end()
      }
    } catch {
      running.cancel()
      throw error
    }
    defer { end() }
    return try await withTaskCancellationHandler {
      try await running.value
    } onCancel: {
      running.cancel()
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

  private func expireBackgroundTime() {
    guard state == .background, !tasks.open.isEmpty else { return }
    for open in tasks.open { open.expirationHandler() }
    // A handler may have brought the program to its end.
    guard state == .background else { return }
    let leaked = tasks.open.map(\.task.name)
    if !leaked.isEmpty {
      report(.leakedBackgroundTasks(names: leaked))
      if budgets.enforcement == .kills {
        try? kill(.backgroundTimeExpired)
        return
      }
      tasks.endAll()
    }
    suspendSoon()
  }
}
