internal import DataProtection

/// What automatic preservation is waiting for.
struct AutomaticState {
  /// Runs while an interval after a save has not passed.
  var interval: Task<Void, Never>?
  /// Whether something changed during the interval.
  var isDue = false
  /// How long to wait at least after a save that failed, or that the delegate declined.
  var leastPause = Duration.zero

  /// A disk that fails is not asked more often than this, however short the interval is.
  static let retryInterval = Duration.seconds(1)
  /// Nor is a delegate that declines more often than this.
  static let declinedInterval = Duration.milliseconds(50)
}

extension RestorationCoordinator {
  /// Says that the state of the whole program has changed, which the delegate encodes and nobody observes.
  ///
  /// With automatic preservation it asks for a save, as a change of an object does. A save asked for by name encodes that
  /// state in any case.
  public func invalidateApplicationState() { changesWereNoticed() }

  /// Called on the main actor at the first change of a burst.
  func changesWereNoticed() {
    if standing == .locked { lookAtNewcomers(.noticed) }
    guard case .onChange = preservesAutomatically, standing != .discarded else { return }
    guard operations.current != .restoring, operations.current != .loading else { return }
    if automatic.interval != nil {
      automatic.isDue = true
    } else {
      preserveAutomatically()
    }
  }

  /// Looks at the hierarchy once, so that changes are noticed from now on.
  func armAutomaticPreservation() {
    guard case .onChange = preservesAutomatically, root != nil else { return }
    if standing == .locked { return }
    changesWereNoticed()
  }

  func automaticPolicyChanged() {
    automatic.interval?.cancel()
    automatic = AutomaticState()
    var interval: Duration?
    if case .onChange(let pause) = preservesAutomatically { interval = pause }
    turns.watch(interval, log: log)
    armAsking()
    if standing == .live || standing == .new { armAutomaticPreservation() }
  }

  /// The first change is saved at once; those within the interval wait for its end.
  private func preserveAutomatically() {
    (automatic.isDue, automatic.leastPause) = (false, .zero)
    beginInterval(savingFirst: true)
  }

  /// After a save that failed: the next one comes by itself at the end of the interval.
  func retryAutomatically() {
    (automatic.isDue, automatic.leastPause) = (true, AutomaticState.retryInterval)
    if automatic.interval == nil { beginInterval(savingFirst: false) }
  }

  private func beginInterval(savingFirst: Bool) {
    guard case .onChange(let interval) = preservesAutomatically else { return }
    let clock = configuration.clock
    automatic.interval = Task { [weak self] in
      if savingFirst { await self?.saveAndReport() }
      try? await clock.sleep(for: max(interval, self?.automatic.leastPause ?? .zero).clampedForSleep)
      guard !Task.isCancelled else { return }
      self?.intervalDidPass()
    }
  }

  private func intervalDidPass() {
    automatic.interval = nil
    if automatic.isDue || !changes.isEmpty { preserveAutomatically() }
  }

  private func saveAndReport() async {
    do throws(RestorationError) {
      guard case .onChange = preservesAutomatically, root != nil else { return }
      let outcome = try await preserve(scope: .noticed)
      if outcome.isDeclined {
        automatic.leastPause = AutomaticState.declinedInterval
        // Nothing is watched before the first capture: a delegate that declined that is asked again.
        if tree.roots.isEmpty, delegate != nil { automatic.isDue = true }
      }
      delegate?.coordinator(self, didPreserve: outcome)
    } catch {
      delegate?.coordinator(self, didFailToPreserve: error)
    }
  }
}
