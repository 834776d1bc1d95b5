extension RestorationArchive {
  /// State that was over a budget, or damaged: whose it was, how big, and whether it was left out.
  package struct Shedding: Hashable, Sendable, CustomStringConvertible {
    /// Which budget was passed.
    package enum Budget: Hashable, Sendable {
      /// ``Limits/bytesPerNode``.
      case node
      /// ``Limits/bytesPerArchive``.
      case archive
      /// None: the state could not be read through when its part was made anew.
      case unreadable
    }

    /// The owner's path.
    package var path: RestorationPath
    /// The owner's number.
    package var node: NodeID
    /// The owner's priority.
    package var priority: RestorationArchive.Priority
    /// The bytes of the state concerned.
    package var byteCount: Int
    /// Which budget was passed.
    package var budget: Budget
    /// False when the state was kept all the same, because its priority is `required`.
    package var isLeftOut: Bool

    /// One line for a report.
    package var description: String {
      let reason =
        switch budget {
        case .node: "over the budget of a node"
        case .archive: "over the budget of the archive"
        case .unreadable: "as they can't be read through"
        }
      return "\(path): \(byteCount) bytes of \(priority) priority \(isLeftOut ? "left out" : "kept"), \(reason)"
    }
  }
}
