import Foundation
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct RestorationLintTests {
  /// A controller with one mistake, or none.
  final class Screen: RestorableController, CodingObject {
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

  /// A list of titles that can be seen, and a note whose text is secret.
  final class Shelf: RestorationParent, CodingObject {
    enum Telling: CaseIterable { case nothing, identifier, model, value, part, short, otherWay }

    let restoration: RestorationIdentity
    let note: Note
    var title = ""
    var restorationChildren: [any RestorableController] { [note] }

    init(_ telling: Telling) {
      restoration = RestorationIdentity(
        telling == .identifier ? "wedding plans" : "shelf", model: telling == .model ? "wedding plans" : nil,
        protection: telling == .otherWay ? .complete : nil)
      note = Note(telling == .otherWay ? ProtectionClass.none : .complete)
    }

    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(title, forKey: "title") }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      title = try coder.decode(String.self, forKey: "title")
    }
  }

  final class Note: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable { var lines: [String] = [] }

    let restoration: RestorationIdentity
    var restorableState = State()

    init(_ protection: ProtectionClass) { restoration = RestorationIdentity("note", protection: protection) }
  }

  @Test(arguments: Shelf.Telling.allCases)
  func `what a weaker class tells of a stronger one's values is found`(telling: Shelf.Telling) async {
    var findings: [LintFinding] = []
    let secret = telling == .short ? "abc" : "wedding plans"
    var subject = RestorationSubject { Shelf(telling) }
    subject.configuration.protection = .completeUntilFirstUserAuthentication
    let issues = await TestIssues.collect {
      findings = await lintRestoration(
        of: subject,
        after: {
          $0.note.restorableState.lines = ["first line", secret]
          $0.title =
            switch telling {
            case .value, .short, .otherWay: secret
            case .part: "wedding"
            default: "something else"
            }
        })
    }
    #expect(issues.map(\.text) == findings.map(\.description))
    let what: String? =
      switch telling {
      case .identifier: "its identifier"
      case .model: "its model"
      case .value: "“title”"
      default: nil
      }
    let path: RestorationPath = [telling == .identifier ? "wedding plans" : "shelf"]
    if telling == .otherWay {
      // The note is the weaker one: what it holds is the shelf's secret.
      #expect(
        findings == [.tellsOfSecret(path.appending("note"), what: "“restorableState”", of: path)], "\(findings)")
    } else {
      let expected = what.map { [LintFinding.tellsOfSecret(path, what: $0, of: path.appending("note"))] } ?? []
      #expect(findings == expected, "\(telling): \(findings)")
    }
  }
}
