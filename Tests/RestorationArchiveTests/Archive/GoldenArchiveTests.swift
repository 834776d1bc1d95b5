import Foundation
import RestorationArchive
import Testing

/// Committed archives of every released format, and the example of `Docs/ArchiveFormat.md`.
///
/// A folder has the name of the first release that wrote the format. Its files are fixed from that release on: what was once
/// written must stay readable.
struct GoldenArchiveTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static let names = ["base", "delta-1", "delta-2", "delta-3"]

  /// The golden files of a release.
  private static func files(_ release: String) throws -> [Data] {
    let folder = root.appending(path: "Tests/Fixtures/Archives/\(release)")
    return try names.map { try Data(contentsOf: folder.appending(path: "\($0).bin")) }
  }

  /// Numbers of every length, and doubles from round to not round at all.
  struct Numbers: Codable, Equatable {
    var integers = [0, 119, 120, 759, 760, -760, -761, 1 << 40].map(Optional.some) + [nil]
    var round = [0.0, -0.0, 1, 2, 320, 0.5, -1.25, 1.0 / 3, .infinity].map(Optional.some)
    var list = [1.5, 2.5]
    var set: Set<Double> = [1, 2, 1.0 / 3]
    var byName = ["a": 0.25, "b": 1e300]
    var whole = 44.0
    var none: Double?
    var some: Double? = 7
    var text = String(repeating: "long ", count: 60)
  }

  /// The writer of the example, with one call more for each part of the file.
  static func example() throws -> Data {
    var writer = Archive.Writer(
      context: Archive.Context(
        applicationVersion: "1", timeSaved: Date(timeIntervalSinceReferenceDate: 0), interfaceIdiom: ""))
    let root = try writer.insert("a")
    let child = try writer.insert("b", parent: root)
    try writer.setRecord(of: child, entries: [Archive.Entry(key: "n", value: 7)], attributes: .init())
    return try writer.makeArchive()
  }

  /// What the golden files hold: a base and three deltas of every kind of change.
  static func golden() throws -> [Data] {
    var writer = try Archive.Writer.sample(branches: 2, leaves: 3)
    var files = [try writer.makeArchive()]
    let roots = try writer.roots
    try writer.set(roots[0], 50)
    files.append(try #require(try writer.makeDelta()))
    let added = try writer.insert(
      "added", parent: roots[1], at: 0, attributes: Archive.Attributes(classTag: "new", flags: .view, model: "m"))
    try writer.setRecord(
      of: added, entries: [Archive.Entry(key: "fresh key", value: ["k": 1.5])],
      attributes: Archive.Attributes(
        classTag: "new", priority: .high, flags: .view, savedAt: Date(timeIntervalSinceReferenceDate: 5), model: "m"))
    let numbers = try writer.insert(
      "numbers", parent: roots[1], attributes: Archive.Attributes(role: "left"))
    try writer.setRecord(
      of: numbers, entries: [Archive.Entry(key: "numbers", value: Numbers())], attributes: .init(role: "left"))
    try insertRecords(below: roots[1], in: &writer)
    files.append(try #require(try writer.makeDelta()))
    try writer.move(roots[1], to: roots[0], at: 1)
    let note = try #require(try writer.child(of: roots[1], identifier: "note"))
    let records = try writer.children(of: note)
    try writer.moveState(of: records[0], to: note)
    try writer.remove(records[0])
    try writer.removeState(of: records[1])
    try writer.remove(try #require(try writer.child(of: roots[0], identifier: "document 0.2")))
    writer.context.versionTag = "red"
    files.append(try #require(try writer.makeDelta()))
    return files
  }

  /// Two rows of one identifier: a live one of three records, and one that is absent, with a quarantined record.
  private static func insertRecords(below parent: NodeID, in writer: inout Archive.Writer) throws {
    func text(_ text: String) -> [Archive.Entry] { [Archive.Entry(key: "text", value: text)] }
    let row = Archive.Attributes(classTag: "Note", flags: [.namedByType, .closed], save: 7)
    let note = try writer.insert("note", parent: parent, attributes: row)
    try writer.setRecord(of: note, entries: text("stored"), attributes: row)
    for (save, flags) in [(9, []), (10, .first)] as [(UInt32, Archive.NodeFlags)] {
      let attributes = Archive.Attributes(version: 2, flags: flags.union(.record), save: save)
      let name = RestorationIdentifier("\u{1}\(writer.nextNumber)")
      let record = try writer.insert(name, parent: note, attributes: attributes)
      try writer.setRecord(of: record, entries: text("record \(save)"), attributes: attributes)
    }
    let other = Archive.Attributes(
      classTag: "note", flags: [.numbered, .absent, .carriedOver, .quarantined],
      savedAt: Date(timeIntervalSinceReferenceDate: 6), model: "n", save: 300_000)
    let absent = try writer.insert("note\u{1}\(writer.nextNumber)", parent: parent, attributes: other)
    try writer.setRecord(of: absent, entries: text("absent"), attributes: other)
  }

  @Test func `the example of the format's page is what a writer makes`() throws {
    #expect(try FormatPage.example("## Example of an archive") == Self.example())
  }

  @Test func `golden archives of 0.1.0 read as they always did`() throws {
    let files = try Self.files("0.1.0")
    let reader = try Archive.Reader(base: Archive.Source(files[0]), deltas: Array(files[1...]))
    var context = Archive.Context.sample
    context.versionTag = "red"
    #expect(try reader.context == context)
    for path: RestorationPath in [["container 0"], ["container 0", "container 1"]] {
      #expect(try reader.record(at: path)?.keys == ["state", "number"])
    }
    let added = try #require(try reader.node(at: ["container 0", "container 1", "added"]))
    #expect(added.attributes.model == "m" && added.attributes.priority == .high)
    #expect(added.attributes.savedAt == Date(timeIntervalSinceReferenceDate: 5))
    #expect(try reader.record(of: added.id).decode([String: Double].self, forKey: "fresh key") == ["k": 1.5])
    #expect(try reader.node(at: ["container 0", "document 0.2"]) == nil)
    #expect(try reader.record(at: ["container 0"])?.decode(Int.self, forKey: "number") == 50)
    let moved = try #require(try reader.record(at: ["container 0", "container 1", "document 1.2"]))
    #expect(try moved.decode(SampleState.self, forKey: "state") == SampleState(5))
    #expect(try reader.node(at: ["container 0", "container 1", "numbers"])?.attributes.role == "left")
    let numbers = try #require(try reader.record(at: ["container 0", "container 1", "numbers"]))
    #expect(try numbers.decode(Numbers.self, forKey: "numbers") == Numbers())
  }

  @Test func `golden archives of 0.1.0 have rows and records as they always did`() throws {
    let files = try Self.files("0.1.0")
    let reader = try Archive.Reader(base: Archive.Source(files[0]), deltas: Array(files[1...]))
    let parent = try #require(try reader.id(at: ["container 0", "container 1"]))
    let nodes = try reader.children(of: parent).compactMap { try reader.node($0) }
    let rows = nodes.filter { $0.identifier.rawValue.hasPrefix("note") }
    #expect(rows.count == 2 && rows[0].identifier == "note")
    #expect(rows[0].attributes == .init(classTag: "Note", flags: [.namedByType, .closed], save: 7))
    #expect(try reader.record(of: rows[0].id).decode(String.self, forKey: "text") == "record 9")
    let records = try reader.children(of: rows[0].id).compactMap { try reader.node($0) }
    #expect(records.map(\.identifier.rawValue) == records.map { "\u{1}\($0.id.rawValue)" } && records.count == 1)
    #expect(records[0].attributes == .init(version: 2, flags: [.record, .first], save: 10))
    #expect(records[0].byteCount == 0)
    #expect(rows[1].identifier.rawValue == "note\u{1}\(rows[1].id.rawValue)")
    #expect(rows[1].attributes.flags == [.numbered, .absent, .carriedOver, .quarantined])
    #expect(rows[1].attributes.model == "n" && rows[1].attributes.save == 300_000)
    #expect(try reader.record(of: rows[1].id).decode(String.self, forKey: "text") == "absent")
  }

  @Test func `today's writer still makes the bytes of 0.1.0`() throws {
    #expect(try Self.golden() == Self.files("0.1.0"))
  }
}
