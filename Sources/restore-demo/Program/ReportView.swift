/// A text over the whole screen: the restoration report, or the help.
struct ReportView {
  let title: String
  let lines: [String]
  private(set) var top = 0

  init(_ text: String, title: String = "Report") {
    self.title = title
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Scrolls by a key.
  ///
  /// - Returns: Whether the view stays open.
  mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .up: top = max(top - 1, 0)
    case .down: top = min(top + 1, max(lines.count - 1, 0))
    case .pageUp: top = max(top - 10, 0)
    case .pageDown: top = min(top + 10, max(lines.count - 1, 0))
    default: return false
    }
    return true
  }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle) {
    let inside = canvas.frame(area, title: "\(title) (any key closes)")
    for row in 0..<max(min(inside.rows, lines.count - top), 0) {
      canvas.draw(lines[top + row], row: row, column: 1, in: inside)
    }
    canvas.cursor = nil
  }
}
