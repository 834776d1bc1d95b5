extension RestorationArchive {
  /// How soon a node's state is left out when an archive outgrows its budget.
  public enum Priority: UInt8, Hashable, Codable, Sendable, Comparable, CaseIterable {
    /// Left out first.
    case low = 0
    /// What objects have when they say nothing.
    case normal = 1
    /// Left out after everything normal.
    case high = 2
    /// Never left out: an archive goes over its budget rather than lose it.
    case required = 3

    /// Orders by how long state is kept.
    public static func < (left: Self, right: Self) -> Bool {
      left.rawValue < right.rawValue
    }
  }
}
