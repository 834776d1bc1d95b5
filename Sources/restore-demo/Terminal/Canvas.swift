/// A screenful of cells that controllers draw into; nothing reaches the terminal before a ``Renderer`` compares it.
struct Canvas: Equatable {
  /// One cell: a character that begins here, or the second half of a wide one.
  struct Cell: Equatable {
    /// `nil` in the right half of a wide character.
    var character: Character?
    var style: Style

    static let blank = Cell(character: " ", style: .plain)
  }

  /// A rectangle of cells, from zero.
  struct Rectangle: Equatable {
    var row: Int
    var column: Int
    var rows: Int
    var columns: Int

    /// The row of a cell of the screen within the rectangle; nil for one outside.
    func row(ofCell row: Int, _ column: Int) -> Int? {
      let isInside = (self.row..<self.row + max(rows, 0)).contains(row)
      return isInside && (self.column..<self.column + max(columns, 0)).contains(column) ? row - self.row : nil
    }

    /// The first rows of the rectangle.
    func firstRows(_ count: Int) -> Rectangle {
      Rectangle(row: row, column: column, rows: min(max(count, 0), max(rows, 0)), columns: columns)
    }

    /// The same rectangle without its first rows.
    func droppingRows(_ count: Int) -> Rectangle {
      let count = min(max(count, 0), max(rows, 0))
      return Rectangle(row: row + count, column: column, rows: rows - count, columns: columns)
    }
  }

  let rows: Int
  let columns: Int
  private(set) var cells: [Cell]
  /// Where the text cursor is shown, or `nil` to hide it.
  ///
  /// In a window that is too small for the drawing it stays inside.
  var cursor: (row: Int, column: Int)? {
    didSet {
      guard let cursor else { return }
      let inside = (row: min(max(cursor.row, 0), rows - 1), column: min(max(cursor.column, 0), columns - 1))
      if inside != cursor { self.cursor = inside }
    }
  }

  init(rows: Int, columns: Int) {
    self.rows = max(rows, 1)
    self.columns = max(columns, 1)
    self.cells = Array(repeating: .blank, count: self.rows * self.columns)
  }

  /// The whole screen.
  var bounds: Rectangle { Rectangle(row: 0, column: 0, rows: rows, columns: columns) }

  /// The cells of one row.
  func cells(inRow row: Int) -> ArraySlice<Cell> { cells[row * columns..<(row + 1) * columns] }

  /// Draws one line of text, cut off at the rectangle's right edge; never half a wide character.
  ///
  /// - Returns: The column after the last cell drawn.
  @discardableResult
  mutating func draw(_ text: some StringProtocol, row: Int, column: Int, in area: Rectangle, style: Style = .plain)
    -> Int
  {
    guard row >= 0, row < area.rows, area.row + row < rows else { return column }
    var column = column
    let limit = min(area.columns, columns - area.column)
    for character in text {
      let shown = DisplayWidth.visible(character)
      let width = DisplayWidth.of(shown)
      guard column + width <= limit else { break }
      if column >= 0 { put(shown, width: width, row: area.row + row, column: area.column + column, style: style) }
      column += width
    }
    return column
  }

  /// Draws text and fills the rest of the rectangle's row with the same style; text that is too long ends with “…”.
  mutating func drawRow(_ text: some StringProtocol, row: Int, in area: Rectangle, style: Style) {
    let end = draw(text, row: row, column: 0, in: area, style: style)
    if DisplayWidth.of(text) > area.columns { draw("…", row: row, column: area.columns - 1, in: area, style: style) }
    guard end < area.columns else { return }
    draw(String(repeating: " ", count: area.columns - end), row: row, column: end, in: area, style: style)
  }

  /// Blanks a rectangle.
  mutating func clear(_ area: Rectangle) {
    for row in 0..<max(area.rows, 0) { drawRow("", row: row, in: area, style: .plain) }
  }

  /// Draws a frame around a rectangle and returns the inside.
  mutating func frame(_ area: Rectangle, title: String) -> Rectangle {
    guard area.rows >= 2, area.columns >= 2 else { return area }
    clear(area)
    let line = String(repeating: "─", count: area.columns - 2)
    draw("┌" + line + "┐", row: 0, column: 0, in: area, style: .dim)
    draw("└" + line + "┘", row: area.rows - 1, column: 0, in: area, style: .dim)
    for row in 1..<max(area.rows - 1, 1) {
      draw("│", row: row, column: 0, in: area, style: .dim)
      draw("│", row: row, column: area.columns - 1, in: area, style: .dim)
    }
    draw(" \(title) ", row: 0, column: 2, in: area, style: .title)
    return Rectangle(row: area.row + 1, column: area.column + 1, rows: area.rows - 2, columns: area.columns - 2)
  }

  /// The screen as plain text, a line a row, without trailing blanks.
  var text: String {
    (0..<rows).map { row in
      var line = String(cells(inRow: row).compactMap(\.character))
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  private mutating func put(_ character: Character, width: Int, row: Int, column: Int, style: Style) {
    guard row < rows, column + width <= columns else { return }
    let index = row * columns + column
    // Writing over one half of a wide character blanks the other half.
    if cells[index].character == nil, column > 0 { cells[index - 1].character = " " }
    let end = index + width
    if end < (row + 1) * columns, cells[end].character == nil { cells[end].character = " " }
    cells[index] = Cell(character: character, style: style)
    if width == 2 { cells[index + 1] = Cell(character: nil, style: style) }
  }

  static func == (left: Canvas, right: Canvas) -> Bool {
    left.rows == right.rows && left.columns == right.columns && left.cells == right.cells
      && left.cursor?.row == right.cursor?.row && left.cursor?.column == right.cursor?.column
  }
}
