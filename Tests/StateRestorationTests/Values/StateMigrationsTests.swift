import StateRestoration
import Testing

/// Older state is migrated step by step; newer state is refused (R3.5).
@MainActor struct StateMigrationsTests {
  struct State1: Codable, Sendable { var text: String }
  struct State2: Codable, Sendable {
    var text: String
    var caret: Int
  }
  struct State3: VersionedState, Equatable {
    var draft: String
    var caret: Int

    static var stateVersion: StateVersion { 3 }
    static var migrations: StateMigrations<State3> {
      StateMigrations(from: 1) { (old: State1) in
        if old.text == "poison" { throw Refusal() }
        return State2(text: old.text, caret: 0)
      }
      .then { State3(draft: $0.text, caret: $0.caret) }
    }
  }
  struct Refusal: Error {}

  final class Editor: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "editor"
    var restorableState = State3(draft: "", caret: 0)
  }

  @Test func `state of the first version goes through every step`() throws {
    let editor = Editor()
    let from = try TrackedObject(editor).apply(decoder(["$state": State1(text: "Dear")], version: 1))
    #expect(editor.restorableState == State3(draft: "Dear", caret: 0))
    #expect(from == 1)
  }

  @Test func `state of a later version goes through the remaining steps`() throws {
    let editor = Editor()
    let from = try TrackedObject(editor).apply(decoder(["$state": State2(text: "Dear", caret: 4)], version: 2))
    #expect(editor.restorableState == State3(draft: "Dear", caret: 4))
    #expect(from == 2)
  }

  @Test func `state of today's version is not migrated`() throws {
    let editor = Editor()
    let from = try TrackedObject(editor).apply(decoder(["$state": State3(draft: "Dear", caret: 4)], version: 3))
    #expect(editor.restorableState == State3(draft: "Dear", caret: 4))
    #expect(from == nil)
  }

  @Test func `newer state is refused and the object left alone`() throws {
    let editor = Editor()
    editor.restorableState.draft = "mine"
    let error = #expect(throws: RestorationError.self) {
      try TrackedObject(editor).apply(decoder(["$state": State3(draft: "theirs", caret: 4)], version: 4))
    }
    #expect(error?.code == .newerVersion)
    #expect(editor.restorableState.draft == "mine")
  }

  @Test func `newer state is refused in every way of coding`() throws {
    for object in [ThreeWaysTests.Search(), ThreeWaysTests.Detailed(), ThreeWaysTests.Mixed()] as [any RestorableObject]
    {
      let error = #expect(throws: RestorationError.self) {
        try TrackedObject(object).apply(stored(object, version: 2))
      }
      #expect(error?.code == .newerVersion)
    }
  }

  @Test func `state from before the chain's first step is refused by name`() throws {
    struct Joined: VersionedState {
      var draft = ""
      static var stateVersion: StateVersion { 3 }
      static var migrations: StateMigrations<Joined> {
        StateMigrations(from: 2) { (old: State2) in Joined(draft: old.text) }
      }
    }
    final class Late: RestorableController, StatefulObject {
      let restoration: RestorationIdentity = "late"
      var restorableState = Joined()
    }
    let late = Late()
    let error = #expect(throws: RestorationError.self) {
      try TrackedObject(late).apply(decoder(["$state": State1(text: "Dear")], version: 1))
    }
    #expect(error?.code == .noMigration)
  }

  @Test func `a step that throws refuses the state and names the cause`() throws {
    let editor = Editor()
    let error = #expect(throws: RestorationError.self) {
      try TrackedObject(editor).apply(decoder(["$state": State1(text: "poison")], version: 1))
    }
    #expect(error?.code == .migrationFailed)
    #expect(error?.cause is Refusal)
    #expect(error.map { "\($0)".contains("poison") } == false)
  }

  @Test func `a coder method sees the version it reads`() throws {
    final class Old: RestorableController, CodingObject {
      let restoration = RestorationIdentity("old", version: 2)
      var title = ""
      func encodeRestorableState(with coder: RestorationEncoder) {}
      func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
        title = try coder.decode(forKey: coder.storedVersion == 1 ? "name" : "title")
      }
    }
    let object = Old()
    let from = try TrackedObject(object).apply(decoder(["name": "Notes"], version: 1))
    #expect(object.title == "Notes")
    #expect(from == 1)
  }

  @Test func `a marked property is found under a former key`() throws {
    final class Renamed: RestorableController {
      let restoration: RestorationIdentity = "renamed"
      @Restored("query", formerly: "search", "find") var query = ""
    }
    let object = Renamed()
    try TrackedObject(object).apply(decoder(["find": "swift"], version: 1))
    #expect(object.query == "swift")
    try TrackedObject(object).apply(decoder(["find": "old", "query": "new"], version: 1))
    #expect(object.query == "new")
  }

  @Test func `a chain that doesn't end in today's version traps`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        struct State: VersionedState {
          static var stateVersion: StateVersion { 5 }
          static var migrations: StateMigrations<State> { StateMigrations(from: 2) { (_: State2) in State() } }
        }
        final class Short: RestorableController, StatefulObject {
          let restoration: RestorationIdentity = "short"
          var restorableState = State()
        }
        RestorationRegistry().register(Short.self, as: "short")
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("The migrations of Short end in version 3, but stateVersion is 5."))
  }

  @Test func `a class whose state says its version, and whose identity names one too, traps`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        final class Twice: RestorableController, StatefulObject {
          let restoration = RestorationIdentity("twice", version: 3)
          var restorableState = State3(draft: "", caret: 0)
        }
        let twice = Twice()
        _ = TrackedObject(twice).capture(context: .test)
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Twice names version 3, but its state says 3 itself; leave version: out."))
  }

  @Test func `the version of a class is that of its objects' identities, or of whoever shares them`() throws {
    final class Model: CodingObject {
      func encodeRestorableState(with coder: RestorationEncoder) {}
      func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
    }
    let model = Model()
    RestorationRegistry().share(model, as: "model", version: 4)
    #expect(try #require(TrackedObject(model).capture(context: .test)).attributes.version == 4)
  }
}
