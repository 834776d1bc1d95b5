public import RestorationArchive

/// What became of reading one old archive with today's program, without an app: for a program's own CI.
public struct ArchiveCheck: Sendable, Hashable, Codable {
  /// A node whose state today's program can't read, and why.
  public struct Problem: Sendable, Hashable, Codable {
    /// Where the node is, from the root.
    public var path: RestorationPath
    /// Why it can't be read.
    public var reason: NotRestoredReason

    /// Describes a problem.
    public init(path: RestorationPath, reason: NotRestoredReason) {
      self.path = path
      self.reason = reason
    }
  }

  /// The archive's name.
  public var name: String
  /// Number of nodes in it.
  public var nodeCount: Int
  /// Number of nodes whose class is registered and whose state was decoded, migrations included.
  public var checkedCount: Int
  /// Why the archive as a whole can't be read; nil when it can.
  public var failure: String?
  /// The nodes that can't be read.
  public var problems: [Problem]

  /// Describes the outcome of a check.
  public init(
    name: String, nodeCount: Int = 0, checkedCount: Int = 0, failure: String? = nil, problems: [Problem] = []
  ) {
    self.name = name
    self.nodeCount = nodeCount
    self.checkedCount = checkedCount
    self.failure = failure
    self.problems = problems
  }

  /// True when today's program reads everything in the archive.
  public var isSound: Bool { failure == nil && problems.isEmpty }
}

extension ArchiveCheck: CustomStringConvertible {
  /// One line for the archive, then one per problem.
  public var description: String {
    if let failure { return "✗ \(name)  \(failure)" }
    let head = "\(isSound ? "✓" : "✗") \(name)  \(checkedCount) of \(ReportText.count(nodeCount, "node")) checked"
    return ([head] + problems.map { "  ✗ \($0.path)  \($0.reason)" }).joined(separator: "\n")
  }
}
