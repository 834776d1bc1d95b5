import DataProtection
import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

/// Every row of the table *mistake, message* is made here, and gives that message, with the place.
@MainActor @Suite struct MistakeTests {
  /// The article's messages, by mistake.
  nonisolated static func table() throws -> [String: String] {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let article = root.appending(path: "Sources/StateRestoration/StateRestoration.docc/WhenSomethingDoesNotComeBack.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    var section = try #require(text.components(separatedBy: "## Mistakes and messages\n").last)
    // What the compiler says is asked for elsewhere: CompilerMistakeTests.
    section.replace(/(?s)The compiler says:\n.*?(?=\n\w+ \w+ says:|\n\w+ \w+ \w+ says:)/, with: "")
    var rows: [String: String] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[1].hasPrefix("“"), cells[1].hasSuffix("”") else { continue }
      rows[cells[0]] = String(cells[1].dropFirst().dropLast())
    }
    return rows
  }

  @Test func `the table has a row for each mistake, and none more`() throws {
    #expect(try Set(Self.table().keys) == Set(Mistake.allCases.map(\.rawValue)))
  }

  @Test(arguments: Mistake.allCases) func `every mistake is answered in the words of the table`(_ mistake: Mistake)
    async throws
  {
    let expected = try #require(try Self.table()[mistake.rawValue])
    let said: String
    if mistake.traps {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        @MainActor [mistake = mistake as Mistake] in try await Trap.make(mistake)
      }
      said = String(decoding: result.standardErrorContent, as: UTF8.self)
    } else {
      said = try await MistakeMaker().make(mistake)
    }
    #expect(said.contains(expected), "said: \(said)")
    if let place = mistake.place { #expect(said.contains(place), "said: \(said)") }
  }
}
