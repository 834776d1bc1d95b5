internal import DataProtection

extension RestorationCoordinator {
  /// Deletes everything that was preserved for the scene: older generations, damaged ones, states that were set aside, and
  /// the snapshot of ``RestorableApplication``.
  ///
  /// Works while locked, and waits for a restoration or a save in progress; those that are asked for meanwhile wait for it.
  /// The next save, asked for or after a change, begins anew. If it throws, nothing or a part was deleted, and everything
  /// goes on as before: the next save writes all that is preserved now once more, since a file that can't be deleted now may go at
  /// the next opening. With automatic preservation that save comes by itself. If the snapshot alone can't be deleted, this
  /// throws when the state is gone.
  public func discard() async throws(RestorationError) {
    try await deleteAll(goingOnAs: .live)
    try await deleteSnapshot()
  }

  /// Forgets the state because the user quit by force; kept with ``RestorationConfiguration/isDeveloperMode``.
  ///
  /// Nothing is saved afterwards, so that an exit in progress does not bring the state back.
  public func discardAfterForceQuit() async throws(RestorationError) {
    guard !configuration.isDeveloperMode else { return }
    try await discardForGood()
    try await deleteSnapshot()
  }

  /// Deletes the program's snapshot: it may show the deleted state.
  func deleteSnapshot() async throws(RestorationError) {
    do throws(ProtectionError) {
      try await snapshots?.delete()
    } catch {
      throw RestorationError(
        .discardFailed, "The state is deleted, but the snapshot could not be; try again.", cause: error)
    }
  }

  /// Deletes everything but the snapshot, and saves nothing afterwards, unless something is restored again.
  func discardForGood() async throws(RestorationError) {
    try await deleteAll(goingOnAs: .discarded)
  }

  /// Deletes everything, while nothing is restored, given or saved.
  private func deleteAll(goingOnAs next: Standing) async throws(RestorationError) {
    await operations.begin(.discarding)
    defer { operations.end() }
    let context = configuration.context
    do throws(ProtectionError) {
      try await worker.run { session throws(ProtectionError) in
        // The deletion may be decided already when it throws.
        session.requireWhole()
        try session.store.deleteAll()
      }
    } catch {
      retryAutomatically()
      throw RestorationError(.discardFailed, "The preserved state could not be deleted; try again.", cause: error)
    }
    await worker.run { $0.begin(.empty, context: context) }
    endAttempt()
    attempt = nil
    tree.reset()
    restored = nil
    prepared = nil
    lastReceipt = nil
    standing = .discarded
    if next == .live { await goOnAfterDiscard() }
  }

  /// Saves every change from now on: the state of now is not one.
  private func goOnAfterDiscard() async {
    standing = .live
    if case .onChange = preservesAutomatically, let root {
      automatic.isDue = false
      let batch = capture(root, scope: .all, context: configuration.context)
      await worker.run { $0.take(batch) }
    }
    // A change while that was handed over would not be told again.
    if !changes.isEmpty { changesWereNoticed() }
  }
}
