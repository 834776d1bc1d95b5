/// Text with a caret, as editors and text fields edit it.
///
/// A value: the caret is an offset in characters.
struct TextBuffer: Equatable, Sendable {
  private(set) var characters: [Character]
  private(set) var caret: Int

  /// The most characters that a buffer takes; typing beyond it does nothing.
  static let capacity = 4_000_000

  init(_ text: String = "", caret: Int? = nil) {
    characters = Array(text)
    self.caret = min(max(caret ?? characters.count, 0), characters.count)
  }

  var text: String { String(characters) }

  mutating func moveCaret(to offset: Int) { caret = min(max(offset, 0), characters.count) }

  mutating func insert(_ text: String) {
    // A combining mark joins the character before it, so the neighbour is part of the insertion.
    let before = caret > 0 ? String(characters[caret - 1]) : ""
    let joined = Array(before + text)
    guard characters.count + joined.count <= Self.capacity else { return }
    let start = caret - (before.isEmpty ? 0 : 1)
    characters.replaceSubrange(start..<caret, with: joined)
    caret = start + joined.count
  }

  mutating func deleteBackward() {
    guard caret > 0 else { return }
    characters.remove(at: caret - 1)
    caret -= 1
  }

  mutating func deleteForward() {
    guard caret < characters.count else { return }
    characters.remove(at: caret)
  }

  /// Edits by one key.
  ///
  /// - Returns: Whether the key meant anything to a text of one line.
  mutating func editLine(with key: Key) -> Bool {
    switch key {
    case .character(let character): insert(String(character))
    case .paste(let text): insert(String(text.map { $0.isNewline ? " " : $0 }))
    case .backspace: deleteBackward()
    case .delete: deleteForward()
    case .left: moveCaret(to: caret - 1)
    case .right: moveCaret(to: caret + 1)
    case .home, .control("a"): moveCaret(to: 0)
    case .end, .control("e"): moveCaret(to: characters.count)
    case .control("u"):
      characters.removeSubrange(..<caret)
      caret = 0
    default: return false
    }
    return true
  }
}
