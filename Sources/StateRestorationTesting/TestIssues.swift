import Synchronization
package import Testing

/// Where the checks of this module record their failures: as issues of the test, unless a test of the checks collects them.
package enum TestIssues {
  /// A failure of a check.
  package struct Issue: Sendable, Hashable {
    /// The text of the issue.
    package let text: String
    /// The line that the issue points at.
    package let location: SourceLocation
  }

  /// Takes the failures of one task.
  fileprivate final class Collector: Sendable {
    let issues = Mutex<[Issue]>([])
    let attachments = Mutex<[String: String]>([:])
  }

  @TaskLocal fileprivate static var collector: Collector?

  /// Records a failure.
  static func record(_ text: String, at location: SourceLocation) {
    if let collector {
      collector.issues.withLock { $0.append(Issue(text: text, location: location)) }
    } else {
      Testing.Issue.record("\(text)", sourceLocation: location)
    }
  }

  /// Attaches a text to the test that failed.
  static func attach(_ text: String, named name: String, at location: SourceLocation) {
    if let collector {
      collector.attachments.withLock { $0[name] = text }
    } else {
      Attachment.record(text, named: name, sourceLocation: location)
    }
  }

  /// The texts that a check attached, by name; for a test of the checks, inside ``collect(_:)``.
  package static var attachments: [String: String] { collector?.attachments.withLock { $0 } ?? [:] }

  /// Runs checks of programs with planted mistakes: their failures are the result, and the test goes on.
  @MainActor package static func collect(_ body: @MainActor () async throws -> Void) async rethrows -> [Issue] {
    let collector = Collector()
    try await $collector.withValue(collector) { try await body() }
    return collector.issues.withLock { $0 }
  }
}
