extension RestorationCoordinator {
  /// What to do with the state of a device that was locked at launch, once it is unlocked.
  public enum LateRestoration: String, Sendable, Hashable, Codable, CaseIterable {
    /// Restore now what the user has not touched meanwhile; touched nodes keep the newer state.
    case restoreUntouched
    /// Leave it to the program, which calls ``RestorationCoordinator/restore(into:from:retriesLeftOut:)`` when it
    /// suits.
    case wait
  }
}
