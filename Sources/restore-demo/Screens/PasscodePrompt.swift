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

  /// How many rows it needs where there are so many columns.
  ///
  /// - Parameter spareRows: Rows of somebody else's between the passcode and the message.
  func rows(inColumns columns: Int, spareRows: Int = 0) -> Int { 3 + spareRows + lines(inColumns: columns).rows.count }

  /// Draws the prompt in the middle of an area that is blanked first.
  ///
  /// - Returns: The spare rows.
  @discardableResult
  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, spareRows: Int = 0) -> Canvas.Rectangle {
    canvas.clear(area)
    let columns = min(Self.columns, area.columns)
    let rows = min(rows(inColumns: columns, spareRows: spareRows), area.rows)
    let box = Canvas.Rectangle(
      row: area.row + (area.rows - rows) / 2, column: area.column + (area.columns - columns) / 2,
      rows: rows, columns: columns)
    let inside = canvas.frame(box, title: title)
    let dots = String(repeating: "•", count: min(buffer.characters.count, max(inside.columns - 13, 0)))
    let end = canvas.draw("Passcode: " + dots, row: 0, column: 1, in: inside)
    canvas.cursor = (inside.row, inside.column + end)
    let spare = inside.droppingRows(1)
    let lines = lines(inColumns: columns)
    for line in lines.rows.indices {
      canvas.draw(lines.text(ofRow: line), row: spareRows + line, column: 1, in: spare, style: .warning)
    }
    return spare.firstRows(spareRows)
  }

  private static let columns = 46

  /// The message in the lines of a prompt with so many columns.
  private func lines(inColumns columns: Int) -> TextLayout {
    TextLayout(Array(message), columns: min(Self.columns, columns) - 4)
  }
}
