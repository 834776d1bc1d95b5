internal import DataProtection
internal import RestorationArchive

extension RestorationCoordinator {
  /// The states that were not restored and that a save has replaced, oldest first.
  ///
  /// Each one can be restored on request: ``restore(into:from:retriesLeftOut:)`` with ``RestorationSource/setAside(_:)``;
  /// the newest state is then set aside in its turn. Throws while the device is locked or the disk fails.
  public func setAsideStates() async throws(RestorationError) -> [SetAsideState] {
    let states = states
    do {
      return try await worker.run { _ throws(ProtectionError) in try states.all() }
    } catch {
      throw RestorationError(
        .setAsideUnreachable, "What was set aside could not be read; it stays where it is.", cause: error)
    }
  }

  /// Gives up a state that was set aside.
  ///
  /// - Returns: False when there is no such state.
  @discardableResult
  public func discardSetAside(_ id: SetAsideState.ID) async throws(RestorationError) -> Bool {
    let states = states
    do {
      return try await worker.run { _ throws(ProtectionError) in try states.remove(id) }
    } catch {
      throw RestorationError(
        .discardFailed, "What was set aside could not be deleted; try again.", cause: error)
    }
  }

  /// Saves what was changed while locked, was joined after the unlock and is in no generation yet: before another state
  /// takes its place, so that what makes room for that holds it.
  func saveJoined() async throws(RestorationError) {
    guard await worker.run({ $0.owesJoined }) else { return }
    let outcome = try await preserve(scope: .all)
    recovery?.coordinator(self, didPreserve: outcome)
  }

  private var states: SetAsideStates {
    SetAsideStates(store: store, limits: limits, schemaVersion: configuration.schemaVersion)
  }
}

extension RestorationError.Code {
  /// What was set aside could not be read now; see the cause.
  public static let setAsideUnreachable = RestorationError.Code("setAsideUnreachable")
}
