import Observation
import StateRestoration

struct FromOthersSnippets {
  // snippet: FromUIKit
  @Observable final class NoteViewController: StatefulController {
    nonisolated struct State: Codable, Sendable {
      var draft = ""
      var caret = 0
    }

    let note: ModelIdentifier
    var restorationIdentifier: RestorationIdentifier? { "note \(note)" }
    let restorationClass: RestorationClass? = "note"
    var restorationModelIdentifier: ModelIdentifier? { note }
    var restorableState = State()

    init(note: ModelIdentifier) { self.note = note }

    func applicationFinishedRestoringState() { scrollToCaret() }

    func scrollToCaret() {}
  }

  @MainActor func register(in registry: RestorationRegistry) {
    registry.register(NoteViewController.self, as: "note") { _, coder in
      coder.modelIdentifier.map(NoteViewController.init)
    }
  }
  // snippet end

  // snippet: SceneStorage
  @MainActor func openWindow() async throws -> (
    RestorationSession, tab: StoredValue<String>, draft: StoredValue<String>
  ) {
    let tab = StoredValue("tab", "notes")
    let draft = StoredValue("draft", "")
    let session = try await RestorationSession.open(
      at: .applicationState("com.example.notes"), root: StoredGroup("window", tab, draft))
    return (session, tab, draft)
  }
  // snippet end

  // snippet: Scope
  @MainActor func readByKey(at location: DeviceLocation) async throws {
    let scope = RestorationScope("window")
    let session = try await RestorationSession.open(at: location, root: scope)
    let width = scope.value(forKey: "width", default: 80)
    scope.setValue(width + 1, forKey: "width")
    let pane = scope.scope("pane")
    if let text = try pane.value(ofType: String.self, forKey: "text") { print(text) }
    try await session.close()
  }
  // snippet end

  // snippet: ScopeState
  /// A value of a view that comes back: read once, written through.
  @Observable @MainActor final class Saved<Value: Codable & Sendable> {
    private let scope: RestorationScope
    private let key: RestorationIdentifier

    var value: Value { didSet { scope.setValue(value, forKey: key) } }

    init(wrappedValue: Value, _ key: RestorationIdentifier, in scope: RestorationScope) {
      (self.scope, self.key) = (scope, key)
      value = scope.value(forKey: key, default: wrappedValue)
    }
  }
  // snippet end

  // snippet: FromAppKit
  /// The windows of a program: each is made again by its class, and its content by its own.
  @Observable final class Windows: RestorationContainer {
    let restorationIdentifier: RestorationIdentifier? = "windows"
    private(set) var open: [WindowController] = []

    var restorationChildren: [any RestorableController] { open }

    func installRestoredChildren(_ children: [RestoredChild]) {
      open = children.arranged(with: open)
    }
  }

  @MainActor func registerWindows(in registry: RestorationRegistry, screens: [WindowFrame]) {
    registry.register(WindowController.self, as: "document") { path, _ in
      WindowController(restorationIdentifier: path.last, restorationClass: "document", screens: screens)
    }
  }
  // snippet end
}
