import StateRestoration
import Testing

/// The three ways to say what is preserved, alone and mixed in one class hierarchy (R3.1).
@MainActor struct ThreeWaysTests {
  final class Search: RestorableController {
    let restoration: RestorationIdentity = "search"
    @Restored("query") var query = ""
    @Restored("limit") var limit: Int? = nil
  }

  struct EditorState: Codable, Sendable, Equatable {
    var draft = ""
    var caret = 0
  }

  final class Editor: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "editor"
    var restorableState = EditorState()
  }

  class Base: RestorableController, CodingObject {
    var restoration: RestorationIdentity { "base" }
    var title = ""

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(title, forKey: "title")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      title = try coder.decode(forKey: "title")
    }
  }

  class Detailed: Base {
    var detail = 0

    override func encodeRestorableState(with coder: RestorationEncoder) {
      super.encodeRestorableState(with: coder)
      coder.encode(detail, forKey: "detail")
    }

    override func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      try super.decodeRestorableState(with: coder)
      detail = try coder.decode(forKey: "detail")
    }
  }

  final class Mixed: Detailed, StatefulObject {
    @Restored("query") var query = ""
    var restorableState = EditorState()
  }

  @Test func `marked properties come back without another line of code`() throws {
    let old = Search()
    old.query = "swift"
    old.limit = 7
    let new = Search()
    try transfer(from: old, to: new)
    #expect(new.query == "swift")
    #expect(new.limit == 7)
  }

  @Test func `a marked property that is nil comes back as nil`() throws {
    let new = Search()
    new.limit = 7
    try transfer(from: Search(), to: new)
    #expect(new.limit == nil)
  }

  @Test func `one Codable value comes back whole`() throws {
    let old = Editor()
    old.restorableState = EditorState(draft: "Dear", caret: 4)
    let new = Editor()
    try transfer(from: old, to: new)
    #expect(new.restorableState == EditorState(draft: "Dear", caret: 4))
  }

  @Test func `a subclass adds to what its superclass wrote`() throws {
    let old = Detailed()
    old.title = "Notes"
    old.detail = 3
    let coder = try stored(old)
    let new = Detailed()
    try TrackedObject(new).apply(coder)
    #expect(new.title == "Notes")
    #expect(new.detail == 3)
  }

  @Test func `the three ways mix in one class hierarchy`() throws {
    let old = Mixed()
    old.title = "Notes"
    old.detail = 3
    old.query = "swift"
    old.restorableState.draft = "Dear"
    let new = Mixed()
    try transfer(from: old, to: new)
    #expect(new.title == "Notes")
    #expect(new.detail == 3)
    #expect(new.query == "swift")
    #expect(new.restorableState.draft == "Dear")
  }

  @Test func `what was captured is a copy, whatever happens to the object afterwards`() throws {
    let old = Mixed()
    old.title = "before"
    old.query = "before"
    old.restorableState.draft = "before"
    let capture = try #require(TrackedObject(old).capture(context: .test))
    old.title = "after"
    old.query = "after"
    old.restorableState.draft = "after"
    let new = Mixed()
    try TrackedObject(new).apply(
      RestorationDecoder(.init(MemoryRecord(capture.entries), at: [], version: 1), context: .test))
    #expect(new.title == "before")
    #expect(new.query == "before")
    #expect(new.restorableState.draft == "before")
  }

  @Test func `captured values are encoded away from the main actor`() async throws {
    let old = Mixed()
    old.restorableState.draft = "Dear"
    let entries = try #require(TrackedObject(old).capture(context: .test)).entries
    let record = try await Task.detached { try MemoryRecord(entries) }.value
    let new = Mixed()
    try TrackedObject(new).apply(RestorationDecoder(.init(record, at: [], version: 1), context: .test))
    #expect(new.restorableState.draft == "Dear")
  }

  @Test func `nothing is assigned when one of the values can't be read`() throws {
    let new = Mixed()
    new.query = "mine"
    let coder = try decoder(["query": 5, "$state": EditorState(draft: "theirs")], version: 1)
    let error = #expect(throws: RestorationError.self) { try TrackedObject(new).apply(coder) }
    #expect(error?.code == .unreadable)
    #expect(error?.key == "query")
    #expect(error?.path == ["object"])
    #expect(new.query == "mine")
    #expect(new.restorableState.draft == "")
  }

  @Test func `what was not stored leaves the object as it is`() throws {
    let new = Search()
    new.query = "mine"
    try TrackedObject(new).apply(decoder(["limit": 3], version: 1))
    #expect(new.query == "mine")
    #expect(new.limit == 3)
  }

  final class Table: RestorableView, StatefulObject {
    let restoration: RestorationIdentity = "table"
    var restorableState = EditorState()
    @Restored("scroll") var scroll = 0.0
  }

  final class Screen: RestorationViewOwner {
    let restoration: RestorationIdentity = "screen"
    let table = Table()
    var restorationViews: [any RestorableView] { [table] }
  }

  @Test func `views code their own state and are listed by their controller`() throws {
    let old = Screen()
    old.table.scroll = 12.5
    old.table.restorableState.caret = 2
    let capture = try #require(TrackedObject(old).capture(context: .test))
    #expect(capture.views.map(\.restoration.identifier) == ["table"])
    let new = Screen()
    try transfer(from: old.table, to: new.table)
    #expect(new.table.scroll == 12.5)
    #expect(new.table.restorableState.caret == 2)
  }

  final class Library: CodingObject {
    var recent: [String] = []
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(recent, forKey: "recent") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      recent = try coder.decodeIfPresent(forKey: "recent") ?? []
    }
  }

  @Test func `a shared object gets its own turn to code`() throws {
    let old = Library()
    old.recent = ["a", "b"]
    let new = Library()
    try transfer(from: old, to: new)
    #expect(new.recent == ["a", "b"])
  }

  @Test func `a nil or an empty identifier excludes`() throws {
    final class Nameless: RestorableController {
      var restoration = RestorationIdentity(nil)
    }
    let object = Nameless()
    let binding = TrackedObject(object)
    #expect(try #require(binding.capture(context: .test)).isExcluded)
    object.restoration.identifier = ""
    #expect(try #require(binding.capture(context: .test)).isExcluded)
    object.restoration.identifier = "named"
    #expect(try !#require(binding.capture(context: .test)).isExcluded)
  }

  @Test func `a capture knows tag, version, priority and model`() throws {
    final class Note: RestorableController {
      let restoration = RestorationIdentity(
        "note", class: "note", model: "note-7", priority: .high, version: 4)
    }
    let note = Note()
    let attributes = try #require(TrackedObject(note).capture(context: .test)).attributes
    #expect(attributes == .init(classTag: "note", version: 4, priority: .high, model: "note-7"))
  }
}
