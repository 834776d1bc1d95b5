/// One key as the user pressed it, whatever bytes the terminal sent for it.
enum Key: Hashable, Sendable {
  /// A printable character, or several that belong together (an accent and its letter, an emoji family).
  case character(Character)
  /// The letter held down together with Ctrl, in lower case; `\` for Ctrl-\.
  case control(Character)
  /// Text that the terminal says was pasted.
  case paste(String)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, home, end, pageUp, pageDown
  /// An arrow held down together with Alt.
  case altLeft, altRight
  /// A function key, from 1.
  case function(Int)
  /// A click of the mouse into a cell of the screen, from zero.
  case click(row: Int, column: Int)
}

extension Key {
  /// The keys that a script calls by name, apart from `ctrl-…`, `f…` and single characters.
  private static let names: [String: Key] = [
    "enter": .enter, "escape": .escape, "tab": .tab, "backtab": .backTab, "backspace": .backspace,
    "delete": .delete, "up": .up, "down": .down, "left": .left, "right": .right, "home": .home, "end": .end,
    "pageup": .pageUp, "pagedown": .pageDown, "alt-left": .altLeft, "alt-right": .altRight,
    "space": .character(" "),
  ]

  /// Reads a key's name as a script writes it: `enter`, `ctrl-l`, `f2`, `alt-left`, or one character.
  init?(name: String) {
    let lowercased = name.lowercased()
    if let key = Key.names[lowercased] {
      self = key
    } else if lowercased.hasPrefix("ctrl-"), lowercased.count == 6, let letter = lowercased.last {
      self = .control(letter)
    } else if lowercased.hasPrefix("f"), let number = Int(lowercased.dropFirst()), (1...12).contains(number) {
      self = .function(number)
    } else if name.count == 1, let character = name.first {
      self = .character(character)
    } else {
      return nil
    }
  }
}
