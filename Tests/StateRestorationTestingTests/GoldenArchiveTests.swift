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

@MainActor final class NotesEditorAlone: RestorableController {
  let restorationIdentifier: RestorationIdentifier? = "root"
  let editor = NotesEditor()
  var restorationChildren: [any RestorableController] { [editor] }
}
