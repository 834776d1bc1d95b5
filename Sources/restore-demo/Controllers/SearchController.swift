import Foundation
import StateRestoration

/// Notes whose name or text holds the query.
///
/// It exists at launch; query and selection come back. Only the passcode opens them: what somebody looks for says much of
/// what they have written.
@MainActor final class SearchController: RowListController, DataSourceModelAssociation {
  @Restored("query") private var query = ""
  @Restored("caret") private var caret = 0
  private let shelf: NoteShelf
  private let onOpen: @MainActor (Note) -> Void
  private var results: [Note] = []

  init(shelf: NoteShelf, onOpen: @escaping @MainActor (Note) -> Void) {
    self.shelf = shelf
    self.onOpen = onOpen
    super.init(RestorationIdentity("search", protection: .complete))
    association = self
    shelf.onChange { [weak self] in self?.search() }
  }

  override var title: String { "Search" }

  override var rows: [String] { results.map { $0.folder.isEmpty ? $0.name : $0.folder + "/" + $0.name } }

  override var emptyText: String { query.isEmpty ? "Type what to look for." : "Nothing found." }

  override func open(row: Int) { onOpen(results[row]) }

  override func applicationFinishedRestoringState() {
    // The results are the query's, so they are found anew before the list looks for its elements.
    search()
    super.applicationFinishedRestoringState()
  }

  override func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    let end = canvas.draw("Search: ", row: 0, column: 1, in: area, style: .title)
    canvas.draw(query, row: 0, column: end, in: area)
    super.draw(into: &canvas, area: area.droppingRows(2), isFocused: isFocused)
    let before = DisplayWidth.of(String(Array(query).prefix(caret)))
    if isFocused { canvas.cursor = (area.row, area.column + min(end + before, area.columns - 1)) }
  }

  override func handle(_ key: Key) -> Bool {
    switch key {
    case .home, .end: break
    default: if super.handle(key) { return true }
    }
    var buffer = TextBuffer(query, caret: caret)
    guard buffer.editLine(with: key) else { return false }
    caret = buffer.caret
    if buffer.text != query {
      query = buffer.text
      search()
      choose(0)
    }
    return true
  }

  func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
    results.indices.contains(indexPath[1]) ? results[indexPath[1]].identity.modelIdentifier : nil
  }

  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
    NoteIdentity(identifier)?.index(in: results).map { IndexPath(indexes: [0, $0]) }
  }

  private func search() {
    let wanted = query.lowercased()
    results =
      wanted.isEmpty
      ? []
      : shelf.library.notes.filter { note in
        note.name.lowercased().contains(wanted)
          || (try? shelf.library.text(of: note))?.lowercased().contains(wanted) == true
      }
    rowsDidChange()
  }
}
