extension Lifecycle {
  /// Something that went against the rules of the life cycle, for the delegate and the log.
  @nonexhaustive public enum Incident: Sendable, Hashable, CustomStringConvertible {
    /// A phase took longer than its budget.
    case overrun(Lifecycle.Budgets.Kind, budget: Duration)

    /// Background tasks were open after the time was over and their handlers had run.
    case leakedBackgroundTasks(names: [String])

    /// A background task was ended that was not open: ended twice, or never begun.
    case backgroundTaskEndedTwice(name: String)

    /// The incident, and the remedy.
    public var description: String {
      switch self {
      case .overrun(let kind, let budget):
        "The phase \(kind) took longer than its budget of \(budget): do less in its callbacks, or later."
      case .leakedBackgroundTasks(let names):
        "Background tasks were not ended when their time was over: \(names.joined(separator: ", ")). "
          + "End each in its expiration handler at the latest."
      case .backgroundTaskEndedTwice(let name):
        "The background task \(name) was ended, but is not open. End each exactly once."
      }
    }
  }
}
