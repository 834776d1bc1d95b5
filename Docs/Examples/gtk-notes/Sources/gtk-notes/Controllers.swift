import Observation
import StateRestoration

/// The program: its main window, and the scratch window where it is open.
@Observable final class RootController: ContainerController {
  let main = WindowController("main", content: NotesController())
  var scratch: ScratchWindowController?

  init() { super.init("root") }

  var notes: NotesController? { main.content as? NotesController }

  override var containedControllers: [any RestorableController] { [main, scratch].compactMap(\.self) }

  override func install(_ children: [RestoredChild]) {
    for child in children { if let window = child.controller as? ScratchWindowController { scratch = window } }
  }
}

/// The first visible line of a text: its first character, and how much of it is scrolled away.
nonisolated struct TextPosition: Codable, Sendable {
  var character = 0
  var pixels = 0
}

/// What has the keyboard in the main window.
nonisolated enum Pane: String, Codable, Sendable {
  case list, editor
}

/// The list and the editor.
final class NotesController: RestorableController {
  let restoration: RestorationIdentity = "notes"
  /// The note that is open.
  @Restored("selection") var selection: String? = nil
  /// The notes that have no file yet.
  @Restored("unsaved") var unsaved: [String] = []
  @Restored("focus") var focus = Pane.editor
  /// Typed text that is not saved, by note.
  @Restored("drafts") var drafts: [String: String] = [:]
  /// The caret, and the first visible line, by note.
  @Restored("carets") var carets: [String: Int] = [:]
  @Restored("tops") var tops: [String: TextPosition] = [:]
  /// How far the list is scrolled.
  @Restored("listTop") var listTop = 0.0
}

/// The second window: made again because the state says that it was open.
final class ScratchWindowController: WindowController {
  static let tag: RestorationIdentity.ClassTag = "scratch"

  init() {
    super.init(RestorationIdentity("scratch", class: Self.tag), content: ScratchController())
  }

  var page: ScratchController? { content as? ScratchController }
}

/// The text of the second window.
final class ScratchController: RestorableController {
  let restoration: RestorationIdentity = "page"
  @Restored("text") var text = ""
  @Restored("caret") var caret = 0
  @Restored("top") var top = TextPosition()
}
