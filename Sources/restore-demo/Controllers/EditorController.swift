import Foundation
import StateRestoration

/// One note, open for editing.
///
/// It comes back on a locked device; its ``Draft`` does after the unlock.
@MainActor final class EditorController: RestorableController, RestorationViewOwner, Screen, FinishingObject {
  /// The tag under which editors are registered.
  static let tag: RestorationIdentity.ClassTag = "editor"

  let restoration = RestorationIdentity("editor", class: EditorController.tag)

  /// The note that is edited; also the key by which the factory finds it again.
  @Restored("note") private(set) var identifier: ModelIdentifier = ""
  private let draft = Draft()

  private(set) var note: Note
  private let shelf: NoteShelf
  private let onStatus: @MainActor (String) -> Void
  private var buffer = TextBuffer()
  /// Where it was drawn last.
  private var area = Canvas.Rectangle(row: 0, column: 0, rows: 10, columns: 81)
  private var columns: Int { max(area.columns - 1, 2) }
  private var visibleRows: Int { max(area.rows, 1) }

  /// Opens a note.
  ///
  /// - Throws: A line for the user when the note can't be read as text.
  init(
    note: Note, shelf: NoteShelf, onStatus: @escaping @MainActor (String) -> Void
  ) throws(NoteLibrary.Problem) {
    self.note = note
    self.shelf = shelf
    self.onStatus = onStatus
    buffer = TextBuffer(try shelf.library.text(of: note), caret: 0)
    identifier = note.identity.modelIdentifier
    draft.onRestored = { [weak self] in self?.draftIsBack() }
  }

  var restorationViews: [any RestorableView] { [draft] }

  var title: String { note.name + (draft.text == nil ? "" : " •") }

  var hints: [Hint] {
    [Hint("^S", "write"), Hint("^N", "rename"), Hint("Esc", "back")]
  }

  func applicationFinishedRestoringState() {
    // The note may have moved or changed since; the identity says which it is now.
    identifier = note.identity.modelIdentifier
  }

  private func draftIsBack() {
    buffer = TextBuffer(draft.text ?? buffer.text, caret: draft.caret)
    draft.caret = buffer.caret
  }

  /// The note has another name now.
  func noteWasRenamed(to renamed: Note) {
    note = renamed
    identifier = renamed.identity.modelIdentifier
  }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    self.area = area
    let layout = TextLayout(buffer.characters, columns: columns)
    let position = layout.position(ofCaret: buffer.caret)
    let first = firstRow(showing: position.row, of: layout.rows.count)
    for line in 0..<min(visibleRows, layout.rows.count - first) {
      canvas.draw(layout.text(ofRow: first + line), row: line, column: 0, in: area)
    }
    if isFocused {
      canvas.cursor = (area.row + position.row - first, area.column + min(position.column, area.columns - 1))
    }
  }

  func handle(_ key: Key) -> Bool {
    switch key {
    case .character(let character): edit { $0.insert(String(character)) }
    case .paste(let text): edit { $0.insert(text) }
    case .enter: edit { $0.insert("\n") }
    case .tab: edit { $0.insert("\t") }
    case .backspace: edit { $0.deleteBackward() }
    case .delete: edit { $0.deleteForward() }
    case .left: move(to: buffer.caret - 1)
    case .right: move(to: buffer.caret + 1)
    case .up: move(byRows: -1)
    case .down: move(byRows: 1)
    case .pageUp: move(byRows: -visibleRows)
    case .pageDown: move(byRows: visibleRows)
    case .home: moveInRow(to: 0)
    case .end: moveInRow(to: .max)
    case .control("s"): write()
    case .click(let row, let column):
      guard let line = area.row(ofCell: row, column) else { return false }
      move(toRow: line, column: column - area.column)
    default: return false
    }
    return true
  }

  private func edit(_ change: (inout TextBuffer) -> Void) {
    let old = buffer.characters.count
    change(&buffer)
    guard buffer.characters.count != old || draft.text != nil else { return }
    draft.text = buffer.text
    draft.caret = buffer.caret
    follow()
  }

  private func move(to offset: Int) {
    buffer.moveCaret(to: offset)
    draft.caret = buffer.caret
    follow()
  }

  private func move(byRows rows: Int) {
    let layout = TextLayout(buffer.characters, columns: columns)
    let position = layout.position(ofCaret: buffer.caret)
    move(to: layout.caret(atRow: position.row + rows, column: position.column))
  }

  /// Moves to a cell of what is seen.
  private func move(toRow row: Int, column: Int) {
    let layout = TextLayout(buffer.characters, columns: columns)
    let first = firstRow(showing: layout.position(ofCaret: buffer.caret).row, of: layout.rows.count)
    move(to: layout.caret(atRow: first + row, column: column))
  }

  private func moveInRow(to column: Int) {
    let layout = TextLayout(buffer.characters, columns: columns)
    move(to: layout.caret(atRow: layout.position(ofCaret: buffer.caret).row, column: column))
  }

  /// Scrolls as little as needed for the caret to be seen.
  private func follow() {
    let layout = TextLayout(buffer.characters, columns: columns)
    let first = firstRow(showing: layout.position(ofCaret: buffer.caret).row, of: layout.rows.count)
    if first != draft.top { draft.top = first }
  }

  private func firstRow(showing row: Int, of count: Int) -> Int {
    ListDrawing.top(showing: row, from: draft.top, height: visibleRows, count: count)
  }

  private func write() {
    guard let text = draft.text else { return onStatus("\(note.name) has no changes to write") }
    do throws(NoteLibrary.Problem) {
      try shelf.write(text, to: note)
      draft.text = nil
      if let current = shelf.library.note(note.identity) { noteWasRenamed(to: current) }
      onStatus("\(note.name) written")
    } catch {
      onStatus(error.description)
    }
  }
}
