/// What a slot's directory is called: the first half of the slot's HMAC, so that no identifier becomes part of a path.
package struct SlotName: Hashable, Comparable, Sendable {
  /// So many bytes of the HMAC name the slot.
  static let byteCount = 16

  /// The first bytes of the slot's HMAC.
  let bytes: [UInt8]

  /// The name of a slot by its whole HMAC, or by its beginning.
  init(identity: some Collection<UInt8>) {
    bytes = Array(identity.prefix(SlotName.byteCount))
  }

  /// Reads a directory's name; nil for anything that the store would not have written, letter by letter.
  init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == SlotName.byteCount * 2 else { return nil }
    bytes = stride(from: 0, to: digits.count, by: 2).compactMap { position in
      UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
    }
    guard bytes.count == SlotName.byteCount, self.text == text else { return nil }
  }

  /// The name in hexadecimal digits.
  package var text: String { hexadecimal(bytes) }

  package static func < (left: SlotName, right: SlotName) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// The names in a slot's directory.
enum SlotFile: Hashable, Sendable {
  /// A whole generation.
  case generation(UInt64)
  /// Nodes touched while locked.
  case pending(UInt64)
  /// The list of what counts.
  case ledger
  /// A ledger that is being written.
  case newLedger
  /// The crash marker.
  case marker
  /// Says that no list names the slot yet, or that none is to name it any more.
  case unnamed

  /// The number of a generation or pending save.
  var number: UInt64? {
    switch self {
    case .generation(let number), .pending(let number): number
    case .ledger, .newLedger, .marker, .unnamed: nil
    }
  }

  /// Whether it is what a locked run has saved.
  var isPending: Bool { if case .pending = self { true } else { false } }

  /// The name as it stands in the directory.
  var text: String {
    switch self {
    case .generation(let number): "g-\(number)"
    case .pending(let number): "p-\(number)"
    case .ledger: "ledger"
    case .newLedger: "ledger.new"
    case .marker: "marker"
    case .unnamed: "unnamed"
    }
  }

  /// Reads a name; nil for anything that the store would not have written.
  init?(_ text: String) {
    for fixed in [SlotFile.ledger, .newLedger, .marker, .unnamed] where fixed.text == text {
      self = fixed
      return
    }
    guard let number = UInt64(text.dropFirst(2)), number > 0 else { return nil }
    self = text.hasPrefix("g-") ? .generation(number) : .pending(number)
    // Leading zeroes and signs name other files.
    guard self.text == text else { return nil }
  }
}
