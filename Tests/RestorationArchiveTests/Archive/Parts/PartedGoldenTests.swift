import Foundation
import RestorationArchive
import Testing

/// Committed archives of a tree in three parts: see ``GoldenArchiveTests``.
struct PartedGoldenTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/Archives/0.1.0")

  /// The parts, and how many deltas of each there are.
  private static let parts: [(part: Archive.Part, deltas: Int)] = [(.first, 1), (.second, 1), (.third, 2)]

  private static func name(_ part: Archive.Part, _ delta: Int) -> String {
    "part-\(part.rawValue)-" + (delta == 0 ? "base" : "delta-\(delta)")
  }

  /// The golden files, by their names.
  private static func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for (part, count) in parts {
      for delta in 0...count {
        files[name(part, delta)] = try Data(contentsOf: folder.appending(path: "\(name(part, delta)).bin"))
      }
    }
    return files
  }

  private static func reader(away: Set<Archive.Part> = []) throws -> Archive.PartedReader {
    let files = try files()
    var readers: [Archive.Part: Archive.Reader] = [:]
    for (part, count) in parts where !away.contains(part) {
      let deltas = (1...count).map { files[name(part, $0)]! }
      readers[part] = try Archive.Reader(base: .init(files[name(part, 0)]!), deltas: deltas)
    }
    let first = readers.removeValue(forKey: .first)
    return try Archive.PartedReader(first: #require(first), further: readers, away: away)
  }

  /// What the golden files hold: boundaries up and down, and below another; then a row that moves to a part and one that leaves.
  static func golden() throws -> [String: Data] {
    var writer = Archive.PartedWriter(context: .sample, draw: SeededBits(seed: 46).draw)
    func add(_ name: RestorationIdentifier, _ parent: NodeID?, _ part: Archive.Part) throws -> NodeID {
      let attributes = Archive.Attributes(classTag: "tag of \(name)", model: "model of \(name)", save: 3)
      let node = try writer.insert(name, parent: parent, attributes: attributes, part: part)
      try writer.setRecord(
        of: node, entries: [.init(key: "text", value: "text of \(name)")], attributes: attributes)
      return node
    }
    let window = try add("window", nil, .first)
    let list = try add("list", window, .first)
    let note = try add("note", window, .third)
    let panel = try add("panel", note, .third)
    _ = try add("position", note, .first)
    let draft = try add("draft", list, .second)
    _ = try add("passage", draft, .third)
    var files: [String: Data] = [:]
    for (part, _) in parts { files[name(part, 0)] = try writer.makeArchive(of: part) }
    try writer.setRecord(
      of: panel, entries: [.init(key: "text", value: "new text of panel")],
      attributes: .init(classTag: "tag of panel", model: "model of panel", save: 4))
    files[name(.third, 1)] = try writer.makeDelta(of: .third)
    _ = try writer.move(panel, to: draft)
    _ = try add("last", window, .second)
    for (part, count) in parts { files[name(part, count)] = try writer.makeDelta(of: part) }
    return files
  }

  private static func tree(_ reader: Archive.PartedReader) throws -> [String] {
    var lines: [String] = []
    var stack = try reader.roots.map { ($0, 0) }
    while let (id, depth) = stack.popLast() {
      let node = try #require(try reader.node(id))
      let indent = String(repeating: " ", count: depth)
      if node.attributes.flags.contains(.hole) {
        lines.append("\(indent)hole of part \(id.part.rawValue)")
        continue
      }
      let record = try reader.record(of: id)
      let text = try record.decode(String.self, forKey: "text")
      lines.append(
        "\(indent)\(node.identifier) \(id.part.rawValue) \(node.attributes.classTag?.rawValue ?? "-")"
          + " \(node.attributes.model?.rawValue ?? "-") \(node.attributes.save) \(text)")
      stack += try reader.children(of: id).reversed().map { ($0, depth + 1) }
    }
    return lines
  }

  private static func line(_ name: String, _ part: Int, save: Int = 3, _ text: String? = nil) -> String {
    "\(name) \(part) tag of \(name) model of \(name) \(save) \(text ?? "text of \(name)")"
  }

  @Test func `golden parts of 0.1.0 are the tree that they always were`() throws {
    let reader = try Self.reader()
    #expect(try reader.irregularities().isEmpty)
    #expect(
      try Self.tree(reader) == [
        Self.line("window", 0), " " + Self.line("list", 0), "  " + Self.line("draft", 1),
        "   " + Self.line("passage", 2), "   " + Self.line("panel", 2, save: 4, "new text of panel"),
        " " + Self.line("note", 2), "  " + Self.line("position", 0), " " + Self.line("last", 1),
      ])
  }

  @Test func `golden parts of 0.1.0 have holes where another one is away`() throws {
    let first = try Self.tree(Self.reader(away: [.second, .third]))
    #expect(
      first == [
        Self.line("window", 0), " " + Self.line("list", 0), "  hole of part 1", " hole of part 2", " hole of part 1",
      ])
    let third = try Self.tree(Self.reader(away: [.third]))
    #expect(
      third == [
        Self.line("window", 0), " " + Self.line("list", 0), "  " + Self.line("draft", 1), "   hole of part 2",
        "   hole of part 2", " hole of part 2", " " + Self.line("last", 1),
      ])
  }

  @Test func `a golden part of 0.1.0 tells nothing of what lies in others`() throws {
    for (name, data) in try Self.files() where name.hasPrefix("part-0") {
      for other in ["note", "panel", "draft", "passage", "last"] {
        #expect(data.range(of: Data(other.utf8)) == nil, "\(name) has \(other)")
      }
    }
  }

  @Test func `today's writer still makes the parts of 0.1.0`() throws {
    #expect(try Self.golden() == Self.files())
  }
}
