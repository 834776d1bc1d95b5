import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

/// Whatever a check finds, it points at the line of the test that asked.
@MainActor @Suite struct SourceLocationTests {
  /// A controller that gives back something else than it was given.
  final class Forgetful: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "forgetful"
    var text = ""
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(1, forKey: "never read") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
  }

  private struct Trouble: Error {}

  /// Every issue that a body records is at this line of this file, and there is one.
  private func expectIssues(
    at line: Int, _ body: @MainActor () async throws -> Void
  ) async throws {
    let issues = try await TestIssues.collect(body)
    #expect(!issues.isEmpty)
    #expect(issues.allSatisfy { $0.location.fileID == #fileID && $0.location.line == line }, "\(issues)")
  }

  @Test func `assertRestores points at its caller, for a difference and for an error`() async throws {
    try await expectIssues(at: #line + 1) {
      await assertRestores(RestorationSubject { Forgetful() }, after: { $0.text = "hello" })
    }
    try await expectIssues(at: #line + 1) {
      await assertRestores(RestorationSubject { Forgetful() }, after: { _ in throw Trouble() })
    }
  }

  @Test func `assertRestoresAtEveryKillPoint points at its caller`() async throws {
    try await expectIssues(at: #line + 1) {
      await assertRestoresAtEveryKillPoint(
        RestorationSubject { Forgetful() }, from: { $0.text = "old" }, to: { $0.text = "new" })
    }
  }

  @Test func `the lint points at its caller`() async throws {
    try await expectIssues(at: #line + 1) {
      await lintRestoration(of: RestorationSubject { Forgetful() }, after: { $0.text = "hello" })
    }
  }

  @Test func `a golden archive points at its caller, missing, unreadable or different`() async throws {
    let subject = RestorationSubject { Forgetful() }
    let golden = try await GoldenArchive.record(subject) { $0.text = "hello" }
    try await expectIssues(at: #line + 1) {
      await golden.assertStillRestores(in: subject)
    }
    let url = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    try await expectIssues(at: #line + 1) {
      await assertGoldenArchive(at: url, of: subject, after: { $0.text = "hello" })
    }
    try Data("nothing".utf8).write(to: url)
    try await expectIssues(at: #line + 1) {
      await assertGoldenArchive(at: url, of: subject, after: { $0.text = "hello" })
    }
  }
}
