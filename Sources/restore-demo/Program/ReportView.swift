/// A text over the whole screen: the restoration report, or the help.
struct ReportView {
  let title: String
  private let text: [Character]
  private var top = 0
  /// How many lines there were, and could be seen, when it was drawn last.
  private var (lineCount, visibleRows) = (1, 1)

  init(_ text: String, title: String = "Report") {
    self.title = title
    self.text = Array(text)
  }

  /// The keys it knows.
  var hints: [Hint] { [Hint("↑↓", "scroll"), Hint("Esc", "close")] }

  /// Scrolls by a key.
  ///
  /// - Returns: Whether the view stays open.
  mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .up: top -= 1
    case .down: top += 1
    case .pageUp: top -= visibleRows
    case .pageDown: top += visibleRows
    case .home: top = 0
    case .end: top = lineCount
    default: return false
    }
    return true
  }

  mutating func draw(into canvas: inout Canvas, area: Canvas.Rectangle) {
    let inside = canvas.frame(area, title: "\(title) (any key closes)")
    let layout = TextLayout(text, columns: inside.columns - 2)
    (lineCount, visibleRows) = (layout.rows.count, max(inside.rows, 1))
    top = min(max(top, 0), max(lineCount - visibleRows, 0))
    for row in 0..<max(min(inside.rows, lineCount - top), 0) {
      canvas.draw(layout.text(ofRow: top + row), row: row, column: 1, in: inside)
    }
    canvas.cursor = nil
  }
}
