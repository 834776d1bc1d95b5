/// How a list of rows is drawn: one line a row, the selected one marked, and how far it is scrolled.
struct ListDrawing {
  var rows: [String]
  var selected: Int?
  /// The first row shown.
  var top: Int
  /// The text for an empty list.
  var emptyText = "Nothing here."

  /// The first row to show so that the selected one is visible, moving as little as possible.
  static func top(showing selected: Int?, from top: Int, height: Int, count: Int) -> Int {
    let height = max(height, 1)
    var top = min(max(top, 0), max(count - height, 0))
    if let selected {
      if selected < top { top = selected }
      if selected >= top + height { top = selected - height + 1 }
    }
    return top
  }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    guard !rows.isEmpty else {
      canvas.draw(emptyText, row: 0, column: 1, in: area, style: .dim)
      return
    }
    for line in 0..<max(min(area.rows, rows.count - top), 0) {
      let row = top + line
      let isSelected = row == selected
      let style: Style = isSelected ? (isFocused ? .selected : .bold) : .plain
      canvas.drawRow((isSelected ? "▸ " : "  ") + rows[row], row: line, in: area, style: style)
    }
  }
}
