/// A field for a passcode, drawn as dots: the passcode never gets onto the screen or into a file.
struct PasscodePrompt: Equatable {
  var title: String
  /// The last answer: a wrong passcode, a delay.
  var message = ""
  private(set) var buffer = TextBuffer()

  init(title: String) { self.title = title }

  /// The typed text.
  var text: String { buffer.text }

  mutating func clear() { buffer = TextBuffer() }

  /// Edits by a key.
  ///
  /// - Returns: Whether the key meant anything.
  mutating func handle(_ key: Key) -> Bool { buffer.editLine(with: key) }

  /// Draws the prompt in the middle of an area that is blanked first.
  func draw(into canvas: inout Canvas, area: Canvas.Rectangle) {
    canvas.clear(area)
    let width = min(max(DisplayWidth.of(message), DisplayWidth.of(title), 30) + 4, area.columns)
    let box = Canvas.Rectangle(
      row: area.row + max((area.rows - 5) / 2, 0), column: area.column + max((area.columns - width) / 2, 0),
      rows: min(5, area.rows), columns: width)
    let inside = canvas.frame(box, title: title)
    let dots = String(repeating: "•", count: min(buffer.characters.count, max(inside.columns - 13, 0)))
    let end = canvas.draw("Passcode: " + dots, row: 0, column: 1, in: inside)
    canvas.cursor = (inside.row, inside.column + end)
    canvas.draw(message, row: 2, column: 1, in: inside, style: .warning)
  }
}
