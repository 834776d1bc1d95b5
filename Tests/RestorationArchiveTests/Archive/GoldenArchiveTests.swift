import Foundation
import RestorationArchive
import Testing

/// Committed archives of every format version, and the example of `Docs/ArchiveFormat.md`.
///
/// The files are never made again: what was once written must stay readable.
struct GoldenArchiveTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

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
    files.append(try #require(try writer.makeDelta()))
    try writer.move(roots[1], to: roots[0], at: 1)
    try writer.remove(try #require(try writer.child(of: roots[0], identifier: "document 0.2")))
    writer.context.versionTag = "red"
    files.append(try #require(try writer.makeDelta()))
    return files
  }

  @Test func `the example of the format's page is what a writer makes`() throws {
    let page = try String(contentsOf: Self.root.appending(path: "Docs/ArchiveFormat.md"), encoding: .utf8)
    let start = try #require(page.range(of: "```hex\n"))
    let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
    let hex = page[start.upperBound..<end.lowerBound].split(separator: "\n").flatMap { line in
      line.prefix { $0 != ";" }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }
    #expect(Data(hex) == (try Self.example()))
  }

  @Test func `golden archives of format 1 read as they always did`() throws {
    let folder = Self.root.appending(path: "Tests/Fixtures/Archives/format-1")
    let names = ["base", "delta-1", "delta-2", "delta-3"]
    let files = try names.map { try Data(contentsOf: folder.appending(path: "\($0).bin")) }
    let reader = try Archive.Reader(base: Archive.Source(files[0]), deltas: Array(files[1...]))
    let text = try Archive.Dump(reader, revealsValues: true).json()
    #expect(text == (try String(contentsOf: folder.appending(path: "dump.json"), encoding: .utf8)))
    var context = Archive.Context.sample
    context.versionTag = "red"
    #expect(try reader.context == context)
    let moved = try #require(try reader.record(at: ["container 0", "container 1", "document 1.2"]))
    #expect(try moved.decode(SampleState.self, forKey: "state") == SampleState(5))
    let added = try #require(try reader.node(at: ["container 0", "container 1", "added"]))
    #expect(added.attributes.model == "m" && added.attributes.priority == .high)
    #expect(added.attributes.savedAt == Date(timeIntervalSinceReferenceDate: 5))
    #expect(try reader.record(of: added.id).decode([String: Double].self, forKey: "fresh key") == ["k": 1.5])
    #expect(try reader.node(at: ["container 0", "document 0.2"]) == nil)
    #expect(try reader.record(at: ["container 0"])?.decode(Int.self, forKey: "number") == 50)
  }

  @Test func `today's writer still makes the bytes of format 1`() throws {
    let folder = Self.root.appending(path: "Tests/Fixtures/Archives/format-1")
    for (name, data) in zip(["base", "delta-1", "delta-2", "delta-3"], try Self.golden()) {
      #expect(try Data(contentsOf: folder.appending(path: "\(name).bin")) == data, "\(name)")
    }
  }
}
