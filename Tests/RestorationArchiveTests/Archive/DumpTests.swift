import FoundationEssentials
import RestorationArchive
import Testing

/// What people see of an archive.
struct DumpTests {
  private func reader() throws -> Archive.Reader {
    var writer = try Archive.Writer.sample(branches: 1, leaves: 2)
    let leaf = try #require(try writer.child(of: try writer.roots[0], identifier: "document 0.1"))
    try writer.setAttributes(
      Archive.Attributes(classTag: "document", version: 2, flags: [.carriedOver], model: "secret model"), of: leaf)
    return try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
  }

  @Test func `a redacted dump shows the tree, keys, kinds and sizes, and no values`() throws {
    let text = try Archive.Dump(reader()).text()
    #expect(text.contains("container 0  #0  class document  version 2"))
    #expect(text.contains("  document 0.1  #2  class document  version 2  carried over"))
    #expect(text.contains("state: 5 fields") && text.contains("number: integer"))
    let json = try Archive.Dump(reader()).json()
    for output in [text, json] {
      #expect(!output.contains("title of") && !output.contains("secret model"))
    }
  }

  @Test func `a revealed dump shows the values, and its JSON can be read`() throws {
    let text = try Archive.Dump(reader(), revealsValues: true).text()
    #expect(text.contains("title of 1 — naïve") && text.contains("number: 1"))
    let json = try Archive.Dump(reader(), revealsValues: true).json()
    struct Outline: Decodable {
      struct Node: Decodable {
        struct State: Decodable {
          var state: SampleState
          var number: Int
        }
        var path: [String]
        var state: State
        var bytes: Int
      }
      var applicationVersion: String
      var nodes: [Node]
    }
    let outline = try JSONDecoder().decode(Outline.self, from: Data(json.utf8))
    #expect(outline.applicationVersion == "2.1")
    #expect(
      outline.nodes.map(\.path) == [
        ["container 0"], ["container 0", "document 0.0"], ["container 0", "document 0.1"],
      ])
    #expect(outline.nodes[2].state.state == SampleState(1))
  }

  @Test func `stored values of every kind are told`() throws {
    struct Everything: Codable {
      var flag = true
      var small = -5
      var large = UInt64.max
      var huge = Int128.max
      var half = 1.5
      var single: Float = 2.25
      var text = "a \"quoted\"\n\u{1}"
      var bytes = Data([1, 2, 3])
      var moment = Date(timeIntervalSinceReferenceDate: 0)
      var id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
      var numbers = [1, -2, 300]
      var lists = [[1.5], []]
      var map = ["a": 1, "b": 2]
      var nothing: Int?
    }
    var writer = Archive.Writer(context: .sample)
    let node = try writer.insert("node")
    try writer.setRecord(
      of: node, entries: [Archive.Entry(key: "all", value: Everything())], attributes: .init())
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    guard case .object(let fields) = try #require(try reader.record(of: node).storedValues().first).value else {
      Issue.record("not an object")
      return
    }
    let values = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) })
    #expect(values["flag"] == .bool(true))
    #expect(values["small"] == .integer("-5"))
    #expect(values["large"] == .integer("18446744073709551615"))
    #expect(values["huge"] == .integer("\(Int128.max)"))
    #expect(values["half"] == .number(1.5))
    #expect(values["single"] == .number(2.25))
    #expect(values["text"] == .string("a \"quoted\"\n\u{1}"))
    #expect(values["bytes"] == .data(Data([1, 2, 3])))
    #expect(values["id"] == .uuid("01020304-0506-0708-090A-0B0C0D0E0F10"))
    #expect(values["numbers"] == .array([.integer("1"), .integer("-2"), .integer("300")]))
    #expect(values["lists"] == .array([.array([.number(1.5)]), .array([])]))
    #expect(values["nothing"] == nil)
  }

  @Test(
    arguments: [
      (0, "2001-01-01 00:00:00 +0000"), (-63_113_904_001, "-63113904001.0 s since 2001"), (.nan, "nan s since 2001"),
      (.infinity, "inf s since 2001"), (-.greatestFiniteMagnitude, "-1.7976931348623157e+308 s since 2001"),
      (0x1p60, "1.152921504606847e+18 s since 2001"),
    ] as [(Double, String)])
  func `a moment that no calendar has is told in seconds`(seconds: Double, text: String) throws {
    var context = Archive.Context.sample
    context.timeSaved = Date(timeIntervalSinceReferenceDate: seconds)
    var writer = Archive.Writer(context: context)
    let node = try writer.insert("node")
    try writer.setRecord(
      of: node, entries: [Archive.Entry(key: "at", value: Date(timeIntervalSinceReferenceDate: seconds))],
      attributes: .init())
    let dump = try Archive.Dump(Archive.Reader(base: Archive.Source(try writer.makeArchive())), revealsValues: true)
    #expect(try dump.json().contains("\"at\":\"\(text)\""))
    #expect(try dump.text().contains("at: "))
  }
}
