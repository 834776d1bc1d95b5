import Testing

@testable import restore_demo

/// What a terminal would show after the bytes that a program wrote: enough of a VT100 for a strict check.
///
/// Anything the emulator does not know counts as a broken screen (``complaints``), and so does text written outside an
/// alternate screen or beyond the right edge.
struct ScreenEmulator: CustomTestStringConvertible {
  private(set) var rows: Int
  private(set) var columns: Int
  private(set) var cells: [[Character?]]
  private(set) var isAlternate = false
  private(set) var isCursorVisible = true
  private(set) var complaints: [String] = []
  /// Text that was written to the ordinary screen.
  private(set) var ordinaryText = ""
  /// How many synchronized updates ended.
  private(set) var updates = 0
  private(set) var isUpdating = false
  private var row = 0
  private var column = 0
  private var pending: [UInt8] = []

  init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// Where the cursor is, from zero.
  var cursor: (row: Int, column: Int) { (row, column) }

  /// The screen as text, a line a row, without trailing blanks.
  var text: String {
    cells.map { row in
      var line = String(row.compactMap { $0 })
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// In a failed test: the screen.
  var testDescription: String { text }

  /// Takes bytes as they came; a sequence or a character may be split between two calls.
  mutating func feed(_ bytes: some Sequence<UInt8>) {
    pending.append(contentsOf: bytes)
    var index = 0
    while index < pending.count {
      guard let end = pending[index] == 0x1B ? sequenceEnd(from: index) : textEnd(from: index) else { break }
      if pending[index] == 0x1B {
        perform(String(decoding: pending[index..<end], as: UTF8.self))
      } else {
        write(String(decoding: pending[index..<end], as: UTF8.self))
      }
      index = end
    }
    pending.removeFirst(index)
  }

  /// Shows what came last: there are no more bytes.
  mutating func finish() {
    if let first = pending.first, first != 0x1B { write(String(decoding: pending, as: UTF8.self)) }
    pending = []
  }

  private func sequenceEnd(from start: Int) -> Int? {
    guard start + 1 < pending.count else { return nil }
    guard pending[start + 1] == UInt8(ascii: "[") else { return start + 2 }
    return pending[(start + 2)...].firstIndex { (0x40...0x7E).contains($0) }.map { $0 + 1 }
  }

  /// The end of the text up to the next escape byte; whole characters only, as far as this can be known.
  private func textEnd(from start: Int) -> Int? {
    pending[start...].firstIndex(of: 0x1B)
  }

  private mutating func perform(_ sequence: String) {
    let body = sequence.dropFirst(2).dropLast()
    switch (sequence.last, body) {
    case ("h", "?1049"):
      isAlternate = true
      clear()
    case ("l", "?1049"): isAlternate = false
    case ("h", "?2026"): isUpdating = true
    case ("l", "?2026"):
      if isUpdating { updates += 1 }
      isUpdating = false
    case ("h", "?25"): isCursorVisible = true
    case ("l", "?25"): isCursorVisible = false
    case ("h", "?7"), ("l", "?7"), ("h", "?2004"), ("l", "?2004"), ("m", _): break
    // Clicks and the wheel are told, or not.
    case ("h", "?1000"), ("l", "?1000"), ("h", "?1006"), ("l", "?1006"): break
    case ("J", "2"): clear()
    case ("H", let position):
      let parts = position.split(separator: ";").map { Int($0) ?? 0 }
      row = (parts.first ?? 1) - 1
      column = (parts.count > 1 ? parts[1] : 1) - 1
      if !(0..<rows).contains(row) || !(0...columns).contains(column) {
        complaints.append("the cursor went to \(row), \(column)")
        row = min(max(row, 0), rows - 1)
      }
    default: complaints.append("an unknown sequence \(sequence.debugDescription)")
    }
  }

  private mutating func write(_ text: String) {
    guard isAlternate else {
      ordinaryText += text
      return
    }
    if !isUpdating { complaints.append("text outside an update: \(text.debugDescription)") }
    for character in text {
      let width = DisplayWidth.of(character)
      guard width > 0, column + width <= columns else {
        complaints.append("\(character.debugDescription) at \(row), \(column)")
        continue
      }
      cells[row][column] = character
      if width == 2 { cells[row][column + 1] = nil }
      column += width
    }
  }

  /// Forgets what was wrong: while a window changes its size, what was drawn for the old one arrives in the new one.
  mutating func forgive() { complaints = [] }

  /// Takes another size; what was shown is gone, as the program draws everything again.
  mutating func resize(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
    clear()
  }

  private mutating func clear() {
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    row = 0
    column = 0
  }
}
