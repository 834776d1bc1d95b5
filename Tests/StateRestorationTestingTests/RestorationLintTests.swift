import Foundation
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct RestorationLintTests {
  /// A controller with one mistake, or none.
  final class Screen: CodingController {
    enum Mistake: CaseIterable { case none, unread, drifting, large, records }

    let restoration: RestorationIdentity = "screen"
    var title = ""
    var launches = 0
    let mistake: Mistake
    init(_ mistake: Mistake) { self.mistake = mistake }

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(title, forKey: "title")
      switch mistake {
      case .none: break
      case .unread: coder.encode(1, forKey: "forgotten")
      case .drifting: coder.encode(launches, forKey: "launches")
      case .large: coder.encode(String(repeating: "x", count: 100_000), forKey: "text")
      case .records:
        coder.encode((0..<20).map { ["id": $0, "row": $0, "size": 3] }, forKey: "rows")
      }
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      title = try coder.decode(String.self, forKey: "title")
      switch mistake {
      case .none, .unread: break
      case .drifting: launches = try coder.decode(Int.self, forKey: "launches") + 1
      case .large: _ = try coder.decode(String.self, forKey: "text")
      case .records: _ = try coder.decode([[String: Int]].self, forKey: "rows")
      }
    }
  }

  /// The findings, each of which is an issue too.
  private func lint(_ mistake: Screen.Mistake) async -> [LintFinding] {
    var findings: [LintFinding] = []
    let issues = await TestIssues.collect {
      findings = await lintRestoration(of: RestorationSubject { Screen(mistake) }, after: { $0.title = "hello" })
    }
    #expect(issues.map(\.text) == findings.map(\.description))
    return findings
  }

  @Test func `a healthy hierarchy has no findings`() async {
    #expect(await lint(.none).isEmpty)
  }

  @Test func `keys that are written and never read are found`() async {
    #expect(await lint(.unread) == [.unreadKeys(["screen"], ["forgotten"])])
  }

  @Test func `state that differs after a second save is found`() async {
    #expect(await lint(.drifting) == [.changesByRestoring(["screen"], keys: ["launches"])])
  }

  @Test func `nodes over budget and texts as large as documents are found`() async {
    let findings = await lint(.large)
    #expect(
      findings.contains { if case .overBudget(["screen"], let bytes, _) = $0 { bytes > 90_000 } else { false } })
    #expect(findings.contains { if case .looksLikeModelData(["screen"], "text", _) = $0 { true } else { false } })
  }

  @Test func `lists of records are found`() async {
    #expect(await lint(.records) == [.looksLikeModelData(["screen"], key: "rows", why: "20 records")])
  }
}
