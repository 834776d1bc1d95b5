import Foundation
import Observation
import StateRestoration
import Testing

@testable import two_windows

/// A window of a toolkit, which can show a dialog.
@MainActor protocol DialogWindow: AnyObject {
  func closeDialog()
  func openDialog(
    _ text: String, onChange: @escaping @MainActor (String) -> Void, onEnd: @escaping @MainActor (Bool) -> Void)
}

// snippet: DialogOfAToolkit
@MainActor func mirrorDialog(of page: Page, in window: some DialogWindow) {
  window.closeDialog()
  guard let dialogue = page.presentedController as? RenameDialogue else { return }
  window.openDialog(dialogue.name) { text in
    dialogue.name = text
  } onEnd: { isAccepted in
    if isAccepted { dialogue.presentation?.finish(with: dialogue.name) } else { dialogue.presentation?.cancel() }
    mirrorDialog(of: page, in: window)
  }
}
// snippet end

// snippet: OneEditor
struct Draft: Codable {
  var text = ""
  var caret = 0
}

@MainActor final class Editor {
  private let document: StoredValue<String>
  private let drafts: RestorationScope

  init(in scope: RestorationScope) {
    document = scope.value("document", default: "untitled")
    drafts = scope.scope("drafts")
  }

  /// What the widget shows.
  var draft: StoredValue<Draft> { drafts.value(document.value, default: Draft()) }

  func show(_ identifier: String) { document.value = identifier }
  func forget(_ identifier: String) { drafts.removeValue(forKey: identifier) }
}
// snippet end

/// Shows dialogs, and has the test end them.
@MainActor private final class DialogTestWindow: DialogWindow {
  var dialog: (text: String, onChange: (String) -> Void, onEnd: (Bool) -> Void)?

  func closeDialog() { dialog = nil }
  func openDialog(
    _ text: String, onChange: @escaping @MainActor (String) -> Void, onEnd: @escaping @MainActor (Bool) -> Void
  ) { dialog = (text, onChange, onEnd) }
}

@MainActor struct WidgetSnippetTests {
  @Test func `the dialog of the article gives its result, and its widget goes`() {
    let (page, window) = (Page("first"), DialogTestWindow())
    mirrorDialog(of: page, in: window)
    #expect(window.dialog == nil)
    page.present(RenameDialogue())
    mirrorDialog(of: page, in: window)
    window.dialog?.onChange("Diary")
    window.dialog?.onEnd(true)
    #expect(window.dialog == nil && page.presentedController == nil && page.title.value == "Diary")
  }

  @Test func `the editor of the article keeps text and caret of each document`() {
    let editor = Editor(in: RestorationScope("window"))
    editor.show("a")
    editor.draft.value = Draft(text: "first", caret: 3)
    editor.show("b")
    #expect(editor.draft.value.text == "")
    editor.show("a")
    #expect(editor.draft.value.text == "first" && editor.draft.value.caret == 3)
    editor.forget("a")
    #expect(editor.draft.value.text == "")
  }
}

@MainActor @Suite struct WindowPartsSnippets {
  private let registry = RestorationRegistry()

  // snippet: WindowParts
  final class Program: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
    var rootController: (any RestorableController)? { nil }

    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  @MainActor func launch(
    _ program: Program, on device: ProtectedDevice
  ) async throws -> (RestoredWindows<Page>, RestorableApplication) {
    let windows = try RestoredWindows(device: device, delegate: program, registry: registry) { Page($0.id) }
    let application = try RestorableApplication(device: device, windows: windows, delegate: program)
    try await application.launch()  // restores the windows that were open, if the device is unlocked
    return (windows, application)
  }
  // snippet end

  // snippet: RecentlyClosed
  @MainActor func drawMenu(of windows: RestoredWindows<Page>) {
    for window in windows.recentlyClosed { print("Reopen “\(window.title)”") }
  }
  // snippet end

  // snippet: Quitting
  @MainActor func quit(_ windows: RestoredWindows<Page>, closeAll: () async throws -> Void) async throws {
    windows.announceEnd()
    try await closeAll()  // the toolkit closes each window, and each calls windows.close
  }
  // snippet end

  // snippet: AlreadyRunning
  @MainActor func runOnce(_ main: @MainActor (RestoredWindows<Page>) async throws -> Void) async throws {
    do {
      try await RestorationSession.run(
        at: .applicationState("com.example.pages"), windows: { Page($0.id) }, main)
    } catch let error as RestorationError where error.code == .inUse {
      guard let process = error.processIdentifier else { throw error }
      kill(process, SIGUSR1)  // the first process brings its window to the front
    }
  }
  // snippet end

  // snippet: SeveralInstances
  @MainActor func runAgain(_ main: @MainActor (RestoredWindows<Page>) async throws -> Void) async throws {
    try await RestorationSession.run(
      at: .applicationState("com.example.pages"), windows: { Page($0.id) }, instances: .several
    ) { windows in
      if windows.roots.isEmpty { try await windows.openNew() }
      try await main(windows)
    }
  }
  // snippet end

  // snippet: ProgramScope
  @MainActor func order(in windows: RestoredWindows<Page>) async throws -> StoredValue<String> {
    let program = try await windows.openScope()
    return program.value("order", default: "by name")
  }
  // snippet end

  @MainActor func runWithScope(
    _ main: @MainActor (RestoredWindows<StoredValue<String>>) async throws -> Void
  ) async throws {
    // snippet: ScopeOfYourOwn
    let program = RestorationScope("program")
    let order = program.value("order", default: "by name")
    try await RestorationSession.run(
      at: .applicationState("com.example.pages"), windows: { _ in StoredValue("order", order.value) }, scope: program
    ) { windows in
      if windows.roots.isEmpty { try await windows.openNew() }
      try await main(windows)
    }
    // snippet end
  }

  // snippet: Book
  @Observable final class Book: ContainerController {
    private(set) var pages: [any RestorableController] = []
    // A subclass may have marked properties, beside its coder methods.
    @ObservationIgnored @Restored("title") var title = ""

    override var containedControllers: [any RestorableController] { pages }

    override func install(_ children: [RestoredChild]) { pages = children.arranged(with: pages) }

    func add(_ page: any RestorableController) { pages.append(page) }
  }
  // snippet end

  @Test func `the parts find what the windows have saved`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parts-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await RestorationSession.run(at: .directory(folder.path), windows: { Page($0.id) }, answering: []) { windows in
      try await windows.open("first").text.value = "one"
      try await windows.open("second").text.value = "two"
    }
    let program = Program()
    let (windows, application) = try await launch(
      program, on: try await ProtectedDevice.open(at: .directory(folder.path)))
    #expect(windows.roots.map(\.text.value) == ["two", "one"])
    windows["first"]?.text.value = "last"
    try await application.lifecycle.terminate()
    #expect(try await windows.preserve().count == 2)
  }
}
