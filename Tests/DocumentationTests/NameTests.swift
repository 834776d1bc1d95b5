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
    "HOME", "XDG_STATE_HOME", "sudo",
  ]

  /// The libraries, every part of the path of every public symbol, and every argument label.
  static func publicNames() throws -> Set<String> {
    var names: Set<String> = []
    let folder = root.appendingPathComponent("Tests/Fixtures/PublicFace")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    for file in files where file.pathExtension == "txt" {
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

  // MARK: - Types in samples

  /// Types of Swift and of others, and those that samples take for the program's own.
  private static let typesOfSamples: Set<String> = [
    "Bool", "Codable", "Data", "Double", "FileManager", "Int16", "POLLIN", "SIGKILL", "Sendable", "String", "UUID",
    "EditorController", "EditorState", "EditorState1", "EditorState2", "ItemScreen",
    "NotesApp", "NotesWindow", "Page",
    "PageState", "RenameDialogue", "SearchController", "SearchPanel", "Value",
  ]

  /// The types that code names without a type or module before them, but those that it declares itself.
  static func types(in code: String) -> Set<String> {
    var text = code
    text.replace(/\/\/.*/, with: "")
    text.replace(/"[^"\n]*"/, with: "\"\"")
    let named = text.matches(of: /(^|[^\w.@`])([A-Z]\w*)/).map { String($0.2) }
    let declared = text.matches(of: /(?:class|struct|enum|protocol|typealias) ([A-Z]\w*)/).map { String($0.1) }
    return Set(named).subtracting(declared)
  }

  /// The libraries, and the public types that stand in no other one.
  private static func publicTypes() throws -> Set<String> {
    var types: Set<String> = []
    let folder = root.appendingPathComponent("Tests/Fixtures/PublicFace")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    for file in files where file.pathExtension == "txt" {
      types.insert(file.deletingPathExtension().lastPathComponent)
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if let name = line.prefixMatch(of: /(\w+):\s/) { types.insert(String(name.1)) }
      }
    }
    return types
  }

  /// The samples of the documentation comments in a file.
  static func samples(in source: String) -> [String] {
    let comments = source.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
      let text = line.drop { $0 == " " }
      return text.hasPrefix("///") ? text.dropFirst(3) : ""
    }
    return comments.joined(separator: "\n").matches(of: /(?s)```swift\n(.*?)```/).map { String($0.1) }
  }

  private static let libraries = [
    "RestorationArchive", "DataProtection", "ApplicationLifecycle", "StateRestoration", "StateRestorationTesting",
    "DesktopSession",
  ]

  @Test(arguments: libraries)
  func `every type in a sample of a documentation comment exists`(_ library: String) throws {
    let known = try Self.publicTypes().union(Self.typesOfSamples)
    let folder = Self.root.appendingPathComponent("Sources/\(library)")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
    for file in files.compactMap({ $0 as? URL }) where file.pathExtension == "swift" {
      for sample in Self.samples(in: try String(contentsOf: file, encoding: .utf8)) {
        let unknown = Self.types(in: sample).subtracting(known)
        #expect(unknown.isEmpty, "\(file.lastPathComponent) has a sample with types that are nowhere")
      }
    }
  }

  @Test(arguments: SnippetTests.pages) func `every type in a call between backticks exists`(_ page: String) throws {
    let known = try Self.publicTypes().union(Self.typesOfSamples)
    var text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
    text.replace(/(?s)```.*?```/, with: "")
    text.replace(/``[^`]*``/, with: "")
    for call in text.matches(of: /`([^`\n]*\([A-Z]\w*\([^`\n]*)`/) {
      let unknown = Self.types(in: String(call.1)).subtracting(known)
      #expect(unknown.isEmpty, "\(page) calls something that is nowhere")
    }
  }

  @Test func `a type that is nowhere is found in a sample`() {
    let source = """
        /// ```swift
        /// let a = Nowhere("Not") // Nor
        /// struct Own { var b: Own.Part }
        /// ```
        let c: Other
      """
    #expect(Self.samples(in: source).map { Self.types(in: $0) } == [["Nowhere"]])
  }

  @Test func `a name that is nowhere is found`() throws {
    #expect(try Self.names(on: "README.md").contains("KeyProvider"))
    #expect(try !Self.publicNames().contains("lintRestorationOfNothing"))
  }

  @Test func `the table of public types has every type at top level once, and none more`() throws {
    var types: [String] = []
    for module in ["StateRestoration", "DataProtection", "ApplicationLifecycle", "RestorationArchive"] {
      let file = Self.root.appendingPathComponent("Tests/Fixtures/PublicFace/\(module).txt")
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard let match = try /(\w+): .*?\b(?:class|struct|enum|protocol|typealias) (\w+)\b.*/.wholeMatch(in: line),
          match.1 == match.2
        else { continue }
        types.append(String(match.1))
      }
    }
    #expect(types.count > 40 && Set(types).count == types.count)
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("Docs/PublicTypes.md"), encoding: .utf8)
    let listed = page.matches(of: /(?m)^\| `(\w+)` \|/).map { String($0.1) }
    #expect(listed.sorted() == types.sorted())
  }
}
