extension RestorationArchive {
  /// State that was over a budget: whose it was, how big, and whether it was left out (R3.6).
  public struct Shedding: Hashable, Sendable, CustomStringConvertible {
    /// Which budget was passed.
    public enum Budget: Hashable, Sendable {
      /// ``Limits/bytesPerNode``.
      case node
      /// ``Limits/bytesPerArchive``.
      case archive
    }

    /// The owner's path.
    public var path: RestorationPath
    /// The owner's number.
    public var node: NodeID
    /// The owner's priority.
    public var priority: PreservationPriority
    /// The bytes of the state concerned.
    public var byteCount: Int
    /// Which budget was passed.
    public var budget: Budget
    /// False when the state was kept all the same, because its priority is `required`.
    public var isLeftOut: Bool

    /// One line for a report.
    public var description: String {
      let name = budget == .node ? "the budget of a node" : "the budget of the archive"
      return "\(path): \(byteCount) bytes of \(priority) priority \(isLeftOut ? "left out" : "kept"), over \(name)"
    }
  }
}
