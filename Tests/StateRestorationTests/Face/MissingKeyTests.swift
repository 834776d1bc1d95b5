import StateRestoration
import StateRestorationTesting
import Testing

/// State that has gained a field is read: the missing key takes the value that the object has at launch.
@MainActor @Suite struct MissingKeyTests {
  nonisolated struct Before: Codable, Sendable {
    var text = ""
    var place = PlaceBefore()
    nonisolated struct PlaceBefore: Codable, Sendable { var line = 0 }
  }

  nonisolated struct After: Codable, Sendable, Equatable {
    var text = ""
    var place = Place()
    var zoom = 1.5
    var names = ["launch"]
    var note: String?
    nonisolated struct Place: Codable, Sendable, Equatable {
      var line = 0
      var column = 7
    }
  }

  @Test func `fields with a default take it, those within others too, and optional ones are nil`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Before(text: "typed", place: .init(line: 3))))
    let editor = StoredValue("editor", After(note: "launch"))
    let report = try await bench.launch().restore(into: editor)
    #expect(report.notRestored.isEmpty)
    #expect(
      editor.value == After(text: "typed", place: .init(line: 3, column: 7), zoom: 1.5, names: ["launch"], note: nil))
  }

  nonisolated struct WideBefore: Codable, Sendable { var stored = Int128.max }

  nonisolated struct Wide: Codable, Sendable, Equatable {
    var stored: Int128 = 1
    var signed: Int128 = -2
    var unsigned = UInt128.max
  }

  @Test func `fields of 128 bits are completed as well`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", WideBefore()))
    let editor = StoredValue("editor", Wide())
    _ = try await bench.launch().restore(into: editor)
    #expect(editor.value == Wide(stored: .max))
  }

  final class Marked<Value: Codable & Sendable>: RestorableController {
    let restoration: RestorationIdentity = "editor"
    @Restored var state: Value
    init(_ state: Value) { _state = Restored(wrappedValue: state, "state") }
  }

  @Test func `a marked property takes them, too`() async throws {
    let bench = Bench()
    try await bench.preserve(Marked(Before(text: "typed")))
    let editor = Marked(After())
    _ = try await bench.launch().restore(into: editor)
    #expect(editor.state == After(text: "typed"))
  }

  nonisolated struct Later: Codable, Sendable {
    var caret: Int
    init(caret: Int) { self.caret = caret }
    // It is never stored, so the value at launch has no caret either.
    func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
  }

  nonisolated struct Renamed: Codable, Sendable {
    var words = "launch"
    var place = Before.PlaceBefore()
  }

  nonisolated struct Optionals<Name: CodingKey & Sendable>: Codable, Sendable {
    var value: String?
    init(_ value: String? = nil) { self.value = value }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Name.self)
      value = try Name(stringValue: "value").flatMap { try container.decodeIfPresent(String.self, forKey: $0) }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      try Name(stringValue: "value").map { try container.encodeIfPresent(value, forKey: $0) }
    }
  }

  enum OldName: String, CodingKey { case value }
  enum NewName: String, CodingKey { case renamed }

  @Test func `a field that the type does not know any more is named`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Before(text: "typed")))
    let renamed = StoredValue("editor", Renamed())
    let report = try await bench.launch().restore(into: renamed)
    #expect(report.nodes.first?.remarks == [.unreadKeys(["text"])])
    #expect(renamed.value.words == "launch")
    let marked = Bench()
    try await marked.preserve(Marked(Before(text: "typed")))
    let again = try await marked.launch().restore(into: Marked(Renamed()))
    #expect(again.nodes.first?.remarks == [.unreadKeys(["state.text"])])
  }

  @Test func `so is an optional one, which no error tells`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Optionals<OldName>("typed")))
    let report = try await bench.launch().restore(into: StoredValue("editor", Optionals<NewName>()))
    #expect(report.nodes.first?.remarks == [.unreadKeys(["value"])])
  }

  /// Reads its older form itself.
  nonisolated struct Migrating: Codable, Sendable {
    var words = ""
    init() {}
    enum Former: String, CodingKey { case text, place }
    init(from decoder: any Decoder) throws {
      words = try decoder.container(keyedBy: Former.self).decode(String.self, forKey: .text)
      words += try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .words) ?? ""
    }
  }

  @Test func `a field that the type reads by other keys is not, nor are those of dictionaries`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Before(text: "typed")))
    let migrating = StoredValue("editor", Migrating())
    #expect(try await bench.launch().restore(into: migrating).nodes.first?.remarks == [])
    #expect(migrating.value.words == "typed")
    let table = Bench()
    try await table.preserve(StoredValue("editor", ["one": Before()]))
    #expect(try await table.launch().restore(into: StoredValue("editor", ["two": Before()])).nodes.first?.remarks == [])
  }

  @Test func `where no value is known the error names the key first, in one line`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Before()))
    let report = try await bench.launch().restore(into: StoredValue("editor", Later(caret: 1)))
    guard case .decodingFailed(let text)? = report.nodes.first?.notRestoredReason else { return #expect(Bool(false)) }
    #expect(text.hasPrefix("keyNotFound: “caret” is not stored"))
    #expect(!text.contains("\n"))
  }
}
