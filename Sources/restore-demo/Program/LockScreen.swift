/// The screen of a locked device: nothing of the notes, a field for the passcode, and one for a jot.
struct LockScreen {
  /// Which field has the keys.
  enum Field { case passcode, jot }

  var prompt = PasscodePrompt(title: "Locked")
  var field = Field.passcode
  /// Whether a passcode is being checked, which takes half a second.
  var isChecking = false

  func draw(into canvas: inout Canvas, jot: String) {
    canvas.clear(canvas.bounds)
    var area = canvas.bounds
    area.rows = max(area.rows - 4, 1)
    prompt.draw(into: &canvas, area: area)
    let row = canvas.rows - 3
    let label = "Jot (Tab): "
    let end = canvas.draw(label, row: row, column: 2, in: canvas.bounds, style: field == .jot ? .title : .dim)
    let visible = max(canvas.columns - end - 2, 1)
    var shown = jot
    while DisplayWidth.of(shown) > visible { shown.removeFirst() }
    let caret = canvas.draw(shown, row: row, column: end, in: canvas.bounds)
    if field == .jot { canvas.cursor = (row, min(caret, canvas.columns - 1)) }
    let hints = isChecking ? "Checking…" : "⏎ unlock   Tab passcode/jot   ^Q leave as it is"
    canvas.draw(hints, row: canvas.rows - 1, column: 2, in: canvas.bounds, style: .dim)
  }
}
