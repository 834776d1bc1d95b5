/// Turns the bytes of a terminal into keys, however the bytes were split between two reads.
///
/// A lone escape byte can be the Escape key or the beginning of a sequence. The parser keeps it back until the next
/// byte arrives or ``flush()`` says that none will.
struct KeyParser {
  private var pending: [UInt8] = []
  private var pasted: [UInt8]?

  /// The longest escape sequence that is waited for; a longer one is dropped.
  private static let longestSequence = 32
  /// The most bytes of one paste that are kept.
  private static let longestPaste = 1 << 20
  private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

  /// Whether bytes are held back that may belong to an unfinished sequence.
  var isWaiting: Bool { !pending.isEmpty && pasted == nil }

  /// Takes the bytes of one read and returns the keys that are complete.
  mutating func parse(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending.append(contentsOf: bytes)
    var keys: [Key] = []
    while let key = nextKey() {
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Returns what the held-back bytes mean if nothing follows them: the Escape key, or unreadable input, dropped.
  mutating func flush() -> [Key] {
    guard pasted == nil, let first = pending.first else { return [] }
    let rest = Array(pending.dropFirst())
    pending = []
    guard first == 0x1B else { return [] }
    return [.escape] + (rest == [0x5B] ? [.character("[")] : rest == [0x4F] ? [.character("O")] : [])
  }

  /// The next complete key; `.some(nil)` when bytes were used up that mean no key; `nil` when more bytes are needed.
  private mutating func nextKey() -> Key?? {
    if pasted != nil { return nextOfPaste() }
    guard let first = pending.first else { return nil }
    if first == 0x1B { return nextOfSequence() }
    if first < 0x20 || first == 0x7F {
      pending.removeFirst()
      return .some(Self.key(forControlByte: first))
    }
    return nextOfText(first)
  }

  private static func key(forControlByte byte: UInt8) -> Key? {
    switch byte {
    case 0x0D, 0x0A: .enter
    case 0x09: .tab
    case 0x7F, 0x08: .backspace
    case 0x00: nil
    case 0x1C: .control("\\")
    case 0x1D...0x1F: nil
    default: .control(Character(Unicode.Scalar(byte + 0x60)))
    }
  }

  private mutating func nextOfText(_ first: UInt8) -> Key?? {
    let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0
    guard length > 0 else {
      pending.removeFirst()
      return .some(nil)
    }
    guard pending.count >= length else { return nil }
    let bytes = pending.prefix(length)
    guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
      pending.removeFirst()
      return .some(nil)
    }
    pending.removeFirst(length)
    return .some(.character(character))
  }

  private mutating func nextOfSequence() -> Key?? {
    guard pending.count >= 2 else { return nil }
    if pending[1] == 0x4F {
      guard pending.count >= 3 else { return nil }
      let final = pending[2]
      pending.removeFirst(3)
      return .some(Self.key(forSequence: "", final: final))
    }
    guard pending[1] == 0x5B else {
      // Escape and then something else: the Escape key; the rest is read on its own.
      pending.removeFirst()
      return .some(.escape)
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      if pending.count > Self.longestSequence { pending.removeAll() }
      return nil
    }
    let parameters = String(decoding: pending[2..<end], as: UTF8.self)
    let final = pending[end]
    pending.removeFirst(end + 1)
    if parameters == "200", final == UInt8(ascii: "~") {
      pasted = []
      return .some(nil)
    }
    return .some(Self.key(forSequence: parameters, final: final))
  }

  /// What the mouse does, in the terminal's second way of telling it: a click, or the wheel, which is an arrow.
  private static func key(forMouse parameters: Substring) -> Key? {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
    switch numbers[0] {
    case 0: return .click(row: numbers[2] - 1, column: numbers[1] - 1)
    case 64: return .up
    case 65: return .down
    default: return nil
    }
  }

  private static func key(forSequence parameters: String, final: UInt8) -> Key? {
    let alt = parameters == "1;3"
    switch final {
    case UInt8(ascii: "M") where parameters.first == "<": return key(forMouse: parameters.dropFirst())
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "C"): return alt ? .altRight : .right
    case UInt8(ascii: "D"): return alt ? .altLeft : .left
    case UInt8(ascii: "H"): return .home
    case UInt8(ascii: "F"): return .end
    case UInt8(ascii: "Z"): return .backTab
    case UInt8(ascii: "P"): return .function(1)
    case UInt8(ascii: "Q"): return .function(2)
    case UInt8(ascii: "R"): return .function(3)
    case UInt8(ascii: "S"): return .function(4)
    case UInt8(ascii: "~"):
      let keys: [String: Key] = [
        "1": .home, "3": .delete, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home, "8": .end,
        "11": .function(1), "12": .function(2), "13": .function(3), "14": .function(4), "15": .function(5),
      ]
      return keys[parameters]
    default: return nil
    }
  }

  private mutating func nextOfPaste() -> Key?? {
    guard var text = pasted else { return nil }
    // The end's sequence may have begun in the bytes before.
    let start = max(text.count - Self.pasteEnd.count, 0)
    text.append(contentsOf: pending)
    pending = []
    guard let end = text[start...].firstRange(of: Self.pasteEnd) else {
      // Too much is dropped, but for the last bytes, which may be the beginning of the end's sequence.
      if text.count > Self.longestPaste + Self.pasteEnd.count {
        text.removeSubrange(Self.longestPaste..<(text.count - Self.pasteEnd.count))
      }
      pasted = text
      return nil
    }
    pending = Array(text[end.upperBound...])
    pasted = nil
    return .some(.paste(String(decoding: text[..<end.lowerBound].prefix(Self.longestPaste), as: UTF8.self)))
  }
}
