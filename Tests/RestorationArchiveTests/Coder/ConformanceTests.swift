import Foundation
import RestorationArchive
import Testing

/// `Codable` through three coders side by side: each kind of value comes back equal from ours, and from Foundation's unless a
/// line says why not.
struct ConformanceTests {
  /// A kind of value.
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Why Foundation's coder gives back something else; nil when it does not.
    var json: String?
    var plist: String?
    /// Whether the value comes back equal from a coder.
    var isEqual: @Sendable (Coder) throws -> Bool
  }

  /// A coder.
  enum Coder: CaseIterable {
    case ours, json, plist

    /// What comes back of a value in a list: property lists have no single values.
    func roundTrip<T: Codable>(_ value: T) throws -> T {
      switch self {
      case .ours: return try ArchiveDecoder().decode([T].self, from: ArchiveEncoder().encode([value]))[0]
      case .json: return try JSONDecoder().decode([T].self, from: JSONEncoder().encode([value]))[0]
      case .plist:
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try PropertyListDecoder().decode([T].self, from: encoder.encode([value]))[0]
      }
    }
  }

  private static func kind<T: Codable & Sendable>(
    _ name: String, _ value: T, json: String? = nil, plist: String? = nil, _ same: @escaping @Sendable (T, T) -> Bool
  ) -> Kind {
    Kind(testDescription: name, json: json, plist: plist) { same(try $0.roundTrip(value), value) }
  }

  private static func kind<T: Codable & Equatable & Sendable>(
    _ name: String, _ value: T, json: String? = nil, plist: String? = nil
  ) -> Kind { kind(name, value, json: json, plist: plist, ==) }

  /// The same as a property, which is never the top of what a coder encodes.
  private static func field<T: Codable & Equatable & Sendable>(
    _ name: String, _ value: T, json: String? = nil, plist: String? = nil
  ) -> Kind { kind(name, Field(value: value), json: json, plist: plist) }

  @Test(arguments: kinds) func `a value comes back equal`(kind: Kind) throws {
    #expect(try kind.isEqual(.ours))
    for (coder, note) in [(Coder.json, kind.json), (.plist, kind.plist)] {
      let isEqual = (try? kind.isEqual(coder)) ?? false
      #expect(isEqual == (note == nil), "\(coder): \(note ?? "should be equal")")
    }
  }

  @Test func `there are as many kinds as promised`() {
    #expect(Self.kinds.count >= 60)
    #expect(Set(Self.kinds.map(\.testDescription)).count == Self.kinds.count)
  }

  // MARK: Types

  struct Field<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable { var value: Value }
  struct Empty: Codable, Equatable, Sendable {}
  enum Plain: String, Codable, Sendable { case one, two }
  enum Number: Int8, Codable, Sendable { case low = -128, high = 127 }
  enum Payload: Codable, Equatable, Sendable {
    case bare
    case unlabelled(Int, String)
    case labelled(x: Double, y: [Int?])
    indirect case nested(Payload)
  }
  struct Optionals: Codable, Equatable, Sendable {
    var some: Int?
    var none: Int?
    var list: [Int?]
    var double: [Int??]
  }
  struct IntegerKeys: Codable, Equatable, Sendable {
    var first = 1
    var second = "two"
    enum CodingKeys: Int, CodingKey { case first = 7, second = -3 }
  }
  struct CollidingKeys: Codable, Equatable, Sendable {
    var kept = "last"
    enum Keys: String, CodingKey { case key }
    init() {}
    init(from decoder: any Decoder) throws {
      kept = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .key)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode("first", forKey: .key)
      try container.encode(kept, forKey: .key)
    }
  }
  struct OddKeys: Codable, Equatable, Sendable {
    var empty = 1
    var spaced = 2
    var accented = 3
    enum CodingKeys: String, CodingKey { case empty = "", spaced = "a b\n\"c\"", accented = "h\u{F6}he" }
  }
  class Base: Codable, @unchecked Sendable {
    // Sendable: nobody changes one after it was made.
    var base = 1
  }
  final class Flat: Base, Equatable, @unchecked Sendable {
    var own = "own"
    enum CodingKeys: CodingKey { case own }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      own = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .own)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(own, forKey: .own)
    }
    static func == (left: Flat, right: Flat) -> Bool { left.base == right.base && left.own == right.own }
  }
  final class Apart: Base, Equatable, @unchecked Sendable {
    var own = 2
    enum CodingKeys: CodingKey { case own }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      own = try container.decode(Int.self, forKey: .own)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(own, forKey: .own)
    }
    static func == (left: Apart, right: Apart) -> Bool { left.base == right.base && left.own == right.own }
  }
  /// Nested and super containers, begun in one order and written in another.
  struct Nested: Codable, Equatable, Sendable {
    var order = 0
    var values = [1, 2, 3]
    enum Keys: CodingKey { case keyed, list, order }
    init(order: Int) { self.order = order }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      order = try container.decode(Int.self, forKey: .order)
      let keyed = try container.nestedContainer(keyedBy: Keys.self, forKey: .keyed)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      let parent = try container.superDecoder().singleValueContainer()
      values = [try keyed.decode(Int.self, forKey: .order), try list.decode(Int.self), try parent.decode(Int.self)]
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      var keyed = container.nestedContainer(keyedBy: Keys.self, forKey: .keyed)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      let parent = container.superEncoder()
      try container.encode(order, forKey: .order)
      for step in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order] {
        switch step {
        case 0: try keyed.encode(values[0], forKey: .order)
        case 1: try list.encode(values[1])
        default:
          var single = parent.singleValueContainer()
          try single.encode(values[2])
        }
      }
    }
  }
  struct Deep: Codable, Equatable, Sendable {
    var inner: [Deep]
    static func levels(_ count: Int) -> Deep { (1..<count).reduce(Deep(inner: [])) { deep, _ in Deep(inner: [deep]) } }
  }
  struct StructKey: Codable, Hashable, Sendable { var x: Int, y: String }
  struct NullByHand: Codable, Equatable, Sendable {
    init() {}
    init(from decoder: any Decoder) throws {
      guard try decoder.singleValueContainer().decodeNil() else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "something"))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }
  /// Writes nothing at all.
  struct Nothing: Codable, Equatable, Sendable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
  }

  // MARK: The table

  private static let nan = Double(bitPattern: 0x7FF8_0000_DEAD_BEEF)
  private static let oneNaN = "property lists have one NaN"
  private static let noNaN = "JSON has no such number"

  static let kinds: [Kind] =
    [
      kind("false", false), kind("true", true),
      kind("Int.min", Int.min), kind("Int.max", Int.max), kind("Int8", Int8.min), kind("Int16", Int16.min),
      kind("Int32", Int32.min), kind("Int64", Int64.min), kind("UInt", UInt.max), kind("UInt8", UInt8.max),
      kind("UInt16", UInt16.max), kind("UInt32", UInt32.max), kind("UInt64", UInt64.max),
      kind("Int128", Int128.min, plist: "property lists hold at most 64 bits and a sign"),
      kind("UInt128", UInt128.max, plist: "property lists hold at most 64 bits and a sign"),
      kind("Double", 0.1), kind("Double.leastNonzeroMagnitude", Double.leastNonzeroMagnitude),
      kind("minus zero", -0.0) { $0.bitPattern == $1.bitPattern },
      kind("infinity", Double.infinity, json: noNaN),
      kind("NaN with a payload", nan, json: noNaN, plist: oneNaN) { $0.bitPattern == $1.bitPattern },
      kind("signalling NaN", Double.signalingNaN, json: noNaN, plist: oneNaN) { $0.bitPattern == $1.bitPattern },
      kind("Float", Float.pi), kind("Float NaN", Float.nan, json: noNaN) { $0.bitPattern == $1.bitPattern },
      kind("Float16", Float16(1.5)),
      kind("empty string", ""), kind("string", "naïve 漢 😀\0"),
      kind("equivalent spelling", "ho\u{308}he") { Array($0.utf8) == Array($1.utf8) },
      kind("Character as text", Field(value: String(Character("é")))),
      kind("Data", Data([0, 255, 7])), kind("empty data", Data()),
      kind("Date", Date(timeIntervalSinceReferenceDate: 0.1)),
      kind("distant past", Date.distantPast),
      kind("UUID", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
      kind("URL", URL(string: "https://example.com/a?b=c#d")!),
      kind("relative URL", URL(string: "a/b", relativeTo: nil)!),
      kind("Decimal", Decimal(string: "12345678901234567890.123456789")!),
      kind("DateInterval", DateInterval(start: .distantPast, duration: 5)),
      kind("DateComponents", DateComponents(year: 2026, month: 11, day: 23)),
      kind("IndexPath", IndexPath(indexes: [1, 2, 3])),
      kind("IndexSet", IndexSet([1, 2, 3, 9])), kind("Locale", Locale(identifier: "de_AT")),
      kind("TimeZone", TimeZone(identifier: "Europe/Vienna")!), kind("Calendar", Calendar(identifier: .gregorian)),
      kind("CharacterSet", CharacterSet(charactersIn: "abc")), kind("Range", 1..<5), kind("ClosedRange", 1...5),
      kind("PartialRangeFrom", PartialRangeFrom(3)) { $0.lowerBound == $1.lowerBound },
      kind("Duration", Duration.seconds(1) + .nanoseconds(3)), kind("SIMD4", SIMD4<Float>(1, 2, 3, 4)),
      kind("CGRect", CGRect(x: 1, y: 2, width: 3, height: 4)),
      kind("Measurement", Measurement(value: 3, unit: UnitLength.meters)),
      kind(
        "PersonNameComponents",
        {
          var name = PersonNameComponents(); name.givenName = "Ada"; return name
        }()),
      kind("array", [1, -2, 300]), kind("empty array", [Int]()), kind("array of arrays", [[], [1], [1, 2]]),
      kind("array of doubles", [0.5, .pi]),
      kind("array of 128 bits", [UInt128.max, 0], plist: "at most 64 bits and a sign"),
      kind("set", Set(0..<50)), kind("set of structures", Set([StructKey(x: 1, y: "a"), StructKey(x: 2, y: "b")])),
      kind("dictionary", ["a": 1, "": 2]), kind("empty dictionary", [String: Int]()),
      kind("dictionary by numbers", [1: "a", -7: "b"]),
      kind("dictionary by structures", [StructKey(x: 1, y: "a"): 1, StructKey(x: 2, y: "b"): 2]),
      kind("dictionary by enumerations", [Plain.one: 1, .two: 2]),
      kind("dictionary of optionals", ["a": Int?.none, "b": 1]),
      kind("2^16 keys", Dictionary(uniqueKeysWithValues: (0..<(1 << 16)).map { ("key \($0)", $0) })),
      kind("structure", StructKey(x: 1, y: "a")), kind("empty structure", Empty()),
      kind("enumeration", Field(value: Plain.two)), kind("enumeration of numbers", Field(value: Number.low)),
      kind(
        "enumeration with payloads",
        [Payload.bare, .unlabelled(1, "x"), .labelled(x: 0.5, y: [1]), .nested(.nested(.bare))]),
      kind("payload with a missing value", Payload.labelled(x: 0, y: [1, nil])),
      kind("optionals", Optionals(some: 1, none: nil, list: [1], double: [2])),
      kind("missing values in lists", Optionals(some: nil, none: nil, list: [1, nil], double: [])),
      kind("optional of an optional", Field(value: Int??.some(.some(1)))),
      // `Codable` itself has one null, which is the outer optional's.
      kind("missing value inside an optional", Field(value: Int??.some(.none))) { back, _ in back.value == Int??.none },
      kind("missing value", Int?.none) { back, _ in back == nil },
      field("null by hand", NullByHand()), field("nothing written", Nothing()),
      kind("integer keys", IntegerKeys()), kind("keys that collide", CollidingKeys()), kind("odd keys", OddKeys()),
      kind("superclass in the same container", Flat()), kind("superclass in a container of its own", Apart()),
      kind("classes in a list", [Apart(), Apart()]),
      kind("twenty levels", Deep.levels(20)), kind("thirty levels of two containers", Deep.levels(30)),
      kind("an array in a generic structure", Field(value: Field(value: [Field(value: 1)]))),
    ] + (0..<6).map { kind("nested containers in order \($0)", Nested(order: $0)) }
}
