import StateRestoration
import Testing

/// Older state is migrated step by step; newer state is refused (R3.5).
@MainActor struct StateMigrationsTests {
  struct State1: Codable, Sendable { var text: String }
  struct State2: Codable, Sendable {
    var text: String
    var caret: Int
  }
  struct State3: Codable, Sendable, Equatable {
    var draft: String
    var caret: Int
  }
  struct Refusal: Error {}

  final class Editor: StatefulController {
    static var stateVersion: StateVersion { 3 }
    static var migrations: StateMigrations<State3> {
      Migration(from: 1) { (old: State1) in
        if old.text == "poison" { throw Refusal() }
        return State2(text: old.text, caret: 0)
      }
      Migration(from: 2) { (old: State2) in State3(draft: old.text, caret: old.caret) }
    }
    let restorationIdentifier: RestorationIdentifier? = "editor"
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
    final class Late: StatefulController {
      static var stateVersion: StateVersion { 3 }
      static var migrations: StateMigrations<State3> {
        Migration(from: 2) { (old: State2) in State3(draft: old.text, caret: old.caret) }
      }
      let restorationIdentifier: RestorationIdentifier? = "late"
      var restorableState = State3(draft: "", caret: 0)
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
    final class Old: CodingController {
      static var stateVersion: StateVersion { 2 }
      let restorationIdentifier: RestorationIdentifier? = "old"
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
      let restorationIdentifier: RestorationIdentifier? = "renamed"
      @Restored("query", formerly: "search", "find") var query = ""
    }
    let object = Renamed()
    try TrackedObject(object).apply(decoder(["find": "swift"], version: 1))
    #expect(object.query == "swift")
    try TrackedObject(object).apply(decoder(["find": "old", "query": "new"], version: 1))
    #expect(object.query == "new")
  }

  @Test func `a chain whose numbers don't count up traps when the class is registered`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        final class Gap: StatefulController {
          static var stateVersion: StateVersion { 4 }
          static var migrations: StateMigrations<State3> {
            Migration(from: 1) { (old: State1) in State2(text: old.text, caret: 0) }
            Migration(from: 3) { (old: State2) in State3(draft: old.text, caret: old.caret) }
          }
          let restorationIdentifier: RestorationIdentifier? = "gap"
          var restorableState = State3(draft: "", caret: 0)
        }
        RestorationRegistry().register(Gap.self, as: "gap")
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("a step begins with version 3 where 2 was expected"))
  }

  @Test func `a chain that doesn't end in today's version traps`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        final class Short: StatefulController {
          static var stateVersion: StateVersion { 5 }
          static var migrations: StateMigrations<State3> {
            Migration(from: 2) { (old: State2) in State3(draft: old.text, caret: old.caret) }
          }
          let restorationIdentifier: RestorationIdentifier? = "short"
          var restorableState = State3(draft: "", caret: 0)
        }
        RestorationRegistry().register(Short.self, as: "short")
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("the last step ends in version 3, but stateVersion is 5"))
  }
}
