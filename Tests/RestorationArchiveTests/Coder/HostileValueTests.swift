import Foundation
import RestorationArchive
import Testing

/// Values that use the protocols of `Codable` in ways that nobody expects of them.
struct HostileValueTests {
  private enum Keys: String, CodingKey { case a, b, c }

  private struct Writing: Encodable {
    var body: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try body(encoder) }
  }

  /// Encodes with our coder and with JSON, and reads both as a dictionary.
  private func expectSame(_ value: some Encodable, _ comment: Comment) throws {
    let ours = try ArchiveDecoder().decode([String: Int].self, from: ArchiveEncoder().encode(value))
    let json = try JSONDecoder().decode([String: Int].self, from: JSONEncoder().encode(value))
    #expect(ours == json, comment)
  }

  // MARK: Keys of every small shape

  private struct Byte: CodingKey {
    var byte: UInt8
    init(_ byte: UInt8) { self.byte = byte }
    init?(stringValue: String) { self.init(UInt8(stringValue) ?? 0) }
    init?(intValue: Int) { self.init(UInt8(intValue)) }
    var stringValue: String { "\(byte)" }
    var intValue: Int? { nil }
  }

  private enum Flag: CodingKey {
    case yes(Bool), maybe
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
    var intValue: Int? { nil }
    var stringValue: String {
      switch self {
      case .yes(let isSure): isSure ? "surely" : "yes"
      case .maybe: "maybe"
      }
    }
  }

  private enum Wide: CodingKey {
    case number(Int16), none
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
    var intValue: Int? { nil }
    var stringValue: String {
      switch self {
      case .number(let number): "\(number)"
      case .none: "none"
      }
    }
  }

  private enum Single: CodingKey { case only }

  @Test func `keys that are a byte, a flag or nothing at all have the names that they say`() throws {
    func writing<Key: CodingKey>(_ keys: [Key]) -> Writing {
      Writing { encoder in
        var container = encoder.container(keyedBy: Key.self)
        for (index, key) in keys.enumerated() { try container.encode(index, forKey: key) }
      }
    }
    try expectSame(writing((0...255).map { Byte($0) }), "bytes")
    try expectSame(writing([Flag.yes(true), .maybe, .yes(false)]), "flags")
    try expectSame(writing((0..<300).map { Wide.number($0) } + [.none]), "two bytes and more")
    try expectSame(writing([Single.only]), "no byte")
  }

  // MARK: Super encoders

  @Test func `super encoders without end are refused`() throws {
    func descend(_ encoder: any Encoder, _ left: Int) throws {
      guard left > 0 else { return try 1.encode(to: encoder) }
      var container = encoder.container(keyedBy: Keys.self)
      try descend(left.isMultiple(of: 2) ? container.superEncoder() : container.superEncoder(forKey: .a), left - 1)
    }
    var encoder = ArchiveEncoder()
    encoder.depthLimit = .max
    _ = try encoder.encode(Writing { try descend($0, 500) })
    #expect(throws: EncodingError.self) { try encoder.encode(Writing { try descend($0, 2_000) }) }
    #expect(try encoder.encode([1]) == ArchiveEncoder().encode([1]))
  }

  @Test func `a super encoder without a value is what it is for JSON`() throws {
    let value = Writing { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      _ = container.superEncoder(forKey: .a)
      try container.encode(["x": 1], forKey: .b)
    }
    let ours = try ArchiveDecoder().decode([String: [String: Int]].self, from: ArchiveEncoder().encode(value))
    #expect(ours == ["a": [:], "b": ["x": 1]])
    #expect(try JSONDecoder().decode([String: [String: Int]].self, from: JSONEncoder().encode(value)) == ours)
  }

  @Test func `a super encoder that is used after its owner's value ends the encoding`() throws {
    #expect(throws: EncodingError.self) {
      var kept: (any Encoder)?
      return try ArchiveEncoder().encode([
        Writing { encoder in
          var container = encoder.container(keyedBy: Keys.self)
          kept = container.superEncoder()
        },
        Writing { encoder in
          try kept.map { try 1.encode(to: $0) }
          try 2.encode(to: encoder)
        },
      ])
    }
  }

  // MARK: Coders inside coders, and from several tasks

  /// A tree whose nodes are encoded alone, by coders of their own, inside each other.
  private struct Boxed: Codable, Equatable {
    var number: Int
    var children: [Boxed]

    init(_ number: Int, depth: Int) {
      self.number = number
      children = depth == 0 ? [] : (0..<2).map { Boxed(2 * number + $0, depth: depth - 1) }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      number = try container.decode(Int.self, forKey: .a)
      children = try ArchiveDecoder().decode([Boxed].self, from: container.decode(Data.self, forKey: .b))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(ArchiveEncoder().encode(children), forKey: .b)
      try container.encode(number, forKey: .a)
    }
  }

  @Test func `one coder serves many tasks at once, also inside itself`() async throws {
    let encoder = ArchiveEncoder()
    let decoder = ArchiveDecoder()
    let expected = try (0..<8).map { try encoder.encode(Boxed($0, depth: 4)) }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<64 {
        group.addTask {
          let value = Boxed(task % 8, depth: 4)
          let data = try encoder.encode(value)
          return try data == expected[task % 8] && decoder.decode(Boxed.self, from: data) == value
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }
}
