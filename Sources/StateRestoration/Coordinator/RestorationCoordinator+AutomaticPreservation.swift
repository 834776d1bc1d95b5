extension RestorationCoordinator {
  /// When the coordinator preserves by itself.
  public enum AutomaticPreservation: Sendable, Hashable {
    /// Only when asked to.
    case never
    /// At the first change at once, then at most once per interval while changes go on.
    ///
    /// After a launch that could not reach the disk (``RestorationReport/Outcome/unavailable``) it begins with the next
    /// restoration, or the next save by name.
    case onChange(coalescedOver: Duration)
  }
}
