import Foundation
import Testing

/// The names that the articles and the README put between backticks are those of public symbols, or of their own code.
struct NameTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Names of others: the desktop's interfaces, peers, Swift's own, and words that a reader types.
  private static let foreign: Set<String> = [
    "ActiveChanged", "GtkRestoreReason", "InhibitDelayMaxUSec", "Lock", "LockedHint", "PrepareForShutdown",
    "PrepareForSleep", "QueryEndResponse", "Unlock", "pam_keyinit", "NSUserActivity", "RestorationMixin",
    "SceneStorage", "DecodingError", "JSONEncoder", "completionHandler", "rememberSaveable", "ObservationIgnored",
    "exit", "fsync", "fg", "Bread", "Milk", "dispatchMain", "g_application_run", "gtk_main", "epoll_wait", "getch",
  ]

  /// The libraries, every part of the path of every public symbol, and every argument label.
  static func publicNames() throws -> Set<String> {
    var names: Set<String> = []
    let folder = root.appendingPathComponent("Tests/Fixtures/PublicFace")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      names.insert(file.deletingPathExtension().lastPathComponent)
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard let path = line.firstRange(of: ": ").map({ line[..<$0.lowerBound] }) else { continue }
        names.formUnion(path.matches(of: /\w+/).map { String($0.output) })
      }
    }
    return names
  }

  /// The identifiers between backticks on a page, without its code; of tables that compare, without the column of the others.
  static func names(on page: String) throws -> [String] {
    var text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    text.replace(/(?s)```.*?```/, with: "")
    // docc checks these.
    text.replace(/``[^`]*``/, with: "")
    let lines = text.split(separator: "\n").map { line in
      let isComparison = page.contains("/From") && line.hasPrefix("|")
      return isComparison ? line.split(separator: "|").dropFirst().joined(separator: "|") : String(line)
    }
    return lines.joined(separator: "\n").matches(of: /`([^`\n]+)`/).compactMap { match in
      // The last part of a dotted name, without its arguments.
      match.1.wholeMatch(of: /[@.]?(?:[A-Za-z]\w*\.)*([A-Za-z]\w*)(?:\(.*\))?/).map { String($0.1) }
    }
  }

  /// The program that *A GTK program* explains, which is a package of its own.
  private static func sourcesOfGTKNotes() throws -> [String] {
    let folder = root.appendingPathComponent("Docs/Examples/gtk-notes/Sources")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
    return try files.compactMap { $0 as? URL }.filter { ["swift", "h"].contains($0.pathExtension) }.map {
      try String(contentsOf: $0, encoding: .utf8)
    }
  }

  @Test(arguments: SnippetTests.pages) func `every name on a page is one of the package`(_ page: String) throws {
    var known = try Self.publicNames().union(Self.foreign)
    var code = try SnippetTests.snippets().values.map(\.code)
    for program in ["todo", "two-windows", "locked-diary", "guide"] {
      code.append(try String(contentsOf: Example.source(program), encoding: .utf8))
    }
    let toolkit = Self.root.appendingPathComponent("Docs/Examples/declarative/Toolkit.swift")
    code.append(try String(contentsOf: toolkit, encoding: .utf8))
    code += try Self.sourcesOfGTKNotes()
    code += CompilerMistakeTests.programs.values
    for text in code { known.formUnion(text.matches(of: /\w+/).map { String($0.output) }) }
    let unknown = try Self.names(on: page).filter { !known.contains($0) }
    #expect(unknown.isEmpty, "\(page) has names that are nowhere")
  }

  @Test func `a name that is nowhere is found`() throws {
    #expect(try Self.names(on: "README.md").contains("DeviceKeyProvider"))
    #expect(try !Self.publicNames().contains("lintRestorationOfNothing"))
  }
}
