/// The lock: a field for the passcode, and one for a jot, over what must not be seen.
struct LockScreen {
  /// Which field has the keys.
  enum Field { case passcode, jot }

  var prompt = PasscodePrompt(title: "Locked")
  var field = Field.passcode
  /// Whether a passcode is being checked, which takes half a second.
  var isChecking = false

  init() { prompt.message = "Type the passcode, then Enter." }

  /// The keys it knows.
  var hints: [Hint] {
    [
      Hint("⏎", "unlock"), Hint("Tab", field == .jot ? "passcode" : "jot"), Hint("↑↓", "scroll"), Hint("^Q", "quit"),
    ]
  }

  /// How many rows it needs where there are so many columns.
  func rows(inColumns columns: Int) -> Int { prompt.rows(inColumns: columns, spareRows: 1) }

  /// Draws the lock in the middle of an area.
  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, jot: String) {
    let line = prompt.draw(into: &canvas, area: area, spareRows: 1)
    let end = canvas.draw("Jot: ", row: 0, column: 1, in: line, style: field == .jot ? .title : .plain)
    // The end of a long line is seen.
    var shown = jot
    while DisplayWidth.of(shown) > max(line.columns - end - 2, 1) { shown.removeFirst() }
    let caret = canvas.draw(shown, row: 0, column: end, in: line)
    if field == .jot { canvas.cursor = (line.row, line.column + caret) }
  }
}
