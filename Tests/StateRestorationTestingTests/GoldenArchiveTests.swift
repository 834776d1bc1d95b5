import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct GoldenArchiveTests {
  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/Goldens/notes-1.json")

  private static func use(_ window: NotesWindow) {
    window.editor.draft = "draft of the first version"
    window.editor.caret = 7
    window.list.query = "äöü 한국어"
  }

  @Test func `today's program restores what its first version preserved`() async {
    await assertGoldenArchive(at: Self.fixture, of: RestorationSubject { NotesWindow() }, after: Self.use)
  }

  @Test func `a missing archive is recorded once, and said so; afterwards it is only read`() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    let subject = RestorationSubject { NotesWindow() }
    let issues = await TestIssues.collect { await assertGoldenArchive(at: url, of: subject, after: Self.use) }
    #expect(issues.count == 1 && issues[0].text.contains("Commit it"))
    let recorded = try Data(contentsOf: url)
    await assertGoldenArchive(at: url, of: subject, after: { $0.editor.draft = "never used" })
    #expect(try Data(contentsOf: url) == recorded)
  }

  @Test func `a property that is ignored is not compared, also when it was recorded`() async throws {
    let golden = try await GoldenArchive.record(RestorationSubject { Renamed() }) { $0.note.text = "hello" }
    // Today's program keeps another value in memory under the recorded property's name.
    let today = RestorationSubject(ignoring: ["note", "suffix"]) { Renamed() }
    #expect(await golden.assertStillRestores(in: today).isEmpty)
    let changed = RestorationSubject(ignoring: ["note", "suffix"]) { Renamed(suffix: "!") }
    #expect(await golden.assertStillRestores(in: changed).isEmpty)
    let issues = await TestIssues.collect {
      await golden.assertStillRestores(in: RestorationSubject(ignoring: ["suffix"]) { Renamed(suffix: "!") })
      #expect(TestIssues.attachments.keys.sorted() == ["preserved-state.txt", "restoration-report.txt"])
    }
    #expect(issues.map(\.text) == ["renamed.note.text: \"hello\" → \"hello!\""])
  }

  @Test func `expectations of the test's own take the place of the recorded values`() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    let golden = try await GoldenArchive.record(RestorationSubject { Renamed() }) { $0.note.text = "hello" }
    try golden.data.write(to: url)
    var restored = ""
    await assertGoldenArchive(
      at: url, of: RestorationSubject { Renamed(suffix: "!") }, expecting: { restored = $0.note.text })
    #expect(restored == "hello!")
    let issues = await TestIssues.collect {
      await assertGoldenArchive(
        at: url, of: RestorationSubject { Renamed() }, expecting: { _ in throw CocoaError(.featureUnsupported) })
    }
    #expect(issues.count == 1)
  }

  @Test func `a migration that was forgotten fails, whatever the test expects`() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    let golden = try await GoldenArchive.record(RestorationSubject { FirstSearch() }) { $0.query = "typed" }
    try golden.data.write(to: url)
    let issues = await TestIssues.collect {
      let found = await assertGoldenArchive(at: url, of: RestorationSubject { SecondSearch() }, expecting: { _ in })
      #expect(found == ["search: nobody reads “query” any more: migrate it, or ignore query"])
      await golden.assertStillRestores(in: RestorationSubject { SecondSearch() })
    }
    #expect(issues.count(where: { $0.text.contains("nobody reads “query”") }) == 2)
    let ignored = RestorationSubject(ignoring: ["query"]) { SecondSearch() }
    #expect(await assertGoldenArchive(at: url, of: ignored, expecting: { _ in }).isEmpty)
  }

  @Test func `a class that was given up and not retired fails, whatever the test expects`() async throws {
    func subject(
      _ prepare: @escaping @MainActor @Sendable (RestorationRegistry) -> Void
    ) -> RestorationSubject<NavigationController> {
      RestorationSubject({ NavigationController("stack") }, registering: { prepare($0.registry) })
    }
    let golden = try await GoldenArchive.record(
      subject { $0.register(FirstSearch.self, as: "search") { _, _ in FirstSearch() } }
    ) { $0.push(FirstSearch()) }
    var found: [[String]] = []
    let issues = await TestIssues.collect {
      found.append(await golden.assertStillRestores(in: subject { _ in }, expecting: { _ in }))
      found.append(await golden.assertStillRestores(in: subject { $0.retire("search") }, expecting: { _ in }))
    }
    #expect(found[0].count == 1 && found[0][0].contains("“search” is not registered any more"), "\(found)")
    #expect(found[1].isEmpty && issues.count == 1)
  }

  @Test func `a value of a scope that today's program reads otherwise fails, whatever the test expects`() async throws {
    func check<Value: Codable & Sendable>(_ today: Value, _ read: Bool = true) async throws -> [[String]] {
      let golden = try await GoldenArchive.record(
        RestorationSubject { RestorationScope("scope") },
        after: { scope in
          scope.value("place", default: FirstPlace()).value.page = 7
          try scope.setValue("typed", forKey: "query")
        })
      let subject = RestorationSubject(ignoring: read ? ["query"] : []) {
        let scope = RestorationScope("scope")
        _ = scope.value("place", default: today)
        return scope
      }
      var found: [[String]] = []
      let issues = await TestIssues.collect {
        found.append(await golden.assertStillRestores(in: subject))
        found.append(await golden.assertStillRestores(in: subject, expecting: { _ in }))
      }
      #expect(issues.count == found[0].count + found[1].count)
      return found
    }
    // The same type, a field more, and a version with its migration.
    #expect(try await check(FirstPlace()) == [[], []])
    #expect(try await check(LargerPlace()) == [[], []])
    #expect(try await check(MigratedPlace())[1] == [])
    // A field was renamed, the type is another one, and a version was raised without a migration.
    let renamed = try await check(RenamedPlace())
    #expect(renamed[1] == ["scope/place: nobody reads “page” any more: migrate it, or ignore page"], "\(renamed)")
    #expect(renamed[0].contains(renamed[1][0]))
    let other = try await check(7)
    #expect(other[1].count == 1 && other[1][0].hasPrefix("scope/place: The stored value is not Int"), "\(other)")
    let forgotten = try await check(UnmigratedPlace())
    #expect(forgotten[1].count == 1 && forgotten[1][0].contains("no migration of UnmigratedPlace"), "\(forgotten)")
    // Nobody has asked for one.
    let unread = try await check(FirstPlace(), false)
    #expect(unread == [["scope: nobody reads “query” any more: migrate it, or ignore query"], unread[0]], "\(unread)")
  }

  @Test func `a value of a scope that comes back as another one fails`() async throws {
    let golden = try await GoldenArchive.record(
      RestorationSubject { RestorationScope("scope") },
      after: { $0.value("place", default: FirstPlace()).value.page = 7 })
    let subject = RestorationSubject {
      let scope = RestorationScope("scope")
      _ = scope.value("place", default: WrongPlace())
      return scope
    }
    let issues = await TestIssues.collect {
      #expect(await golden.assertStillRestores(in: subject) == ["scope/place.page: 7 → 8"])
    }
    #expect(issues.count == 1)
  }

  @Test func `what a test reads of a scope is read`() async throws {
    let golden = try await GoldenArchive.record(
      RestorationSubject { RestorationScope("scope") }, after: { try $0.setValue("typed", forKey: "query") })
    let found = await golden.assertStillRestores(
      in: RestorationSubject { RestorationScope("scope") },
      expecting: { scope in
        let read = try scope.value(ofType: String.self, forKey: "query")
        #expect(read == "typed")
      })
    #expect(found == [])
  }

  @Test func `recording is repeatable: same state, same values`() async throws {
    let subject = RestorationSubject { NotesWindow() }
    let first = try await GoldenArchive.record(subject, after: Self.use)
    let second = try await GoldenArchive.record(subject, after: Self.use)
    #expect(try first.data == second.data)
  }

  @Test func `an archive that is destroyed is caught, whatever it was to hold`() async throws {
    let destroyed = try GoldenArchive(Data(#"{"archive": "AAAA", "values": {}}"#.utf8))
    let issues = await TestIssues.collect {
      let found = await destroyed.assertStillRestores(in: RestorationSubject { NotesWindow() })
      #expect(found.count == 1)
    }
    #expect(issues.count == 1 && issues[0].text.contains("can't be restored at all"))
  }

  @Test func `an archive whose object is no more is caught`() async throws {
    let golden = try await GoldenArchive.record(RestorationSubject { NotesWindow() }, after: Self.use)
    let smaller = RestorationSubject { NotesEditorAlone() }
    let issues = await TestIssues.collect {
      let found = await golden.assertStillRestores(in: smaller)
      #expect(found.contains { $0.hasSuffix("list: did not come back") })
    }
    #expect(!issues.isEmpty)
  }
}

@MainActor final class NotesEditorAlone: RestorationParent {
  let restoration: RestorationIdentity = "root"
  let editor = NotesEditor()
  var restorationChildren: [any RestorableController] { [editor] }
}

/// A controller whose newer version changes what it restores.
@MainActor final class Renamed: RestorableController, CodingObject {
  struct Note { var text = "" }

  let restoration: RestorationIdentity = "renamed"
  var note = Note()
  private let suffix: String
  init(suffix: String = "") { self.suffix = suffix }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(note.text, forKey: "text") }
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    note.text = try coder.decode(String.self, forKey: "text") + suffix
  }
}

/// The first version of a controller.
@MainActor final class FirstSearch: RestorableController {
  let restoration = RestorationIdentity("search", class: "search")
  @Restored("query") var query = ""
}

/// The second one, in which a key was renamed.
@MainActor final class SecondSearch: RestorableController {
  let restoration = RestorationIdentity("search", class: "search")
  @Restored("words") var query = ""
}

nonisolated struct FirstPlace: Codable, Sendable { var page = 0 }

nonisolated struct LargerPlace: Codable, Sendable { var page = 0, line = 1 }

nonisolated struct RenamedPlace: Codable, Sendable { var number = 0 }

/// The migration is right.
nonisolated struct MigratedPlace: VersionedState {
  var number = 0
  static var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<MigratedPlace> {
    StateMigrations(from: 1) { (old: FirstPlace) in MigratedPlace(number: old.page) }
  }
}

/// The migration counts from another beginning.
nonisolated struct WrongPlace: VersionedState {
  var page = 0
  static var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<WrongPlace> {
    StateMigrations(from: 1) { (old: FirstPlace) in WrongPlace(page: old.page + 1) }
  }
}

/// There is none.
nonisolated struct UnmigratedPlace: VersionedState {
  var page = 0
  static var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<UnmigratedPlace> { .none }
}
