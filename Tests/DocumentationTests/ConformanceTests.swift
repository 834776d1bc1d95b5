import Foundation
import Testing

/// `Docs/Conformance.md` has the promises, `Tests/Conformance.md` names tests for each; the names are those of real tests.
struct ConformanceTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// One row: its identifier, and the names of its tests.
  struct Row {
    var identifier: String
    var tests: [String]
  }

  /// One entry of a table in `Tests/Mutations`.
  struct Mutation: Decodable {
    var name: String
    var row: String
    var file: String
    var before: String
    var after: String
  }

  /// Every requirement, by section: the last number of each.
  private static let sections = [1: 2, 2: 8, 3: 6, 4: 2, 5: 3, 6: 4, 7: 12, 8: 1, 9: 3]

  static func promises() throws -> [String] {
    let text = try String(contentsOf: root.appendingPathComponent("Docs/Conformance.md"), encoding: .utf8)
    return text.matches(of: /\n\| (R\d+\.\d+) \| [^|]+ \|/).map { String($0.output.1) }
  }

  static func rows() throws -> [Row] {
    let text = try String(contentsOf: root.appendingPathComponent("Tests/Conformance.md"), encoding: .utf8)
    var rows: [Row] = []
    for line in text.split(separator: "\n") {
      if let heading = line.wholeMatch(of: /## (R\d+\.\d+)/) {
        rows.append(Row(identifier: String(heading.output.1), tests: []))
      } else if let test = line.wholeMatch(of: /- `([^`]+)`/), !rows.isEmpty {
        rows[rows.count - 1].tests.append(String(test.output.1))
      }
    }
    return rows
  }

  @Test func `every requirement has its promise and its tests, once`() throws {
    let expected = Self.sections.sorted { $0.key < $1.key }.flatMap { section, count in
      (1...count).map { "R\(section).\($0)" }
    }
    #expect(try Self.promises() == expected)
    #expect(try Self.rows().map(\.identifier) == expected)
  }

  @Test func `every row names tests, and each of them exists`() throws {
    var names: Set<String> = []
    let tests = Self.root.appendingPathComponent("Tests").resolvingSymlinksInPath()
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: /func `([^`]+)`/) {
        names.insert(String(match.output.1))
      }
    }
    for row in try Self.rows() {
      #expect(!row.tests.isEmpty, "\(row.identifier) names no test")
      for test in row.tests {
        #expect(names.contains(test), "\(row.identifier) names a test that is not there: \(test)")
      }
    }
  }

  @Test func `every mutation of the engine belongs to a row, and every row of the engine has one`() throws {
    let mutated = Set(try Self.mutations("engine").map(\.row))
    let rows = try Self.rows().map(\.identifier)
    #expect(mutated.isSubset(of: rows))
    for row in rows {
      // The life cycle is checked against its own tables, but for the row that the engine answers.
      let isOfLifecycle = row.hasPrefix("R7.") && row != "R7.11"
      #expect(mutated.contains(row) != isOfLifecycle, "\(row) has no mutation")
    }
  }

  @Test(arguments: ["engine", "store"])
  func `every mutation has a name of its own and a switch`(_ table: String) throws {
    let mutations = try Self.mutations(table)
    #expect(Set(mutations.map(\.name)).count == mutations.count)
    for mutation in mutations {
      #expect(mutation.after.contains("MUTANT") && mutation.after != mutation.before, "\(mutation.name)")
    }
  }

  @Test func `every mutation of the store has one place in the sources`() throws {
    for mutation in try Self.mutations("store") {
      let file = Self.root.appendingPathComponent("Sources").appendingPathComponent(mutation.file)
      let places = try String(contentsOf: file, encoding: .utf8).ranges(of: mutation.before)
      #expect(places.count == 1, "\(mutation.name)")
    }
  }

  static func mutations(_ table: String) throws -> [Mutation] {
    let file = root.appendingPathComponent("Tests/Mutations/\(table).json")
    return try JSONDecoder().decode([Mutation].self, from: Data(contentsOf: file))
  }
}
