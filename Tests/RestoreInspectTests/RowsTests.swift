import DataProtection
import Foundation
import RestorationArchive
import StateRestoration
import Testing
import restore_inspect

/// Rows are shown under their identifiers, with all their records.
@MainActor @Suite struct RowsTests {
  private static func entries(_ text: String) -> [RestorationArchive.Entry] { [.init(key: "draft", value: text)] }

  /// A root with an editor that has three records, another one that is absent, and a page below each.
  private static func writer() throws -> RestorationArchive.Writer {
    var writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 1.7e9)))
    let root = try writer.insert("root", attributes: .init(classTag: "Root", flags: [.namedByType, .first], save: 1))
    let live = RestorationArchive.Attributes(classTag: "editor", version: 1, model: "note-7", save: 4)
    let editor = try writer.insert("editor", parent: root, attributes: live)
    try writer.setRecord(of: editor, entries: entries("stored"), attributes: live)
    _ = try writer.insert("page", parent: editor)
    // The newer one comes first among the children.
    for (save, text, flags) in [(9, "typed while locked", .first), (6, "of version 2", .quarantined)]
      as [(UInt32, String, RestorationArchive.NodeFlags)]
    {
      let attributes = RestorationArchive.Attributes(version: 2, flags: flags.union(.record), save: save)
      let name = RestorationIdentifier("\u{1}\(writer.nextNumber)")
      let record = try writer.insert(name, parent: editor, attributes: attributes)
      try writer.setRecord(of: record, entries: entries(text), attributes: attributes)
    }
    let absent = RestorationArchive.Attributes(
      classTag: "editor", flags: [.numbered, .absent, .carriedOver],
      savedAt: Date(timeIntervalSince1970: 1.6e9), model: "a secret note", save: 2)
    let other = try writer.insert("editor\u{1}\(writer.nextNumber)", parent: root, attributes: absent)
    try writer.setRecord(of: other, entries: entries("absent"), attributes: absent)
    _ = try writer.insert("page", parent: other, attributes: .init(flags: .closed))
    return writer
  }

  private static func state() async throws -> InspectedState {
    let state = try await InspectedState()
    var writer = try writer()
    let archive = try writer.makeArchive()
    try await state.inProgram { try $0.publish(archive) }
    return state
  }

  private static let editor = ["--node", "root", "--node", "editor"]

  private func json(_ result: InspectTool.Result) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
  }

  private func list(_ member: String, of result: InspectTool.Result) throws -> [[String: Any]] {
    try #require(try json(result)[member] as? [[String: Any]])
  }

  @Test func `the tree has a line for each row and for each further record`() async throws {
    let result = try await Self.state().run("tree", InspectedState.path)
    #expect(result.code == .success)
    let lines = result.output.split(separator: "\n").dropFirst().map(String.init)
    #expect(
      lines == [
        "root  present, type Root, v1, 0 B",
        "  editor  present, class editor, model note-7, v1, 9 B, save 4",
        "    + record: v2, 15 B, save 6 [quarantined]",
        "    + record: v2, 21 B, save 9 [first]",
        "    page  present, v1, 0 B",
        "  editor  absent, class editor, model a secret note, v1, 9 B, save 2 [carried over]",
        "    page  present, v1, 0 B [closed after a crash]",
      ])
  }

  @Test func `the tree's JSON has each row once, with its records`() async throws {
    let nodes = try list("nodes", of: await Self.state().run("tree", InspectedState.path, "--json"))
    let paths = nodes.compactMap { $0["path"] as? [String] }
    #expect(
      paths == [
        ["root"], ["root", "editor"], ["root", "editor", "page"], ["root", "editor"], ["root", "editor", "page"],
      ])
    #expect(nodes.map { $0["presence"] as? String } == ["present", "present", "present", "absent", "present"])
    let records = try #require(nodes[1]["records"] as? [[String: Any]])
    #expect(records.map { $0["save"] as? Int } == [6, 9] && nodes[1]["save"] as? Int == 4)
    #expect(records.map { $0["flags"] as? [String] } == [["quarantined"], ["first"]])
    #expect(nodes[0]["save"] as? Int == 0 && nodes[0]["flags"] as? [String] == [], "it has no record")
    #expect(nodes[4]["flags"] as? [String] == ["closed after a crash"])
  }

  @Test func `show has every record of every row of a path`() async throws {
    let state = try await Self.state()
    let words = ["show", InspectedState.path] + Self.editor
    let text = await state.run(words + ["--reveal"])
    let lines = text.output.split(separator: "\n").map(String.init)
    #expect(lines.filter { !$0.hasPrefix(" ") }.count == 4)
    let drafts = ["stored", "of version 2", "typed while locked", "absent"]
    #expect(lines.filter { $0.hasPrefix(" ") } == drafts.map { "  draft: \"\($0)\"" })
    #expect(lines[0].hasPrefix("present, class editor, model note-7, v1"))
    #expect(lines[6].hasPrefix("absent, class editor, model a secret note, v1"))
    let records = try list("records", of: await state.run(words + ["--reveal", "--json"]))
    #expect(records.compactMap { ($0["values"] as? [String: String])?["draft"] } == drafts)
    #expect(records.map { $0["presence"] as? String } == ["present", "present", "present", "absent"])
  }

  @Test func `sizes count all records of a row, and those below it`() async throws {
    let result = try await Self.state().run("sizes", InspectedState.path, "--json")
    let nodes = try list("nodes", of: result)
    let bytes = nodes.map { $0["bytes"] as? Int ?? 0 }
    let total = try json(result)["bytes"] as? Int
    #expect(nodes.count == 5 && bytes.reduce(0, +) == total)
    let whole = nodes.first { $0["path"] as? [String] == ["root"] }?["bytesWithChildren"] as? Int
    #expect(whole == bytes.reduce(0, +))
    let editors = nodes.filter { $0["path"] as? [String] == ["root", "editor"] }
    #expect(editors.map { $0["bytes"] as? Int } == editors.map { $0["bytesWithChildren"] as? Int })
    #expect(bytes[0] > bytes[1] && bytes[1] > 0)
  }

  @Test func `an export tells no identifier of a model, whichever row it is of`() async throws {
    let state = try await Self.state()
    for words in [[], ["--json"]] {
      let result = await state.run(["export", InspectedState.path] + words)
      #expect(result.code == .success && !result.output.contains("secret") && !result.output.contains("note-7"))
      #expect(result.output.contains("quarantined"))
    }
  }

  @Test func `a difference tells what became of rows and of their further records`() async throws {
    let state = try await Self.state()
    var writer = try Self.writer()
    let old = try writer.makeArchive()
    var later = try RestorationArchive.Writer(continuing: .init(base: .init(old)))
    let root = try #require(try later.child(of: nil, identifier: "root"))
    let rows = try later.children(of: root)
    var attributes = try #require(try later.node(rows[1])?.attributes)
    // The absent one comes back, and the live one's records become one.
    attributes.flags = .numbered
    try later.setAttributes(attributes, of: rows[1])
    let records = try later.children(of: rows[0]).filter { id in
      try later.node(id)?.attributes.flags.contains(.record) == true
    }
    try later.moveState(of: records[0], to: rows[0])
    for record in records { try later.remove(record) }
    let new = try later.makeArchive()
    try await state.inProgram { try $0.publish(new) }
    let result = await state.run("diff", InspectedState.path, "--reveal")
    #expect(result.code == .different)
    #expect(
      result.output == """
        ~ root/editor (present, class editor, model note-7)
            draft: "stored" → "typed while locked"
            record of save 6: v2, 15 B, save 6, quarantined → nothing
            record of save 9: v2, 21 B, save 9, first → nothing
        ~ root/editor (present, class editor, model a secret note)
            presence: absent → present
            flags: carried over → 

        """)
    let nodes = try list("nodes", of: await state.run("diff", InspectedState.path, "--json"))
    #expect(nodes.map { $0["model"] as? String } == ["note-7", "a secret note"])
    #expect(nodes.map { $0["change"] as? String } == ["changed", "changed"])
  }

  @Test func `a row of another model is added beside the one that is there`() async throws {
    let state = try await InspectedState()
    var writer = try Self.writer()
    let root = try #require(try writer.child(of: nil, identifier: "root"))
    let rows = try writer.children(of: root)
    try writer.remove(rows[1])
    let old = try writer.makeArchive()
    // Of another lineage, in which the other row was the first to have the identifier.
    var other = try Self.writer()
    let twins = try other.children(of: try #require(try other.child(of: nil, identifier: "root")))
    for (twin, name) in [(twins[0], "editor\u{1}77"), (twins[1], "editor")] as [(NodeID, RestorationIdentifier)] {
      try other.rename(twin, to: name)
      var attributes = try #require(try other.node(twin)?.attributes)
      attributes.flags.formSymmetricDifference(.numbered)
      try other.setAttributes(attributes, of: twin)
    }
    let new = try other.makeArchive()
    try await state.inProgram { for archive in [old, new] { try $0.publish(archive) } }
    let result = await state.run("diff", InspectedState.path)
    #expect(
      result.output.split(separator: "\n") == [
        "+ root/editor (absent, class editor, model a secret note)", "+ root/editor/page (present)",
      ])
  }

  @Test func `damage in a further record is told of, at the row's path`() async throws {
    let state = try await InspectedState()
    var writer = try Self.writer()
    var archive = try writer.makeArchive()
    let place = try #require(archive.firstRange(of: Data("typed while locked".utf8)))
    // The length of the text.
    archive[place.lowerBound - 1] = 0xF7
    let damaged = archive
    try await state.inProgram { try $0.publish(damaged) }
    #expect(await state.run("tree", InspectedState.path).code == .damaged)
    let verified = await state.run("verify", InspectedState.path)
    #expect(verified.code == .damaged && verified.output.contains("root/editor"), "\(verified.output)")
    #expect(!verified.output.contains("u{1}"))
  }

  @Test func `an editor that shows another note has a row of each`() async throws {
    final class Editor: RestorableController, CodingObject {
      var restoration = RestorationIdentity("editor", model: "note-1")
      var draft = ""
      func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(draft, forKey: "draft") }
      func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
        draft = try coder.decode(String.self, forKey: "draft")
      }
    }
    final class Root: RestorationParent {
      let restoration: RestorationIdentity = "root"
      let editor = Editor()
      var restorationChildren: [any RestorableController] { [editor] }
    }
    let state = try await InspectedState()
    try await state.removeState()
    let device = try await ProtectedDevice.open(
      at: .directory(InspectedState.path), environment: InspectedState.environment(state.disk))
    let (root, delegate) = (Root(), InspectedState.Delegate())
    let coordinator = try RestorationCoordinator(device: device, delegate: delegate)
    _ = try await coordinator.restore(into: root)
    root.editor.draft = "the first draft"
    _ = try await coordinator.preserve(root)
    (root.editor.restoration.model, root.editor.draft) = ("note-2", "the second draft")
    _ = try await coordinator.preserve(root)
    let result = await state.run("show", InspectedState.path, "--node", "root", "--node", "editor", "--reveal")
    #expect(result.output.contains("the first draft") && result.output.contains("the second draft"), "\(result)")
    #expect(result.output.contains("present, type Editor, model note-2"), "\(result)")
    #expect(result.output.contains("absent, type Editor, model note-1"), "\(result)")
    let tree = await state.run("tree", InspectedState.path)
    #expect(!tree.output.contains("u{1}"), "\(tree)")
  }
}
