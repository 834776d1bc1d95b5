import Foundation
import StateRestoration

/// A list of one section that draws itself: one row selected, scrolled so that it is seen.
@MainActor class RowListController: ListController, Screen {
  /// Where it was drawn last.
  private var area = Canvas.Rectangle(row: 0, column: 0, rows: 10, columns: 0)
  /// How many rows were visible then.
  private var visibleRows: Int { max(area.rows, 1) }

  /// The title above it.
  var title: String { "" }

  /// The text of each row.
  var rows: [String] { [] }

  /// The text for an empty list.
  var emptyText: String { "Nothing here." }

  /// The keys it knows.
  var hints: [Hint] { [Hint("↑↓", "choose"), Hint("⏎", "open")] }

  /// The row that is selected.
  var selectedRow: Int? { selection.first?[1] }

  /// The first visible row.
  var topRow: Int { firstVisible?[1] ?? 0 }

  /// Opens the selected row.
  func open(row: Int) {}

  /// Tells the list that the rows have changed, and keeps one of them selected.
  func rowsDidChange() {
    dataSourceDidLoad(elementCounts: [rows.count])
    if selection.isEmpty, !rows.isEmpty, !isAwaitingData { choose(0) }
  }

  /// Selects a row and scrolls to it.
  func choose(_ row: Int) {
    guard !rows.isEmpty else { return }
    let row = min(max(row, 0), rows.count - 1)
    select([IndexPath(indexes: [0, row])])
    let top = ListDrawing.top(showing: row, from: topRow, height: visibleRows, count: rows.count)
    scroll(to: IndexPath(indexes: [0, top]))
  }

  override func applicationFinishedRestoringState() {
    super.applicationFinishedRestoringState()
    if selection.isEmpty, !rows.isEmpty, !isAwaitingData { choose(0) }
  }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    self.area = area
    let rows = rows
    let top = ListDrawing.top(showing: selectedRow, from: topRow, height: visibleRows, count: rows.count)
    let list = ListDrawing(rows: rows, selected: selectedRow, top: top, emptyText: emptyText)
    list.draw(into: &canvas, area: area, isFocused: isFocused)
  }

  func handle(_ key: Key) -> Bool {
    let row = selectedRow ?? 0
    switch key {
    case .up: choose(row - 1)
    case .down: choose(row + 1)
    case .pageUp: choose(row - visibleRows)
    case .pageDown: choose(row + visibleRows)
    case .home: choose(0)
    case .end: choose(rows.count - 1)
    case .enter where rows.indices.contains(row): open(row: row)
    case .click(let line, let column):
      guard let line = area.row(ofCell: line, column), rows.indices.contains(topRow + line) else { return false }
      // The second click opens.
      if topRow + line == row { open(row: row) } else { choose(topRow + line) }
    default: return false
    }
    return true
  }
}
