internal import DataProtection

extension RestorationCoordinator {
  /// Deletes everything that was preserved for the scene: older generations, damaged ones, states that were set aside.
  ///
  /// Works while locked, and waits for a restoration or a save in progress; those that are asked for meanwhile wait for it.
  /// The next save, asked for or after a change, begins anew. If it throws, nothing or a part was deleted, and everything
  /// goes on as before: the next save writes all that is preserved now once more, since what can't be deleted now may go at
  /// the next opening. With automatic preservation that save comes by itself.
  public func discard() async throws(RestorationError) {
    try await deleteAll(goingOnAs: .ready)
  }

  /// Forgets the state because the user quit by force (R6.1); kept with ``RestorationConfiguration/isDeveloperMode``.
  ///
  /// Nothing is saved afterwards, so that an exit in progress does not bring the state back.
  public func discardAfterForceQuit() async throws(RestorationError) {
    guard !configuration.isDeveloperMode else { return }
    try await discardForGood()
  }

  /// Deletes everything, and saves nothing afterwards, unless something is restored again.
  func discardForGood() async throws(RestorationError) {
    try await deleteAll(goingOnAs: .discarded)
  }

  /// Begins anew after everything was deleted for good, unless it is being deleted once more.
  func beginAnewAfterDiscard() async {
    guard phase == .discarded, occupation == nil else { return }
    occupation = .discarding
    await beginAnew()
    setFree()
  }

  /// Deletes everything, while nothing is restored, given or saved.
  private func deleteAll(goingOnAs next: Phase) async throws(RestorationError) {
    await waitUntilFree()
    occupation = .discarding
    defer { setFree() }
    let context = configuration.context
    let store = store
    let result: Result<Void, ProtectionError> = await worker.run { lineage in
      do throws(ProtectionError) {
        try store.deleteAll()
        lineage.begin(.empty, context: context)
        return .success(())
      } catch {
        // The deletion may be decided already.
        lineage.requireWhole()
        return .failure(error)
      }
    }
    if case .failure(let error) = result {
      retryAutomatically()
      throw RestorationError(.discardFailed, "What was preserved could not be deleted; try again.", cause: error)
    }
    discardCount += 1
    finishAttempt()
    tree.reset()
    restored = nil
    restoredSubject = nil
    keptApplication = nil
    prepared = nil
    touchedKeys = []
    lastReceipt = nil
    savedStamps = [:]
    hasPendingSave = false
    phase = .discarded
    if next == .ready { await beginAnew() }
  }

  /// Saves from now on what the program changes.
  private func beginAnew() async {
    await noticeChanges()
    phase = .ready
    // A change while that was handed over would not be told again.
    if !changes.isEmpty { changesWereNoticed() }
  }

  /// Looks at the hierarchy without saving it: what is there now is not a change, what the user does next is one.
  private func noticeChanges() async {
    guard case .onChange = preservesAutomatically, let root else { return }
    automatic.isDue = false
    let batch = capture(root, scope: .all, context: configuration.context)
    let findings = await worker.run { lineage in try? lineage.apply(batch) }
    // Without it the next save begins anew from what it captures itself.
    guard let findings else { return tree.reset() }
    warn(of: batch.findings + findings)
  }
}
