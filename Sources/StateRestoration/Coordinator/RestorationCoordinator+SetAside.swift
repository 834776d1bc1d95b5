internal import DataProtection
internal import RestorationArchive

extension RestorationCoordinator {
  /// The states that were not restored and that a save has replaced, oldest first.
  ///
  /// Each one can be restored on request: ``restore(into:from:retriesLeftOut:)`` with
  /// ``RestorationCoordinator/Source/setAside(_:)``; the newest state is then set aside in its turn. Throws when the
  /// disk fails.
  public func setAsideStates() async throws(RestorationError) -> [RestorationCoordinator.SetAsideState] {
    let loader = loader()
    do {
      return try await worker.run { _ throws(ProtectionError) in try loader.setAsideStates() }
    } catch {
      throw RestorationError(
        .setAsideUnreachable, "The states that are set aside could not be read; they stay where they are.",
        cause: error)
    }
  }

  /// Gives up a state that was set aside.
  ///
  /// - Returns: False when there is no such state.
  @discardableResult
  public func discardSetAside(_ id: RestorationCoordinator.SetAsideState.ID) async throws(RestorationError) -> Bool {
    do {
      return try await worker.run { session throws(ProtectionError) in
        try session.store.removeSetAside(Generation(rawValue: id))
      }
    } catch {
      throw RestorationError(.discardFailed, "The state could not be deleted; try again.", cause: error)
    }
  }

  /// Saves what there is now, before another state takes its place: that is the generation before then.
  func saveBefore() async throws(RestorationError) {
    guard standing == .live, root != nil else { return }
    let outcome = try await preserve(scope: .all)
    delegate?.coordinator(self, didPreserve: outcome)
  }
}

extension RestorationError.Code {
  /// The states that are set aside could not be read now; see the cause.
  package static let setAsideUnreachable = RestorationError.Code("setAsideUnreachable")
}
