extension RestorationCoordinator {
  /// Which of the preserved states to restore.
  public enum Source: Sendable, Hashable {
    /// The newest one.
    case newest
    /// The generation before the newest, to go back in time.
    case olderGeneration
    /// A state that was set aside; see ``RestorationCoordinator/setAsideStates()``.
    case setAside(RestorationCoordinator.SetAsideState.ID)
  }
}
