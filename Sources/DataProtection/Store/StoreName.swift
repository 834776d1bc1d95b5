/// The names in a store's directory. No part of one comes from outside: a slot is the beginning of its HMAC.
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
    guard let name = StoreName.parse(text), name.text == text else { return nil }
    self = name
  }

  private static func parse(_ text: String) -> StoreName? {
    if text == "ledger" { return .ledger }
    if text == "lock" { return .lock }
    let dots = text.split(separator: ".", omittingEmptySubsequences: false)
    let parts = dots[0].split(separator: "-", omittingEmptySubsequences: false)
    guard dots.count == 2 else {
      guard dots.count == 1, let number = parts.last.flatMap({ UInt64($0, radix: 16) }) else { return nil }
      switch (parts.first, parts.count) {
      case ("tmp", 2): return .temporary(number: number)
      case ("aside", 3) where parts[1] == "ledger": return .ledgerSetAside(number: number)
      case ("aside", 3): return SlotName(parts[1]).map { .setAside(slot: $0, number: number) }
      default: return nil
      }
    }
    guard let slot = SlotName(parts[0]) else { return nil }
    let numbers = parts.dropFirst().map { UInt64($0, radix: 16) }
    switch (dots[1], numbers.count) {
    case ("marker", 0): return .marker(slot: slot)
    case ("archive", 1): return numbers[0].map { .generation(slot: slot, number: $0, isPending: false) }
    case ("pending", 1): return numbers[0].map { .generation(slot: slot, number: $0, isPending: true) }
    case ("journal", 2):
      guard let number = numbers[0], let index = numbers[1].flatMap(UInt32.init(exactly:)) else { return nil }
      return .journal(slot: slot, number: number, index: index)
    default: return nil
    }
  }
}

/// A slot in file names and in the ledger: the first 16 bytes of its HMAC under the name key.
struct SlotName: Hashable, Comparable, Sendable {
  /// The size in the formats.
  static let byteCount = 16

  /// The bytes.
  let bytes: [UInt8]

  /// Takes the first 16 bytes of an identity.
  init(identity: some Collection<UInt8>) {
    bytes = Array(identity.prefix(SlotName.byteCount))
  }

  /// Reads 32 hexadecimal digits.
  init?(_ text: Substring) {
    guard text.utf8.count == 2 * SlotName.byteCount else { return nil }
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x61...0x66: value = digit - 0x61 + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    self.bytes = bytes
  }

  /// The hexadecimal digits.
  var text: String { bytes.map { hexadecimal(UInt64($0), 2) }.joined() }

  /// Orders names by their bytes.
  static func < (left: SlotName, right: SlotName) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

private func hexadecimal(_ value: UInt64, _ width: Int) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
