/// When the coordinator preserves by itself.
public enum AutomaticPreservation: Sendable, Hashable {
  /// Only when asked to.
  case never
  /// At the first change at once, then at most once per interval while changes go on.
  case onChange(coalescedOver: Duration)
}
