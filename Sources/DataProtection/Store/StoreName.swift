/// The names in a store's directory.
///
/// No part of one comes from outside: a slot is the beginning of its HMAC.
enum StoreName: Hashable, Sendable {
  /// A generation; one saved while locked keeps its own ending for good.
  case generation(slot: SlotName, number: UInt64, isPending: Bool)
  /// A journal of a generation.
  case journal(slot: SlotName, number: UInt64, index: UInt32)
  /// The crash marker of a slot.
  case marker(slot: SlotName)
  /// Damaged material of a slot; numbered so that the oldest goes first.
  case setAside(slot: SlotName, number: UInt64)
  /// A damaged ledger.
  case ledgerSetAside(number: UInt64)
  /// A file that is being written.
  case temporary(number: UInt64)
  /// The ledger.
  case ledger
  /// The lock file.
  case lock

  /// The slot that the name belongs to, if any.
  var slot: SlotName? {
    switch self {
    case .generation(let slot, _, _), .journal(let slot, _, _), .marker(let slot), .setAside(let slot, _): slot
    case .ledgerSetAside, .temporary, .ledger, .lock: nil
    }
  }

  /// The number of damaged material that is kept; nil for everything else.
  var asideNumber: UInt64? {
    switch self {
    case .setAside(_, let number), .ledgerSetAside(let number): number
    default: nil
    }
  }

  /// Whether the file is sealed: a generation or a journal, not set aside.
  var isSealed: Bool {
    switch self {
    case .generation, .journal: true
    default: false
    }
  }

  /// The name as it stands in the directory.
  var text: String {
    switch self {
    case .generation(let slot, let number, let isPending):
      "\(slot.text)-\(hexadecimal(number, 16)).\(isPending ? "pending" : "archive")"
    case .journal(let slot, let number, let index):
      "\(slot.text)-\(hexadecimal(number, 16))-\(hexadecimal(UInt64(index), 8)).journal"
    case .marker(let slot): "\(slot.text).marker"
    case .setAside(let slot, let number): "aside-\(slot.text)-\(hexadecimal(number, 16))"
    case .ledgerSetAside(let number): "aside-ledger-\(hexadecimal(number, 16))"
    case .temporary(let number): "tmp-\(hexadecimal(number, 16))"
    case .ledger: "ledger"
    case .lock: "lock"
    }
  }

  /// Reads a name; `nil` for anything the store would not have written itself, letter by letter.
  init?(_ text: String) {
    if text == "ledger" {
      self = .ledger
      return
    }
    if text == "lock" {
      self = .lock
      return
    }
    var scanner = NameScanner(text)
    if scanner.skip("tmp-") {
      guard let number = scanner.hexadecimal(16), scanner.isAtEnd else { return nil }
      self = .temporary(number: number)
    } else if scanner.skip("aside-ledger-") {
      guard let number = scanner.hexadecimal(16), scanner.isAtEnd else { return nil }
      self = .ledgerSetAside(number: number)
    } else if scanner.skip("aside-") {
      guard let slot = scanner.slot(), scanner.skip("-"), let number = scanner.hexadecimal(16), scanner.isAtEnd
      else { return nil }
      self = .setAside(slot: slot, number: number)
    } else {
      guard let slot = scanner.slot() else { return nil }
      if scanner.skip(".marker") {
        guard scanner.isAtEnd else { return nil }
        self = .marker(slot: slot)
        return
      }
      guard scanner.skip("-"), let number = scanner.hexadecimal(16) else { return nil }
      if scanner.skip(".archive") {
        self = .generation(slot: slot, number: number, isPending: false)
      } else if scanner.skip(".pending") {
        self = .generation(slot: slot, number: number, isPending: true)
      } else {
        guard scanner.skip("-"), let index = scanner.hexadecimal(8), scanner.skip(".journal") else { return nil }
        self = .journal(slot: slot, number: number, index: UInt32(index))
      }
      guard scanner.isAtEnd else { return nil }
    }
  }
}

/// A slot in file names and in the ledger: the first 16 bytes of its HMAC under the name key.
struct SlotName: Hashable, Comparable, Sendable {
  /// The size in the formats.
  static let byteCount = 16

  /// Two lower-case hexadecimal digits a byte.
  let text: String

  fileprivate init(text: String) {
    self.text = text
  }

  /// Takes the first 16 bytes of an identity.
  init(identity: some Collection<UInt8>) {
    text = identity.prefix(SlotName.byteCount).map { hexadecimal(UInt64($0), 2) }.joined()
  }

  /// The bytes.
  var bytes: [UInt8] {
    var scanner = NameScanner(text)
    return (0..<SlotName.byteCount).map { _ in UInt8(scanner.hexadecimal(2)!) }
  }

  /// Orders names by their bytes.
  static func < (left: SlotName, right: SlotName) -> Bool {
    left.text < right.text
  }
}

/// Reads a name from left to right.
private struct NameScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Whether everything was read.
  var isAtEnd: Bool { position == bytes.count }

  /// Takes exactly this text.
  mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    let isThere = unsafe bytes[position..<position + count].elementsEqual(
      UnsafeBufferPointer(start: text.utf8Start, count: count))
    if isThere { position += count }
    return isThere
  }

  /// Takes exactly so many lower-case digits.
  mutating func hexadecimal(_ count: Int) -> UInt64? {
    guard bytes.count - position >= count else { return nil }
    var value: UInt64 = 0
    for digit in bytes[position..<position + count] {
      switch digit {
      case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
      case 0x61...0x66: value = value << 4 | UInt64(digit - 0x61 + 10)
      default: return nil
      }
    }
    position += count
    return value
  }

  /// Takes the digits of a slot.
  mutating func slot() -> SlotName? {
    let start = position
    guard hexadecimal(16) != nil, hexadecimal(16) != nil else {
      position = start
      return nil
    }
    return SlotName(text: String(decoding: bytes[start..<position], as: UTF8.self))
  }
}

private func hexadecimal(_ value: UInt64, _ width: Int) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
