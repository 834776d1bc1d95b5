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
  /// May be called from a factory or a hook, or later. The guard begins at once against a crash; against a power cut, when
  /// restoring had ended, only when the disk has taken it: ``withRestorationExtended(_:)`` waits for that before its body runs.
  /// When nothing was restored in this run there is nothing to guard.
  public func extendStateRestoration() {
    guard beginExtension() else { return }
    Task { await settleExtension() }
  }

  /// Counts an extension; says whether restoring goes on with it that had ended already.
  private func beginExtension() -> Bool {
    extensions.count += 1
    guard extensions.count == 1 else { return false }
    extensions.isTimedOut = false
    guard phase == .ready else { return false }
    startExtensionLimit()
    attempt?.note(node: nil)
    return true
  }

  /// Makes durable that restoring goes on.
  private func settleExtension() async {
    if attempt == nil { await guardRestored() }
  }

  /// Marks what was restored, where that has no marker: none could be made, or what was restored has another place now.
  func guardRestored() async {
    guard attempt == nil, let subject = restoredSubject else { return }
    let discardCount = discardCount
    do {
      let begun = try await worker.run { _ in try subject.begin() }
      guard attempt == nil, discardCount == self.discardCount else { return begun.end() }
      attempt = begun
      if !isRestorationExtended { restAttempt() }
    } catch {
      log.log(.warning, "who turns up after restoring is not guarded: \(error)")
    }
  }

  /// Has what the next launch will restore guarded, when a whole state has taken the restored one's place.
  func restoredStateWasReplaced(by kind: PreservationReceipt.Kind) async {
    // What is pending can't be marked beside another place's state: until the unlock that stays marked.
    guard restoredSubject != nil, kind == .whole else { return }
    restoredSubject = AttemptSubject(store: store)
    guard phase != .restoring else { return }
    finishAttempt()
    await guardRestored()
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
    if phase != .restoring { restAttempt() }
  }

  /// Extends restoring while a body runs, and completes it however the body ends.
  public func withRestorationExtended<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if beginExtension() { await settleExtension() }
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
    restAttempt()
    recovery?.coordinatorExtensionDidTimeOut(self)
  }
}
