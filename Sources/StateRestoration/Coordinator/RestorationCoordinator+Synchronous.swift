internal import DataProtection

/// The calls of a coordinator for programs whose main actor gets no turns: they block until they are over.
extension RestorationCoordinator {
  /// Restores at once: the hierarchy has its state when this returns.
  ///
  /// Like ``restore(into:from:retriesLeftOut:)``, with the same outcomes, for a program whose main thread belongs to a loop
  /// that isn't Swift's. It blocks until the state is read, and turns no loop. Call it on the ``RestorationSession/coordinator``
  /// of a session, or on the one of a window:
  ///
  /// ```swift
  /// try session.coordinator.restoreNow(into: root, retriesLeftOut: true)
  /// ```
  ///
  /// - Parameters:
  ///   - root: The controller at the top of the hierarchy.
  ///   - source: Which of the stored states to restore.
  ///   - retriesLeftOut: Whether nodes that were left out after a crash are tried again.
  /// - Throws: What ``restore(into:from:retriesLeftOut:)`` throws; ``RestorationError/Code/restorationInProgress`` also in hooks
  ///   of the hierarchy.
  @discardableResult
  public func restoreNow(
    into root: any RestorableController, from source: RestorationCoordinator.Source = .newest,
    retriesLeftOut: Bool = false
  ) throws(RestorationError) -> RestorationReport {
    try requireFree(.loading)
    return try Synchronous.run { () async throws(RestorationError) in
      let report = try await self.restore(into: root, from: source, retriesLeftOut: retriesLeftOut)
      // What follows on a locked device is an edit.
      await self.endTurn()
      return report
    }
  }

  /// Preserves at once, as ``preserve(_:)`` does; a save in progress is waited for.
  func preserveNow(_ root: any RestorableController) throws(RestorationError) -> PreservationOutcome {
    try requireFree(.saving)
    self.root = root
    switch handOver(root, scope: .all) {
    case .over(let outcome): return outcome
    case .handed(let save):
      worker.runNow { save.write(&$0) }
      takeNote(of: save)
      return try save.outcome!.get()
    }
  }

  /// Does at once what an unlock has left to do, as ``finishLateRestoration()`` does.
  func finishLateRestorationNow() throws(RestorationError) {
    try requireFree(.restoring)
    _ = Synchronous.run { await self.finishLateRestoration() }
  }

  /// Takes note of a save whose values are copied, once it is written: nothing else can go on before.
  func endHandedSave() {
    guard let save = handedSave else { return }
    worker.runNow { _ in }
    end(save)
  }

  /// Throws unless a synchronous call may begin: another operation that waits for the main actor would be waited for in vain.
  func requireFree(_ kind: ExclusiveOperations.Kind) throws(RestorationError) {
    if !isAsking { endHandedSave() }
    // A save that has not copied anything yet may be overtaken by another one.
    guard !isAsking, operations.current == nil || (kind == .saving && operations.current == .saving) else {
      throw RestorationError(
        .restorationInProgress,
        "A synchronous call came in the middle of an asynchronous one, or of a hook; wait for that before.")
    }
  }
}
