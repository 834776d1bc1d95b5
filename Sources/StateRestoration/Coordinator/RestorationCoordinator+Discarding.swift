internal import DataProtection

extension RestorationCoordinator {
  /// Deletes everything that was preserved for the scene: older generations, damaged ones, states that were set aside.
  ///
  /// Works while locked, and waits for a restoration or a save in progress; those that are asked for meanwhile wait for it.
  /// The next save, asked for or after a change, begins anew. If it throws, nothing or a part was deleted, and everything
  /// goes on as before: the next save has what is preserved now.
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

  /// Saves again what the program has from now on, after everything was deleted for good.
  func saveAgainAfterDiscard() { if phase == .discarded { phase = .ready } }

  /// Deletes everything, while nothing is restored, given or saved.
  private func deleteAll(goingOnAs next: Phase) async throws(RestorationError) {
    await waitUntilFree()
    occupation = .discarding
    defer { setFree() }
    let context = configuration.context
    let store = store
    let shelf = shelf
    let result: Result<Void, ProtectionError> = await worker.run { lineage in
      Result { () throws(ProtectionError) in
        // The newest at last: as long as anything can fail, this run goes on from it.
        try shelf.removeAll()
        try store.deleteAll()
        lineage.begin(.empty, context: context)
      }
    }
    if case .failure(let error) = result {
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
    hasPendingSave = false
    if next == .ready { await noticeChanges() }
    phase = next
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
