/// A text broken into the rows of a given width, and the way from a caret to a cell and back.
///
/// A row breaks behind a blank or beside a wide character, and within a word only where that is wider than a row; never within
/// a character. A line break ends a row. Linear in the text.
struct TextLayout {
  /// The characters of each row, without the line break.
  let rows: [Range<Int>]
  private let characters: [Character]

  init(_ characters: [Character], columns: Int) {
    self.characters = characters
    let columns = max(columns, 2)
    var rows: [Range<Int>] = []
    var start = 0
    var width = 0
    // Where the row may end, and how wide what stands behind it is.
    var place = 0
    var behind = 0
    for (offset, character) in characters.enumerated() {
      if character.isNewline {
        rows.append(start..<offset)
        start = offset + 1
        (place, width, behind) = (start, 0, 0)
        continue
      }
      let cells = Self.cells(of: character)
      let isBreakable = offset > start && (characters[offset - 1].isWhitespace || cells == 2)
      if isBreakable { (place, behind) = (offset, 0) }
      if width + cells > columns {
        if place <= start { (place, behind) = (offset, 0) }
        rows.append(start..<place)
        (start, width) = (place, behind)
      }
      width += cells
      behind += cells
      if cells == 2 { (place, behind) = (offset + 1, 0) }
    }
    rows.append(start..<characters.count)
    self.rows = rows
  }

  /// The text of a row as it is drawn; a tab is two blanks.
  func text(ofRow row: Int) -> String {
    characters[rows[row]].reduce(into: "") { text, character in
      if character == "\t" { text += "  " } else { text.append(character) }
    }
  }

  /// The row and column of the cell where a caret stands.
  func position(ofCaret caret: Int) -> (row: Int, column: Int) {
    var low = 0
    var high = rows.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if rows[middle].lowerBound <= caret { low = middle } else { high = middle - 1 }
    }
    let column = characters[rows[low].lowerBound..<min(caret, rows[low].upperBound)].reduce(0) {
      $0 + Self.cells(of: $1)
    }
    return (low, column)
  }

  /// The caret nearest to a cell.
  func caret(atRow row: Int, column: Int) -> Int {
    let range = rows[min(max(row, 0), rows.count - 1)]
    var width = 0
    for offset in range {
      let cells = Self.cells(of: characters[offset])
      if width + cells > column { return offset }
      width += cells
    }
    // Where a long line was broken, the row's end is the next row's beginning: stay on this row.
    let continues = range.upperBound < characters.count && !characters[range.upperBound].isNewline
    return continues && !range.isEmpty ? range.upperBound - 1 : range.upperBound
  }

  private static func cells(of character: Character) -> Int {
    character == "\t" ? 2 : DisplayWidth.of(DisplayWidth.visible(character))
  }
}
