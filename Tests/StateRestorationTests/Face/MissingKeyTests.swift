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

  final class Marked<Value: Codable & Sendable>: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "editor"
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

  @Test func `where no value is known the error names the key first, in one line`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("editor", Before()))
    let report = try await bench.launch().restore(into: StoredValue("editor", Later(caret: 1)))
    guard case .decodingFailed(let text)? = report.nodes.first?.notRestoredReason else { return #expect(Bool(false)) }
    #expect(text.hasPrefix("keyNotFound: “caret” is not stored"))
    #expect(!text.contains("\n"))
  }
}
