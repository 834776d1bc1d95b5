import Foundation
import Testing

/// Pages stay short enough to be read.
struct LengthTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The words of a text; the lines of a table are none.
  private static func words(_ text: String) -> Int {
    text.split { $0 == " " || $0 == "\n" }.count { $0.contains { $0.isLetter || $0.isNumber } }
  }

  @Test func `the README has at most 900 words, its code included, and the commands come first`() throws {
    let readme = try Self.text("README.md")
    #expect(Self.words(readme) <= 900)
    let screen = readme.split(separator: "\n", omittingEmptySubsequences: false).prefix(20).joined(separator: "\n")
    #expect(screen.contains("swift run restore-demo\n") && screen.contains("swift test\n"))
  }

  @Test(arguments: [
    "GettingStarted": 700, "StateOfYourOwnClasses": 600, "WindowsAndDialogs": 500, "TheLifeOfAProgram": 500,
    "PreservingAList": 400, "LockedDevices": 500, "VersionsAndMigrations": 700, "WhenSomethingDoesNotComeBack": 1000,
    "TestingYourRestoration": 500, "FromUIKit": 900, "FromAppKit": 400, "FromSwiftUI": 400,
  ]) func `an article has few words beside its code`(_ article: String, limit: Int) throws {
    var text = try Self.text("Sources/StateRestoration/StateRestoration.docc/\(article).md")
    text.replace(/(?s)```.*?```/, with: "")
    // The table of mistakes is for searching, not for reading.
    let page = text.components(separatedBy: "## Mistakes and messages")[0]
    #expect(Self.words(page) <= limit)
  }

  @Test func `a decision has one form and at most 200 words`() throws {
    let folder = "Docs/Decisions"
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
    let decisions = files.filter { $0.first?.isNumber == true }
    #expect(decisions.count > 10)
    for decision in decisions {
      let text = try Self.text("\(folder)/\(decision)")
      #expect(Self.words(text) <= 200, "\(decision)")
      let parts = text.matches(of: /(?m)^\*\*(\w+)\.?\*\*/).map { String($0.1) }
      #expect(parts == ["Status", "Context", "Decision", "Cost"], "\(decision)")
    }
  }
}
