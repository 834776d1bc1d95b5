import Foundation
import Testing

/// `Docs/Conformance.md` names a test for each requirement; this checks that the names are those of real tests.
struct ConformanceTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// One row of the table: its identifier, and the names of its tests and mutations.
  struct Row {
    var identifier: String
    var tests: [String]
    var mutations: [String]
    var isNotYet: Bool
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
  private static let sections = [1: 2, 2: 7, 3: 6, 4: 2, 5: 3, 6: 4, 7: 11, 8: 1, 9: 3]

  static func rows() throws -> [Row] {
    let text = try String(contentsOf: root.appendingPathComponent("Docs/Conformance.md"), encoding: .utf8)
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count >= 6, cells[1].wholeMatch(of: /R\d+\.\d+/) != nil else { return nil }
      return Row(
        identifier: cells[1], tests: quoted(cells[3]), mutations: quoted(cells[4]),
        isNotYet: cells[3].lowercased().contains("not yet"))
    }
  }

  private static func quoted(_ cell: String) -> [String] {
    cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
  }

  @Test func `every requirement has its row, once`() throws {
    let expected = Self.sections.sorted { $0.key < $1.key }.flatMap { section, count in
      (1...count).map { "R\(section).\($0)" }
    }
    #expect(try Self.rows().map(\.identifier) == expected)
  }

  @Test func `every test that a row names exists, and a row without a test says so`() throws {
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
      #expect(row.isNotYet != !row.tests.isEmpty, "\(row.identifier) names a test or says not yet")
      for test in row.tests {
        #expect(names.contains(test), "\(row.identifier) names a test that is not there: \(test)")
      }
    }
  }

  @Test func `every mutation stands in the row that its tests show, and every row of the engine has one`() throws {
    let mutations = try Self.mutations("engine")
    for row in try Self.rows() {
      #expect(row.mutations == mutations.filter { $0.row == row.identifier }.map(\.name), "\(row.identifier)")
      // The life cycle's rows have none, but for the one that the engine answers.
      let isOfLifecycle = row.identifier.hasPrefix("R7.") && row.identifier != "R7.11"
      #expect(row.mutations.isEmpty == isOfLifecycle, "\(row.identifier) has no mutation")
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
