import Foundation
import RestorationArchive
import Testing

/// Committed archives of every format version, and the example of `Docs/ArchiveFormat.md`.
///
/// The files are never made again: what was once written must stay readable.
struct GoldenArchiveTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static let names = ["base", "delta-1", "delta-2", "delta-3"]

  /// The golden files of a format version.
  private static func files(_ version: Int) throws -> [Data] {
    let folder = root.appending(path: "Tests/Fixtures/Archives/format-\(version)")
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
    files.append(try #require(try writer.makeDelta()))
    try writer.move(roots[1], to: roots[0], at: 1)
    try writer.remove(try #require(try writer.child(of: roots[0], identifier: "document 0.2")))
    writer.context.versionTag = "red"
    files.append(try #require(try writer.makeDelta()))
    return files
  }

  @Test func `the example of the format's page is what a writer makes`() throws {
    #expect(try FormatPage.example("## Example of an archive") == Self.example())
  }

  @Test func `golden archives of format 5 read as they always did`() throws {
    let files = try Self.files(5)
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

  @Test func `today's writer still makes the bytes of format 5`() throws {
    #expect(try Self.golden() == Self.files(5))
  }
}
