/// Counts how often asynchronous restoring was extended.
struct ExtensionCount {
  /// Extensions that are not completed.
  var count = 0
  /// Whether the time limit has passed for those that are still open.
  var isTimedOut = false
  /// Runs until the time limit.
  var limit: Pause?
}

extension RestorationCoordinator {
  /// Extends restoring beyond the turn: until it is completed, a crash counts as a crash of restoring.
  ///
  /// Every call must be balanced by one of ``completeStateRestoration()``. After
  /// ``RestorationConfiguration/extensionTimeLimit`` the guard ends by itself and late answers are ignored, until restoring is
  /// extended again or another restoration begins.
  ///
  /// May be called from a factory or a hook, or later. When nothing was restored in this run there is nothing to guard.
  public func extendStateRestoration() {
    extensions.count += 1
    guard extensions.count == 1 || extensions.isTimedOut else { return }
    extensions.isTimedOut = false
    guard restored != nil, lateObjects == nil else { return }
    startExtensionLimit()
    if let attempt { attempt.note(node: nil) } else { beginMovingAttempt() }
  }

  /// Completes one extension; the last one ends restoring.
  ///
  /// - Precondition: There is an extension that is not completed.
  public func completeStateRestoration() {
    precondition(
      extensions.count > 0,
      "completeStateRestoration() of the window “\(window)” was called more often than extendStateRestoration().")
    extensions.count -= 1
    guard extensions.count == 0 else { return }
    // Nobody answers late any more: objects registered from now on were not waited for.
    stopExtensionLimit()
    if lateObjects == nil { endAttempt() }
  }

  /// Extends restoring while a body runs, and completes it however the body ends.
  public func withRestorationExtended<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    extendStateRestoration()
    defer { completeStateRestoration() }
    if attempt == nil { await moveAttempt() }
    return try await body()
  }

  /// Says that the program ends in order, although restoring may still be extended: that is no crash.
  ///
  /// ``RestorableApplication`` and ``RestorationSession`` say it by themselves; a program that has a life cycle of its own calls
  /// this before it ends. A death from now on is not put down to restoring, until something is restored again.
  public func announceEnd() {
    hasAnnouncedEnd = true
    attempt?.pause()
  }

  /// Whether restoring goes on asynchronously.
  package var isRestorationExtended: Bool { extensions.count > 0 && !extensions.isTimedOut }

  /// Starts the time limit of what is extended, unless it runs.
  func startExtensionLimit() {
    guard extensions.count > 0, restored != nil, extensions.limit == nil else { return }
    let limit = Pause()
    extensions.limit = limit
    limit.begin(configuration.extensionTimeLimit.clampedForSleep, configuration.clock, in: turns) { [weak self] in
      self?.extensionDidTimeOut()
    }
  }

  /// Stops the time limit, as if it had never passed.
  func stopExtensionLimit() {
    extensions.limit?.cancel()
    (extensions.limit, extensions.isTimedOut) = (nil, false)
  }

  private func extensionDidTimeOut() {
    guard extensions.count > 0 else { return }
    extensions.isTimedOut = true
    extensions.limit = nil
    lastReport?.remarks.append(.extensionTimedOut)
    log.log(.warning, "asynchronous restoring took too long; later answers are ignored")
    endAttempt()
    delegate?.coordinatorExtensionDidTimeOut(self)
  }
}
