extension RestorationArchive {
  /// State that was over a budget: whose it was, how big, and whether it was left out.
  package struct Shedding: Hashable, Sendable, CustomStringConvertible {
    /// Which budget was passed.
    package enum Budget: Hashable, Sendable {
      /// ``Limits/bytesPerNode``.
      case node
      /// ``Limits/bytesPerArchive``.
      case archive
    }

    /// The owner's path.
    package var path: RestorationPath
    /// The owner's number.
    package var node: NodeID
    /// The owner's priority.
    package var priority: PreservationPriority
    /// The bytes of the state concerned.
    package var byteCount: Int
    /// Which budget was passed.
    package var budget: Budget
    /// False when the state was kept all the same, because its priority is `required`.
    package var isLeftOut: Bool

    /// One line for a report.
    package var description: String {
      let name = budget == .node ? "the budget of a node" : "the budget of the archive"
      return "\(path): \(byteCount) bytes of \(priority) priority \(isLeftOut ? "left out" : "kept"), over \(name)"
    }
  }
}
