import DataProtection
import FaultyFileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// The manual page says what the program does.
@MainActor @Suite struct InspectManualTests {
  /// The page, by section: a heading and the lines below it.
  nonisolated private static func sections() throws -> [String: [String]] {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Docs/restore-inspect.1")
    var sections: [String: [String]] = [:]
    var title = ""
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix(".SH ") {
        title = String(line.dropFirst(4))
      } else {
        sections[title, default: []].append(String(line))
      }
    }
    return sections
  }

  /// The entries of a section: a term, and the text about it with the fonts taken out.
  nonisolated private static func entries(_ section: String) throws -> [(term: String, lines: [String])] {
    var entries: [(term: String, lines: [String])] = []
    var isTerm = false
    for line in try #require(try sections()[section]) {
      if line == ".TP" {
        isTerm = true
      } else if isTerm {
        entries.append((plain(line), []))
        isTerm = false
      } else if line == ".PP" {
        break
      } else if !entries.isEmpty, line != ".nf", line != ".fi" {
        entries[entries.count - 1].lines.append(plain(line))
      }
    }
    return entries
  }

  nonisolated private static func plain(_ line: String) -> String {
    var text = line.replacingOccurrences(of: "\\-", with: "-").replacingOccurrences(of: "\"", with: "")
    for macro in [".BI ", ".BR ", ".B ", ".I ", ".RI "] where text.hasPrefix(macro) {
      text = String(text.dropFirst(macro.count)).replacingOccurrences(of: " )", with: ")")
    }
    return text.replacingOccurrences(of: "  ", with: " ")
  }

  @Test func `every command is described in the words of the help`() throws {
    let entries = try Self.entries("COMMANDS")
    #expect(entries.map(\.term) == InspectArguments.Verb.allCases.map(\.rawValue))
    for (entry, verb) in zip(entries, InspectArguments.Verb.allCases) {
      let text = entry.lines.joined(separator: " ").lowercased()
      #expect(text.hasPrefix(verb.summary.lowercased()), "\(verb): \(text)")
    }
  }

  @Test func `every option is described in the words of the help, and understood`() throws {
    let entries = try Self.entries("OPTIONS")
    #expect(entries.map(\.term) == InspectHelp.options.map(\.0))
    for (entry, option) in zip(entries, InspectHelp.options) where option.0 != "--help" {
      let text = entry.lines.joined(separator: " ").lowercased()
      #expect(text.hasPrefix(option.1.lowercased()), "\(option.0): \(text)")
      var words = option.0.split(separator: " ").map(String.init)
      if words.count == 2 { words[1] = "3" }
      #expect(throws: Never.self) { try InspectArguments(["tree", "/device"] + words) }
    }
  }

  @Test func `every exit code is described in the words of the help`() throws {
    let entries = try Self.entries("EXIT STATUS")
    #expect(entries.map(\.term) == InspectExitCode.allCases.map { "\($0.rawValue)" })
    #expect(
      entries.map { $0.lines.joined(separator: " ").lowercased() }
        == InspectExitCode.allCases.map { $0.meaning.lowercased() + "." })
  }

  @Test func `of several codes the page's order decides`() throws {
    let text = try #require(try Self.sections()["EXIT STATUS"]?.last)
    let order = text.matches(of: #/\d/#).compactMap { Int32(text[$0.range]) }.compactMap(InspectExitCode.init)
    #expect(Set(order) == Set(InspectExitCode.allCases).subtracting([.usage]))
    for (index, worse) in order.enumerated() {
      for better in order.dropFirst(index) {
        #expect(worse.combined(with: better) == worse && better.combined(with: worse) == worse)
      }
    }
  }

  @Test func `the examples are those of the help, and are understood`() throws {
    let examples = try #require(try Self.sections()["EXAMPLES"]).filter { !$0.hasPrefix(".") }
    #expect(examples == InspectHelp.examples)
    for example in examples {
      let words = example.split(separator: " ").map(String.init)
      // What a shell would take for itself.
      let arguments = Array(words.dropFirst().prefix { !$0.contains("<") && !$0.contains(">") })
      #expect(words[0] == "restore-inspect")
      #expect(throws: Never.self) { try InspectArguments(arguments) }
    }
  }

  @Test func `help and page name every outcome of a file`() throws {
    let text = try Self.entries("COMMANDS").first { $0.term == "verify" }?.lines.joined(separator: " ") ?? ""
    for code: ProtectionError.Code in [
      .locked, .corrupt, .missing, .rolledBack, .wrongIdentity, .wrongClass, .otherDevice, .keysMissing,
      .unsupportedVersion, .busy, .io,
    ] {
      #expect(text.contains(code.description))
    }
  }

  // MARK: JSON

  @Test(arguments: InspectArguments.Verb.allCases)
  func `JSON has the members that the page lists, and no others`(verb: InspectArguments.Verb) async throws {
    let state = try await InspectedState(passcode: "1234")
    try await state.inProgram(passcode: "1234") { store in
      var writer = RestorationArchive.Writer(
        context: RestorationArchive.Context(applicationVersion: "1", timeSaved: Date(timeIntervalSince1970: 1.7e9)))
      let root = try writer.insert("root")
      let first = try writer.insert("first", parent: root)
      try writer.setRecord(
        of: root,
        entries: [
          RestorationArchive.Entry(key: "link", value: ["root", "second"]),
          RestorationArchive.Entry(key: "a key", value: 1),
        ], attributes: RestorationArchive.Attributes(flags: .shared))
      let flags: RestorationArchive.NodeFlags = [.record, .first]
      let further = try writer.insert("\u{1}9", parent: root, attributes: .init(flags: flags, save: 3))
      try writer.setRecord(
        of: further, entries: [RestorationArchive.Entry(key: "a key", value: 2)],
        attributes: .init(flags: flags, save: 3))
      try store.publish(try writer.makeArchive())
      try writer.setRecord(
        of: first, entries: [RestorationArchive.Entry(key: "text", value: "x")],
        attributes: RestorationArchive.Attributes())
      let second = try writer.insert("second", parent: root)
      try writer.move(first, to: second)
      writer.context.applicationVersion = "2"
      try store.publish(try writer.makeArchive())
    }
    _ = try await state.addFile("letter", .none, passcode: "1234")
    var found: Set<String> = []
    for (passcode, isDamaged) in [("1234", false), (nil, false), ("1234", true)] {
      if isDamaged { try await Self.loseLastChange(of: state, passcode: "1234") }
      if isDamaged, verb == .list { try state.edit("\(InspectedState.path)/slots") { $0[40] ^= 1 } }
      let result = await state.run(verb.rawValue, InspectedState.path, "--node", "root", "--json", passcode: passcode)
      if !result.error.isEmpty { continue }
      let json = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
      #expect(json["format"] as? Int == InspectOutput.format)
      found.formUnion(Self.members(json, ""))
    }
    let listed = try #require(try Self.entries("JSON").first { $0.term == verb.rawValue }).lines
    // A name of the user's, or a part that is described elsewhere.
    let wild = listed.filter { $0.hasSuffix(".*") }.map { String($0.dropLast(1)) }
    let expected = Set(listed.filter { !$0.hasSuffix(".*") })
    // A whole part may be null.
    let isPart = { name in (wild + expected).contains { $0.hasPrefix(name + ".") || $0.hasPrefix(name + "[]") } }
    let plain = found.filter { name in !wild.contains { name.hasPrefix($0) } && !isPart(name) }
    #expect(plain.subtracting(expected).isEmpty, "not on the page")
    #expect(expected.subtracting(plain).isEmpty, "on the page only")
    for prefix in wild { #expect(found.contains { $0.hasPrefix(prefix) }, "\(prefix)*") }
  }

  /// Appends two changes to the newest generation, and spoils the second behind the part that is read as written.
  private static func loseLastChange(of state: InspectedState, passcode: String) async throws {
    try await state.inProgram(passcode: passcode) { store in
      try InspectedState.appendNodes(["third", "fourth"], to: store)
    }
    try state.spoilFrames(of: try #require(state.generations.last))
  }

  /// The names of everything in a JSON value that is no container, lists by `[]`.
  nonisolated private static func members(_ value: Any, _ path: String) -> Set<String> {
    switch value {
    case let object as [String: Any]:
      Set(object.flatMap { members($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") })
    case let list as [Any]: Set(list.flatMap { members($0, path + "[]") })
    default: [path]
    }
  }
}
