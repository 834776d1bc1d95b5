/// What automatic preservation is waiting for.
struct AutomaticState {
  /// The interval that has not passed: the one of a save, which comes first in it, or of a retry.
  var interval: Pause?
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
    if waitsForUnlock { lookAtNewcomers(.noticed) }
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
    guard case .onChange(let length) = preservesAutomatically else { return }
    let interval = Pause()
    automatic.interval = interval
    guard savingFirst else { return wait(length, as: interval) }
    turns.perform { [weak self] in
      self?.saveAutomatically { [weak self] in self?.wait(length, as: interval) }
    }
  }

  private func wait(_ length: Duration, as interval: Pause) {
    guard automatic.interval === interval else { return }
    let length = max(length, automatic.leastPause).clampedForSleep
    interval.begin(length, configuration.clock, in: turns) { [weak self] in self?.didPass(interval) }
  }

  private func didPass(_ interval: Pause) {
    guard automatic.interval === interval else { return }
    automatic.interval = nil
    if automatic.isDue || !changes.isEmpty { preserveAutomatically() }
  }

  /// Saves behind other operations, and tells the delegate; nobody waits for it, so that every turn may go on with it.
  private func saveAutomatically(then goOn: @escaping @MainActor () -> Void) {
    guard case .onChange = preservesAutomatically, root != nil else { return goOn() }
    guard operations.beginNow(.saving) else {
      return operations.begin(.saving) { [weak self, turns] in
        turns.perform { self?.saveAsOperation(then: goOn) }
      }
    }
    saveAsOperation(then: goOn)
  }

  /// Saves; the operation has begun.
  private func saveAsOperation(then goOn: @escaping @MainActor () -> Void) {
    let end = { @MainActor [weak self] (outcome: Result<PreservationOutcome, RestorationError>) in
      self?.operations.end()
      self?.report(outcome)
      goOn()
    }
    guard case .onChange = preservesAutomatically, root != nil else {
      operations.end()
      return goOn()
    }
    switch handOver(nil, scope: .noticed) {
    case .over(let outcome): end(.success(outcome))
    case .handed(let save):
      save.onEnd = { end(save.outcome!) }
      worker.post { [weak self, turns] session in
        save.write(&session)
        turns.perform { self?.end(save) }
      }
    }
  }

  /// Takes note of a save that nobody waits for, and goes on.
  func end(_ save: HandedSave) {
    takeNote(of: save)
    guard save.outcome != nil, let onEnd = save.onEnd else { return }
    save.onEnd = nil
    onEnd()
  }

  private func report(_ outcome: Result<PreservationOutcome, RestorationError>) {
    switch outcome {
    case .success(let outcome):
      if outcome.isDeclined {
        automatic.leastPause = AutomaticState.declinedInterval
        // Nothing is watched before the first capture: a delegate that declined that is asked again.
        if tree.roots.isEmpty, delegate != nil { automatic.isDue = true }
      }
      delegate?.coordinator(self, didPreserve: outcome)
    case .failure(let error): delegate?.coordinator(self, didFailToPreserve: error)
    }
  }
}
