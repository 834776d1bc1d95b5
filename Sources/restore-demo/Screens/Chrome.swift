/// The frame around the controllers: tabs above, the status line and the footer below.
struct Chrome: Equatable {
  var tabs: [String]
  var selectedTab: Int?
  var status: String
  var hints: [Hint]

  /// The tab whose name is drawn in a column of the first row.
  func tab(atColumn column: Int) -> Int? {
    var end = 1
    for (index, tab) in tabs.enumerated() {
      let start = end
      end += DisplayWidth.of(tab) + 2
      if (start..<end).contains(column) { return index }
      end += 1
    }
    return nil
  }

  /// Draws the rows around the edge.
  ///
  /// - Returns: The part in the middle, for the controllers.
  func draw(into canvas: inout Canvas) -> Canvas.Rectangle {
    let bounds = canvas.bounds
    guard bounds.rows >= 5 else { return bounds }
    canvas.drawRow("", row: 0, in: bounds, style: .selected)
    var column = 1
    for (index, tab) in tabs.enumerated() {
      let style: Style = index == selectedTab ? .bold : .selected
      column = canvas.draw(" \(tab) ", row: 0, column: column, in: bounds, style: style) + 1
    }
    canvas.drawRow(status, row: bounds.rows - 2, in: bounds, style: .dim)
    column = 0
    for hint in hints {
      let width = DisplayWidth.of(hint.key) + DisplayWidth.of(hint.meaning) + 3
      guard column + width <= bounds.columns else { break }
      column = canvas.draw(hint.key, row: bounds.rows - 1, column: column, in: bounds, style: .bold)
      column = canvas.draw(" " + hint.meaning + "  ", row: bounds.rows - 1, column: column, in: bounds, style: .dim)
    }
    return Canvas.Rectangle(row: 1, column: 0, rows: bounds.rows - 3, columns: bounds.columns)
  }
}
