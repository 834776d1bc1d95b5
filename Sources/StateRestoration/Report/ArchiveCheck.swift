/// What became of reading one old archive with today's program, without an app: for a program's own CI.
public struct ArchiveCheck: Sendable, Hashable, Codable {
  /// The archive's name.
  public var name: String
  /// Number of nodes in it.
  public var nodeCount: Int
  /// Number of nodes whose value was decoded, migrations included, or could not be.
  ///
  /// Only the one value of a ``StatefulObject`` is: what ``Restored`` properties and coder methods would read takes an object.
  public var checkedCount: Int
  /// The nodes with state that was not decoded, in the archive's order: nobody named their class, or it has no one value.
  public var uncheckedPaths: [RestorationPath]
  /// The restoration classes in it that nobody has registered, sorted: their nodes were read, not decoded.
  ///
  /// A class that was renamed without naming its former tag is among them.
  public var unregisteredClasses: [RestorationClass]
  /// Why the archive as a whole can't be read; nil when it can.
  public var failure: String?
  /// The nodes that today's program can't read, and why.
  public var problems: [NodeReport]

  /// Describes the outcome of a check.
  package init(
    name: String, nodeCount: Int = 0, checkedCount: Int = 0, uncheckedPaths: [RestorationPath] = [],
    unregisteredClasses: [RestorationClass] = [], failure: String? = nil, problems: [NodeReport] = []
  ) {
    self.name = name
    self.nodeCount = nodeCount
    self.checkedCount = checkedCount
    self.uncheckedPaths = uncheckedPaths
    self.unregisteredClasses = unregisteredClasses
    self.failure = failure
    self.problems = problems
  }

  /// True when the archive can be read and nothing in it is known to be unreadable.
  ///
  /// A value that was not decoded proves nothing: look at ``uncheckedPaths`` and ``unregisteredClasses``.
  public var isSound: Bool { failure == nil && problems.isEmpty }
}

extension ArchiveCheck: CustomStringConvertible {
  /// One line for the archive, then one per problem.
  public var description: String {
    if let failure { return "✗ \(name)  \(failure)" }
    let head = "\(isSound ? "✓" : "✗") \(name)  \(checkedCount) of \(ReportText.count(nodeCount, "node")) checked"
    let unregistered = unregisteredClasses.map { "  ? class “\($0)” is not registered, so its states were not decoded" }
    let lines = [head] + problems.map { "  ✗ \($0.path)  \($0.notRestoredReason?.description ?? "")" } + unregistered
    guard !uncheckedPaths.isEmpty else { return lines.joined(separator: "\n") }
    // So many that one knows where to look.
    let some = uncheckedPaths.prefix(5).map(\.description).joined(separator: ", ")
    let more = uncheckedPaths.count > 5 ? " and \(uncheckedPaths.count - 5) more" : ""
    return (lines + ["  ? not decoded: \(some)\(more)"]).joined(separator: "\n")
  }
}
