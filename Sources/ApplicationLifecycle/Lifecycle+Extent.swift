extension Lifecycle.LaunchOptions {
  /// How much of the preserved state a launch brings back; each extent brings back what the one before it does, and more.
  ///
  /// A class says with which extent its objects come back: a window's size in every launch, open documents only when a session
  /// is restored. What a launch doesn't ask for stays stored. The names are those of GTK's `GtkRestoreReason`.
  public enum Extent: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// Nothing comes back, as with ``Lifecycle/LaunchResponse/declinesRestoring``: a launch that begins anew.
    ///
    /// Nothing is deleted. The first save sets the whole state aside, where it can be asked for; a launch that saves nothing
    /// leaves it as it is.
    case pristine
    /// A normal launch: state that comes back every time.
    case launch
    /// A launch after a crash: what the user would miss.
    case recover
    /// The user's session is restored: everything comes back.
    case restore

    /// The order from nothing to everything.
    public static func < (first: Lifecycle.LaunchOptions.Extent, second: Lifecycle.LaunchOptions.Extent) -> Bool {
      guard let place = allCases.firstIndex(of: first), let other = allCases.firstIndex(of: second) else {
        return false
      }
      return place < other
    }
  }
}
