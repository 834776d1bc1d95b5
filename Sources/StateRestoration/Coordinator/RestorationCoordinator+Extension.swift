internal import DataProtection

/// Counts how often asynchronous restoring was extended.
struct ExtensionCount {
  /// Extensions that are not completed.
  var count = 0
  /// Whether the time limit has passed for those that are still open.
  var isTimedOut = false
  /// Runs until the time limit.
  var limit: Task<Void, Never>?
}

extension RestorationCoordinator {
  /// Extends restoring beyond the turn: until it is completed, a crash counts as a crash of restoring (R6.3).
  ///
  /// Every call must be balanced by one of ``completeStateRestoration()``. After
  /// ``RestorationConfiguration/extensionTimeLimit`` the guard ends by itself and late answers are ignored.
  ///
  /// Called before the end of restoring, from a factory or a hook, say, it has no gap. Called later it marks the state
  /// anew, which takes a write to the disk: ``withRestorationExtended(_:)`` waits for that before the body runs. When
  /// nothing was restored in this run there is nothing to guard.
  public func extendStateRestoration() {
    guard beginExtension() else { return }
    Task { await markExtension() }
  }

  /// Counts an extension; says whether the state has to be marked anew, because restoring had ended already.
  private func beginExtension() -> Bool {
    extensions.count += 1
    guard extensions.count == 1 else { return false }
    extensions.isTimedOut = false
    guard phase == .ready else { return false }
    startExtensionLimit()
    return attempt == nil && restoredSubject != nil
  }

  /// Marks durably that restoring goes on.
  private func markExtension() async {
    guard attempt == nil, extensions.count > 0, let subject = restoredSubject else { return }
    let store = store
    do {
      // A save that was under way may have put another archive in its place, which nobody has said here yet.
      let begun = try await worker.run { try ($0.hasReplacedRestored ? .newest(in: store) : subject).begin() }
      begun.note(node: .max)
      if extensions.count > 0, !extensions.isTimedOut, attempt == nil { attempt = begun } else { begun.finish() }
    } catch {
      log.log(.warning, "asynchronous restoring is not guarded: \(error)")
    }
  }

  /// Has what the next launch will restore guarded, when a whole state has taken the restored one's place.
  func restoredStateWasReplaced(by kind: PreservationReceipt.Kind) async {
    // What is pending can't be marked beside another place's state: until the unlock that stays marked.
    guard let former = restoredSubject, kind == .whole || !former.isAside else { return }
    restoredSubject = .newest(in: store)
    // An attempt at a state in its own place follows what is saved there.
    guard former.isAside, extensions.count > 0, phase != .restoring, let attempt else { return }
    self.attempt = nil
    attempt.finish()
    await markExtension()
  }

  /// Completes one extension; the last one ends restoring.
  ///
  /// - Precondition: There is an extension that is not completed.
  public func completeStateRestoration() {
    precondition(
      extensions.count > 0,
      "completeStateRestoration() of the scene “\(session)” was called more often than extendStateRestoration().")
    extensions.count -= 1
    guard extensions.count == 0 else { return }
    extensions.limit?.cancel()
    extensions.limit = nil
    // Nobody answers late any more: who turns up from now on was not waited for.
    extensions.isTimedOut = false
    if phase != .restoring { finishAttempt() }
  }

  /// Extends restoring while a body runs, and completes it however the body ends.
  public func withRestorationExtended<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if beginExtension() { await markExtension() }
    defer { completeStateRestoration() }
    return try await body()
  }

  /// Whether restoring goes on asynchronously.
  public var isRestorationExtended: Bool { extensions.count > 0 && !extensions.isTimedOut }

  func startExtensionLimit() {
    guard extensions.limit == nil else { return }
    let clock = configuration.clock
    let limit = configuration.extensionTimeLimit.clampedForSleep
    extensions.limit = Task { [weak self] in
      try? await clock.sleep(for: limit)
      guard !Task.isCancelled else { return }
      self?.extensionDidTimeOut()
    }
  }

  private func extensionDidTimeOut() {
    guard extensions.count > 0 else { return }
    extensions.isTimedOut = true
    extensions.limit = nil
    lastReport?.remarks.append(.extensionTimedOut)
    log.log(.warning, "asynchronous restoring took too long; later answers are ignored")
    finishAttempt()
    recovery?.coordinatorExtensionDidTimeOut(self)
  }
}
