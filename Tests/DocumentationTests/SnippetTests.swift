import Foundation
import Testing

/// The code in the articles and in the README is that of the files in `Snippets`, which this target compiles.
struct SnippetTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// A snippet without the indentation that all its lines share, and the imports that it is compiled with.
  struct Snippet {
    var code: String
    var imports: [Substring]
  }

  /// The snippets by name.
  static func snippets() throws -> [String: Snippet] {
    let folder = root.appendingPathComponent("Tests/DocumentationTests/Snippets")
    var snippets: [String: Snippet] = [:]
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      var name: String?
      var lines: [Substring] = []
      var imports: [Substring] = []
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      {
        let text = line.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("import ") { imports.append(line) }
        if text.hasPrefix("// snippet: ") {
          name = String(text.dropFirst("// snippet: ".count))
          lines = []
        } else if text == "// snippet end", let ended = name {
          let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
          snippets[ended] = Snippet(
            code: lines.map { $0.dropFirst(margin) }.joined(separator: "\n"), imports: imports)
          name = nil
        } else if name != nil {
          lines.append(line)
        }
      }
    }
    return snippets
  }

  /// The Swift code blocks of a page, each with the name that the comment before it gives.
  static func blocks(in page: String) -> [(name: String?, code: String)] {
    var blocks: [(name: String?, code: String)] = []
    var name: String?
    var code: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = code {
        if line == "```" {
          blocks.append((name, lines.joined(separator: "\n")))
          (code, name) = (nil, nil)
        } else {
          code = lines + [line]
        }
      } else if line.hasPrefix("<!-- snippet: "), line.hasSuffix(" -->") {
        name = String(line.dropFirst("<!-- snippet: ".count).dropLast(" -->".count))
      } else if line == "```swift" {
        code = []
      }
    }
    return blocks
  }

  /// The imports that a block of code shows first, and what comes after them.
  static func split(_ code: String) -> (imports: [Substring], rest: String) {
    let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
    let imports = lines.prefix { $0.hasPrefix("import ") }
    let rest = lines.dropFirst(imports.count)
    // One empty line between the two.
    return (Array(imports), (imports.isEmpty || rest.first != "" ? rest : rest.dropFirst()).joined(separator: "\n"))
  }

  /// Whether a block is quoted from a file of Docs/Examples.
  static func isOfExample(_ name: String) -> Bool { name.contains("/") }

  static var pages: [String] {
    ["README.md"]
      + [
        "StateRestoration", "GettingStarted", "StateOfYourOwnClasses", "WindowsAndDialogs", "TheLifeOfAProgram",
        "PreservingAList", "VersionsAndMigrations", "LockedDevices", "WhenSomethingDoesNotComeBack",
        "TestingYourRestoration", "FromUIKit", "FromAppKit", "FromSwiftUI", "ForAuthorsOfToolkits",
        "InAProgramThatOwnsItsMainThread", "ADesktopSession", "AGTKProgram", "TypesOfTheOtherModules",
      ].map { "Sources/StateRestoration/StateRestoration.docc/\($0).md" }
      + ["Sources/RestorationArchive/RestorationArchive.docc/CodingValues.md"]
  }

  @Test(arguments: pages) func `every code block of a page is compiled as it stands there`(_ page: String) throws {
    let snippets = try Self.snippets()
    let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
    for block in Self.blocks(in: text) {
      let name = try #require(block.name, "a Swift block of \(page) has no snippet comment before it: \(block.code)")
      if Self.isOfExample(name) {
        // The examples are compiled as they are.
        let file = Self.root.appendingPathComponent("Docs/Examples/\(name)")
        #expect(try String(contentsOf: file, encoding: .utf8).contains(block.code), "\(page) differs from \(name)")
        continue
      }
      let snippet = try #require(snippets[name], "\(page) shows the snippet \(name), which is in no file")
      let (imports, code) = Self.split(block.code)
      #expect(code == snippet.code, "\(page) differs from the snippet \(name)")
      #expect(snippet.imports.filter { imports.contains($0) } == imports, "\(page): the imports of the snippet \(name)")
    }
  }

  @Test func `every article of the catalog is checked`() throws {
    let folder = Self.root.appendingPathComponent("Sources/StateRestoration/StateRestoration.docc")
    let articles = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    #expect(Set(articles.map { "Sources/StateRestoration/StateRestoration.docc/\($0)" }).isSubset(of: Self.pages))
  }

  @Test func `the tutorial shows its whole program, in order`() throws {
    let page = "Sources/StateRestoration/StateRestoration.docc/GettingStarted.md"
    let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
    let shown = Self.blocks(in: text).filter { $0.name == "todo/main.swift" }.map(\.code).joined(separator: "\n\n")
    let program = try String(contentsOf: Example.source("todo"), encoding: .utf8)
    let imports = "import Foundation\nimport StateRestoration\n\n"
    #expect(program.components(separatedBy: imports).last == shown + "\n")
  }

  @Test func `every snippet is shown somewhere`() throws {
    var shown: Set<String> = []
    for page in Self.pages {
      let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
      shown.formUnion(Self.blocks(in: text).compactMap(\.name).filter { !Self.isOfExample($0) })
    }
    #expect(Set(try Self.snippets().keys) == shown)
  }
}
