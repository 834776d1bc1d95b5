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
@MainActor final class Renamed: CodingController {
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
