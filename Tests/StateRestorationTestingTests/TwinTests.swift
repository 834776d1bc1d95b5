import Foundation
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// Each mistake as a small broken program that must be caught, with a healthy twin that must pass.
@MainActor @Suite struct TwinTests {
  // MARK: A key that is forgotten

  final class Editor: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "editor"
    var draft = ""
    var caret = 0
    let forgetsCaret: Bool
    init(forgetsCaret: Bool) { self.forgetsCaret = forgetsCaret }

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(draft, forKey: "draft")
      if !forgetsCaret { coder.encode(caret, forKey: "caret") }
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      draft = try coder.decode(String.self, forKey: "draft")
      if !forgetsCaret { caret = try coder.decode(Int.self, forKey: "caret") }
    }
  }

  @Test func `a controller that forgets a key is caught, and its twin passes`() async throws {
    let change: @MainActor (Editor) -> Void = { editor in
      editor.draft = "hello"
      editor.caret = 5
    }
    await assertRestores(RestorationSubject { Editor(forgetsCaret: false) }, after: change)
    let issues = await TestIssues.collect {
      let found = await assertRestores(RestorationSubject { Editor(forgetsCaret: true) }, after: change)
      #expect(found == ["editor.caret: 5 → 0"])
    }
    #expect(issues.count == 1 && issues[0].text.contains("caret: 5 → 0"))
  }

  // MARK: An identifier that is made up

  final class Page: RestorableController {
    let restoration: RestorationIdentity
    @Restored("text") var text = ""
    init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }
  }

  final class Book: RestorationParent {
    let restoration: RestorationIdentity = "book"
    let page: Page
    var restorationChildren: [any RestorableController] { [page] }
    init(isStable: Bool) { page = Page(isStable ? "page" : RestorationIdentifier(UUID().uuidString)) }
  }

  @Test func `an unstable identifier is caught by the lint and by restoring, and its twin passes`() async throws {
    let change: @MainActor (Book) -> Void = { $0.page.text = "hello" }
    await assertRestores(RestorationSubject { Book(isStable: true) }, after: change)
    await lintRestoration(of: RestorationSubject { Book(isStable: true) }, after: change)
    let issues = await TestIssues.collect {
      let broken = RestorationSubject { Book(isStable: false) }
      #expect(await !assertRestores(broken, after: change).isEmpty)
      let findings = await lintRestoration(of: broken, after: change)
      #expect(findings.contains { if case .unstableIdentifiers(let paths) = $0 { paths.count == 2 } else { false } })
    }
    #expect(!issues.isEmpty)
  }

  // MARK: Decoding that depends on the order

  final class Range: RestorationParent {
    let restoration: RestorationIdentity = "range"
    let minimum = Bound("minimum", 0)
    let maximum = Bound("maximum", 10)
    var restorationChildren: [any RestorableController] { [minimum, maximum] }
    init(dependsOnOrder: Bool) {
      // The broken twin clamps against its sibling while that one may not have decoded yet.
      if dependsOnOrder { minimum.limit = { [maximum] in min($0, maximum.value) } }
    }
  }

  final class Bound: RestorableController, CodingObject {
    let restoration: RestorationIdentity
    var value: Int
    var limit: @MainActor (Int) -> Int = { $0 }
    init(_ identifier: RestorationIdentifier, _ value: Int) {
      restoration = RestorationIdentity(identifier)
      self.value = value
    }

    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(value, forKey: "value") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      value = limit(try coder.decode(Int.self, forKey: "value"))
    }
  }

  @Test func `decoding that depends on the order is caught, and its twin passes`() async throws {
    let change: @MainActor (Range) -> Void = { range in
      range.minimum.value = 20
      range.maximum.value = 30
    }
    await assertRestores(RestorationSubject { Range(dependsOnOrder: false) }, after: change)
    let issues = await TestIssues.collect {
      let found = await assertRestores(RestorationSubject { Range(dependsOnOrder: true) }, after: change)
      #expect(found.count == 1 && found[0].hasPrefix("range/minimum."))
    }
    #expect(!issues.isEmpty)
  }

  // MARK: A save that is lost at a kill point

  @Test func `a save that deletes first is caught at a kill point, and its twin passes`() async throws {
    let healthy = RestorationSubject { NotesWindow() }
    let report = await killAtEveryPoint(
      healthy, from: { $0.editor.draft = "old" }, to: { $0.editor.draft = "new" })
    #expect(report.failures.isEmpty)
    #expect(report.oldStates > 0 && report.newStates > 0 && report.killPoints > 2)
    var broken = healthy
    broken.save = { application, coordinator in
      try await coordinator.discard()
      return try await application.preserve()
    }
    let issues = await TestIssues.collect {
      let report = await assertRestoresAtEveryKillPoint(
        broken, from: { $0.editor.draft = "old" }, to: { $0.editor.draft = "new" })
      #expect(report.contains { $0.contains("neither the old nor the new state") })
    }
    #expect(!issues.isEmpty)
  }

  // MARK: A migration that drops a field

  nonisolated struct FirstState: Codable, Sendable {
    var title = ""
    var count = 0
  }

  final class FirstVersion: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "note"
    var restorableState = FirstState()
  }

  nonisolated struct SecondState: VersionedState {
    var title = ""
    var count = 0
    var tags: [String] = []

    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<SecondState> {
      StateMigrations(from: 1) { (old: FirstState) in SecondState(title: old.title, count: old.count) }
    }
  }

  final class SecondVersion: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "note"
    var restorableState = SecondState()
  }

  nonisolated struct DroppingState: VersionedState {
    var title = ""
    var count = 0

    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<DroppingState> {
      StateMigrations(from: 1) { (old: FirstState) in DroppingState(title: old.title) }
    }
  }

  final class DroppingVersion: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "note"
    var restorableState = DroppingState()
  }

  @Test func `a migration that drops a field is caught by a golden archive, and its twin passes`() async throws {
    let golden = try await GoldenArchive.record(RestorationSubject { FirstVersion() }) {
      $0.restorableState = FirstState(title: "hello", count: 3)
    }
    #expect(try GoldenArchive(golden.data) == golden, "what is written to a fixture comes back")
    let healthy = RestorationSubject {
      SecondVersion()
    } registering: {
      $0.registry.register(SecondVersion.self, formerly: ["FirstVersion"])
    }
    await golden.assertStillRestores(in: healthy)
    let issues = await TestIssues.collect {
      let dropping = RestorationSubject {
        DroppingVersion()
      } registering: {
        $0.registry.register(DroppingVersion.self, formerly: ["FirstVersion"])
      }
      let found = await golden.assertStillRestores(in: dropping)
      #expect(found.count == 1 && found[0].contains("restorableState.count: 3 → 0"))
    }
    #expect(!issues.isEmpty)
  }
}
