/// Turns one screen into the bytes that change the terminal from the screen shown before.
///
/// Everything goes out as one write inside a synchronized update (`CSI ? 2026`), so that a terminal never shows half a
/// screen; terminals that do not know the mode ignore it.
struct Renderer {
  private var shown: Canvas?

  /// Forgets the screen, so that the next screen is drawn whole: after a resize or a return to foreground.
  mutating func invalidate() { shown = nil }

  /// The bytes to write, empty when nothing changed.
  mutating func bytes(for canvas: Canvas) -> String {
    if canvas == shown { return "" }
    var output = "\u{1B}[?2026h\u{1B}[?25l"
    let old = shown.flatMap { $0.rows == canvas.rows && $0.columns == canvas.columns ? $0 : nil }
    if old == nil { output += "\u{1B}[0m\u{1B}[2J" }
    for row in 0..<canvas.rows {
      let new = canvas.cells(inRow: row)
      if let old, old.cells(inRow: row).elementsEqual(new) { continue }
      output += Self.bytes(forRow: row, cells: new)
    }
    if let cursor = canvas.cursor {
      output += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
    }
    output += "\u{1B}[?2026l"
    shown = canvas
    return output
  }

  private static func bytes(forRow row: Int, cells: ArraySlice<Canvas.Cell>) -> String {
    var output = "\u{1B}[\(row + 1);1H\u{1B}[0m"
    var style = Style.plain
    for (column, cell) in cells.enumerated() {
      guard let character = cell.character else { continue }
      if cell.style != style {
        output += cell.style.sequence
        style = cell.style
      }
      output.append(character)
      // Terminals disagree about the width of some characters; saying where the next cell is keeps the row straight.
      if !character.isASCII { output += "\u{1B}[\(row + 1);\(column + DisplayWidth.of(character) + 1)H" }
    }
    return output + "\u{1B}[0m"
  }
}
