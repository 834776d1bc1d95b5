import StateRestoration

/// The Notes tab: a stack of folders, notes and editor, in two columns when there is room.
///
/// The hierarchy is the same at every width; only the drawing differs. In two columns the list stands in the first
/// and the editor in the second.
@MainActor final class NotesController: SplitController, Screen {
  /// The stack of folders, notes and editor.
  let stack: NavigationController
  private let shelf: NoteShelf
  private let hidesTitles: Bool
  private let onStatus: @MainActor (String) -> Void
  /// The screens that could not be made again while restoring, in words for a person; the deepest is the last.
  var missing: [String] = []

  /// Whether there were two columns when it was drawn last.
  private var isWide = false

  /// From how many columns on there are two.
  private static let wide = 100

  /// Makes the tab.
  ///
  /// - Parameter hidesTitles: Whether the names of folders and notes are secret: then the state of the whole stack is, too.
  init(shelf: NoteShelf, hidesTitles: Bool, onStatus: @escaping @MainActor (String) -> Void) {
    self.shelf = shelf
    self.hidesTitles = hidesTitles
    self.onStatus = onStatus
    stack = NavigationController(RestorationIdentity("stack", protection: hidesTitles ? .complete : nil))
    super.init(
      "notes-tab", primary: stack, dividerPosition: 0.3, dividerRange: 0.15...0.7)
    stack.push(FolderListController(shelf: shelf) { [weak self] in self?.openFolder($0) })
    expectResult(of: RenameController.identifier, as: RenameController.Answer.self) { [weak self] answer in
      self?.rename(answer)
    }
  }

  var title: String { stack.stack.compactMap { ($0 as? any Screen)?.title }.joined(separator: " › ") }

  var hints: [Hint] {
    if let sheet = presentedController as? RenameController { return sheet.hints }
    return top?.hints ?? []
  }

  /// The screen that has the keys, apart from a sheet.
  var top: (any Screen)? { stack.top as? any Screen }

  /// Makes the list of a folder again.
  ///
  /// `nil` when the folder holds no notes any more, which is then ``missing``.
  func remakeList(of folder: String) -> NoteListController? {
    let list = makeList(of: folder)
    if list == nil { missing.append("\(folder.isEmpty ? "the first folder" : folder) holds no notes any more") }
    return list
  }

  /// Makes the editor of a note again.
  ///
  /// `nil` when the note is gone or is no text any more, which is then ``missing``.
  func remakeEditor(of identifier: ModelIdentifier) -> EditorController? {
    guard let identity = NoteIdentity(identifier), let note = shelf.library.note(identity) else {
      missing.append("\(NoteIdentity(identifier)?.place ?? "the note") is gone, so its editor did not come back")
      return nil
    }
    do throws(NoteLibrary.Problem) {
      return try EditorController(note: note, shelf: shelf, onStatus: onStatus)
    } catch {
      missing.append(error.description)
      return nil
    }
  }

  /// Makes the sheet that renames a note; nil when the note is gone.
  func makeRename(of identifier: ModelIdentifier) -> RenameController? {
    NoteIdentity(identifier).flatMap(shelf.library.note).map(RenameController.init)
  }

  private func makeList(of folder: String) -> NoteListController? {
    guard shelf.library.folders.contains(where: { $0.place == folder }) else { return nil }
    return NoteListController(folder: folder, shelf: shelf) { [weak self] in self?.openNote($0) }
  }

  /// Shows a note from anywhere: its folder's list below it.
  func show(_ note: Note) {
    guard let bottom = stack.stack.first, let list = makeList(of: note.folder), let editor = makeEditor(of: note)
    else { return }
    if let row = list.notes.firstIndex(of: note) { list.choose(row) }
    stack.setStack([bottom, list, editor])
  }

  /// The list that is seen beside an editor.
  private var list: RowListController? { stack.stack.last { $0 is RowListController } as? RowListController }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    canvas.draw(title, row: 0, column: 1, in: area, style: .title)
    let body = area.droppingRows(1)
    let isSheetOpen = presentedController != nil
    isWide = area.columns >= Self.wide
    if isWide {
      drawColumns(into: &canvas, area: body, isFocused: isFocused && !isSheetOpen)
    } else {
      top?.draw(into: &canvas, area: body, isFocused: isFocused && !isSheetOpen)
    }
    if let sheet = presentedController as? any Screen {
      canvas.cursor = nil
      sheet.draw(into: &canvas, area: body, isFocused: isFocused)
    }
  }

  func handle(_ key: Key) -> Bool {
    if let sheet = presentedController as? any Screen { return sheet.handle(key) }
    if top?.handle(key) == true { return true }
    switch key {
    case .escape, .backspace: stack.pop()
    case .left where stack.stack.count > 1: stack.pop()
    case .control("n"): presentRename()
    case .click where stack.top is EditorController:
      // Into the list beside the editor, if it is seen.
      guard isWide, let list, list.handle(key) else { return false }
    case .altLeft: dividerPosition -= 0.05
    case .altRight: dividerPosition += 0.05
    default: return false
    }
    return true
  }

  // MARK: - Locked

  /// The list stays, and the lock stands over the editor.
  func drawLocked(into canvas: inout Canvas, area: Canvas.Rectangle, lockRows: Int) -> Canvas.Rectangle {
    // Whether the note has a draft is a secret, so the editor's own title is not shown.
    let titles = stack.stack.compactMap { ($0 as? EditorController)?.note.name ?? ($0 as? any Screen)?.title }
    canvas.draw(
      hidesTitles ? "Notes" : titles.joined(separator: " › "), row: 0, column: 1, in: area, style: .title)
    let body = area.droppingRows(1)
    isWide = area.columns >= Self.wide
    if isWide {
      let (first, second) = columns(of: body, into: &canvas)
      drawLockedList(into: &canvas, area: first)
      return second
    }
    guard hidesTitles || list === stack.top else { return body }
    let listRows = max(body.rows - lockRows, 0)
    drawLockedList(into: &canvas, area: body.firstRows(listRows))
    return body.droppingRows(listRows)
  }

  private func drawLockedList(into canvas: inout Canvas, area: Canvas.Rectangle) {
    guard hidesTitles else {
      list?.draw(into: &canvas, area: area, isFocused: false)
      return
    }
    // The same dots for each, wherever the user is: neither a name's length nor the place is told.
    let dots = shelf.library.folders.map { _ in "••••••••" }
    ListDrawing(rows: dots, selected: nil, top: 0).draw(into: &canvas, area: area, isFocused: false)
  }

  /// Scrolls the list where it is seen.
  func handleLocked(_ key: Key) {
    if !hidesTitles, isWide || list === stack.top { _ = list?.handle(key) }
  }

  // MARK: - Columns

  /// The two columns of an area, with the divider drawn between them.
  private func columns(
    of area: Canvas.Rectangle, into canvas: inout Canvas
  ) -> (first: Canvas.Rectangle, second: Canvas.Rectangle) {
    let width = min(max(Int((Double(area.columns) * dividerPosition).rounded()), 10), area.columns - 10)
    let first = Canvas.Rectangle(row: area.row, column: area.column, rows: area.rows, columns: width)
    let second = Canvas.Rectangle(
      row: area.row, column: area.column + width + 2, rows: area.rows, columns: area.columns - width - 2)
    for row in 0..<area.rows { canvas.draw("│", row: row, column: width, in: area, style: .dim) }
    return (first, second)
  }

  private func drawColumns(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    let (first, second) = columns(of: area, into: &canvas)
    list?.draw(into: &canvas, area: first, isFocused: isFocused && list === stack.top)
    if let editor = stack.top as? EditorController {
      editor.draw(into: &canvas, area: second, isFocused: isFocused)
    } else {
      canvas.draw("Open a note with Enter.", row: 0, column: 0, in: second, style: .dim)
    }
  }

  private func makeEditor(of note: Note) -> EditorController? {
    do throws(NoteLibrary.Problem) {
      return try EditorController(note: note, shelf: shelf, onStatus: onStatus)
    } catch {
      onStatus(error.description)
      return nil
    }
  }

  private func openFolder(_ folder: String) {
    if let list = makeList(of: folder) { stack.push(list) }
  }

  private func openNote(_ note: Note) {
    guard let editor = makeEditor(of: note) else { return }
    // A click may have come from the list beside another editor.
    if stack.top is EditorController { stack.pop() }
    stack.push(editor)
  }

  private func presentRename() {
    let note = (stack.top as? EditorController)?.note ?? (stack.top as? NoteListController)?.selectedNote
    if let note { present(RenameController(note: note)) }
  }

  private func rename(_ answer: RenameController.Answer) {
    guard let note = NoteIdentity(answer.note).flatMap(shelf.library.note) else {
      return onStatus("the note is gone, so it was not renamed")
    }
    do throws(NoteLibrary.Problem) {
      let renamed = try shelf.rename(note, to: answer.name)
      for case let editor as EditorController in stack.stack where editor.note.identity.inode == note.identity.inode {
        editor.noteWasRenamed(to: renamed)
      }
      onStatus("\(note.name) is \(renamed.name) now")
    } catch {
      onStatus(error.description)
    }
  }
}
