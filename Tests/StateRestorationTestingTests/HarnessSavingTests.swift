import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Waiting for saves, making generations and dying at a chosen call.
@MainActor @Suite struct HarnessSavingTests {
  private typealias Harness = RestorationHarness<HierarchyApplication<NotesWindow>>

  private func launched() async throws -> (Harness, HierarchyApplication<NotesWindow>) {
    let harness = Harness(on: try await SimulatedDevice())
    let application = try await harness.launch { HierarchyApplication(NotesWindow()) }
    return (harness, application)
  }

  @Test func `an automatic save is waited for, and the program sees it`() async throws {
    let (harness, application) = try await launched()
    harness.coordinator?.preservesAutomatically = .onChange(coalescedOver: .seconds(5))
    application.root.list.query = "typed"
    let receipt = try await harness.automaticSave()
    #expect(receipt.changedNodes > 0)
    let seen = try #require(application.preservations.last).get()
    #expect(seen.receipt == receipt)
    harness.killWithoutNotice()
    #expect(try await harness.relaunch().root.list.query == "typed")
  }

  @Test func `waiting for a save that can't come says why`() async throws {
    let (harness, _) = try await launched()
    await #expect(throws: HarnessError.self) { try await harness.automaticSave() }
    harness.killWithoutNotice()
    await #expect(throws: HarnessError.self) { try await harness.automaticSave() }
  }

  @Test func `with a second whole generation, the first one is the fallback of later saves`() async throws {
    let (harness, application) = try await launched()
    application.root.editor.draft = "first"
    try await harness.enterBackground()
    try await harness.makeWholeGeneration()
    #expect(!harness.isRunning)
    try await harness.relaunch().root.editor.draft = "second"
    try await harness.enterBackground()
    let restored = try await harness.relaunch()
    #expect(restored.root.editor.draft == "second" && harness.report?.source?.generation == 2)
    let fallback = NotesWindow()
    _ = try await harness.coordinator?.restore(into: fallback, from: .olderGeneration)
    #expect(fallback.editor.draft == "first")
  }

  @Test func `a program dies at the chosen call of the file system`() async throws {
    let (harness, application) = try await launched()
    application.root.editor.draft = "first"
    try await harness.enterBackground()
    try await harness.enterForeground()
    application.root.editor.draft = "second"
    harness.kill(beforeCall: 1)
    try? await harness.enterBackground()
    #expect(!harness.isRunning)
    #expect(try await harness.relaunch().root.editor.draft == "first")
  }

  @Test func `a real process that is killed comes back, and one killed while saving keeps the old state`() async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "death-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
      try await RestorationSubject { NotesWindow() }.preserveAndDie(in: folder) { $0.editor.draft = "hello" }
    }
    #expect(try await RestorationSubject { NotesWindow() }.restored(in: folder).editor.draft == "hello")
    await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
      try await RestorationSubject { NotesWindow() }.preserveAndDie(in: folder, beforeCall: 1) {
        $0.editor.draft = "lost"
      }
    }
    #expect(try await RestorationSubject { NotesWindow() }.restored(in: folder).editor.draft == "hello")
  }

  @Test func `restoring where nothing was preserved throws`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "death-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(throws: HarnessError.self) {
      _ = try await RestorationSubject { NotesWindow() }.restored(in: folder)
    }
  }
}
