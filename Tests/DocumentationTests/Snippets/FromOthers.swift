import Observation
import StateRestoration

@MainActor struct FromOthersSnippets {
  // snippet: FromUIKit
  @Observable final class NoteViewController: RestorableController, StatefulObject, FinishingObject {
    nonisolated struct State: Codable, Sendable {
      var draft = ""
      var caret = 0
    }

    let note: ModelIdentifier
    var restoration: RestorationIdentity { RestorationIdentity("note \(note)", class: "note", model: note) }
    var restorableState = State()

    init(note: ModelIdentifier) { self.note = note }

    static func makeForRestoration(at path: RestorationPath, coder: RestorationDecoder) -> NoteViewController? {
      coder.modelIdentifier.map(NoteViewController.init)
    }

    func applicationFinishedRestoringState() { scrollToCaret() }

    func scrollToCaret() {}
  }

  @MainActor func register(in registry: RestorationRegistry) {
    registry.register(NoteViewController.self, as: "note", make: NoteViewController.makeForRestoration)
  }
  // snippet end

  // snippet: SceneStorage
  @MainActor func openWindow() async throws -> (
    RestorationSession, tab: StoredValue<String>, draft: StoredValue<String>
  ) {
    let window = RestorationScope("window")
    let session = try await RestorationSession.open(at: .applicationState("com.example.notes"), root: window)
    return (session, window.value("tab", default: "notes"), window.value("draft", default: ""))
  }
  // snippet end

  // snippet: Scope
  @MainActor func readByKey(at location: ProtectedDevice.Location) async throws {
    let scope = RestorationScope("window")
    let session = try await RestorationSession.open(at: location, root: scope)
    let pane = scope.scope("pane")
    await Task.detached {
      do throws(RestorationError) {
        let text = try pane.value(ofType: String.self, forKey: "text")
        try pane.setValue((text ?? "") + "!", forKey: "text")
      } catch {
        print(error)
      }
    }.value
    try await session.close()
  }
  // snippet end

  // snippet: ScopeStorage
  /// What a toolkit asks of whoever stores its values.
  protocol PersistenceProvider: Sendable {
    func persistValue(_ value: some Codable, forKey key: String) throws
    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) throws -> Value?
    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void)
  }

  struct ScopeProvider: PersistenceProvider {
    let scope: RestorationScope

    func persistValue(_ value: some Codable, forKey key: String) throws { try scope.setValue(value, forKey: key) }

    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) throws -> Value? {
      try scope.value(ofType: type, forKey: key)
    }

    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void) {
      scope.listenToChanges(ofKey: key, body)
    }
  }
  // snippet end

  // snippet: DraftByMessage
  /// The drafts of all messages; a screen that is closed leaves its draft here.
  let drafts = RestorationScope("drafts")

  @MainActor func draft(of message: String) -> StoredValue<String> { drafts.value(message, default: "") }

  @MainActor func send(_ message: String) { drafts.removeValue(forKey: message) }
  // snippet end

  // snippet: FromAppKit
  /// The windows of a program: each is made again by its class, and its content by its own.
  @Observable final class Windows: ContainerController {
    private(set) var open: [WindowController] = []

    override var containedControllers: [any RestorableController] { open }

    override func install(_ children: [RestoredChild]) { open = children.arranged(with: open) }
  }

  @MainActor func registerWindows(in registry: RestorationRegistry, screens: [WindowController.Frame]) {
    registry.register(WindowController.self, as: "document") { path, _ in
      WindowController(RestorationIdentity(path.last, class: "document"), screens: screens)
    }
  }
  // snippet end
}
