import Foundation

/// Bytes that say what a value does while it is encoded or decoded; zeroes follow its end.
///
/// Containers that values left behind stay here, to be used when their time is over.
final class Script: @unchecked Sendable {
  // Sendable: the fuzzer has one thread.

  /// Where a decoded value finds it.
  static let key = CodingUserInfoKey(rawValue: "script")!

  private let bytes: [UInt8]
  private var position = 0
  /// Values that are made in all; a script could otherwise make them without end.
  private var budget = 256

  /// What was left behind by values that are being encoded.
  var stashedWriting: [any SingleValueEncodingContainer] = []
  /// Keyed containers left behind.
  var stashedKeyedWriting: [KeyedEncodingContainer<ScriptKey>] = []
  /// What was left behind by values that are being decoded.
  var stashedReading: [any SingleValueDecodingContainer] = []
  /// Keyed containers left behind.
  var stashedKeyedReading: [KeyedDecodingContainer<ScriptKey>] = []

  init(_ bytes: Data) { self.bytes = [UInt8](bytes) }

  /// The next byte.
  func next() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// Whether nothing more is to be done.
  var isAtEnd: Bool { position >= bytes.count }

  /// Whether one more value may be made.
  func spend() -> Bool {
    budget -= 1
    return budget > 0
  }

  /// A text with any of the things that texts can have.
  func text() -> String {
    let kinds = ["", "a", "b", "\u{0}", "é", "👩‍👩‍👧", String(repeating: "long ", count: 60)]
    return kinds[Int(next()) % kinds.count]
  }

  /// An integer of any size.
  func integer() -> Int64 {
    let shift = Int64(next() & 63)
    return Int64(truncatingIfNeeded: Int(next())) << shift &* (next() & 1 == 0 ? 1 : -1)
  }
}

/// Keys as the compiler makes them.
enum ScriptKey: CodingKey, CaseIterable {
  case a, b, c, d, e, f, `super`

  init(_ byte: UInt8) { self = Self.allCases[Int(byte) % Self.allCases.count] }
}

/// Keys of any text.
struct TextKey: CodingKey {
  var stringValue: String
  var intValue: Int?

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}
