import Foundation
import RestorationArchive
import Testing

/// Nested containers, super coders, and what happens to those who misuse them.
@Suite(.serialized)  // Some of them share the closure that is decoded through.
struct ContainerTests {
  enum Keys: String, CodingKey { case a, b, c }
  enum OtherKeys: String, CodingKey { case c, d }

  /// A key made at run time.
  struct TextKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Encodes through a closure.
  private struct Writing: Encodable {
    var body: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try body(encoder) }
  }

  private func same(_ body: @escaping (any Encoder) throws -> Void) throws {
    let value = Writing(body: body)
    let mine = try ArchiveDecoder().decode(Anything.self, from: ArchiveEncoder().encode(value))
    let json = try JSONDecoder().decode(Anything.self, from: JSONEncoder().encode(value))
    #expect(String(describing: sorted(mine)) == String(describing: sorted(json)))
  }

  private func sorted(_ value: Anything) -> String {
    switch value {
    case .null: "null"
    case .leaf(let text): text
    case .list(let elements): "[" + elements.map(sorted).joined(separator: ",") + "]"
    case .keyed(let entries):
      "{" + entries.sorted { $0.key < $1.key }.map { "\($0.key):\(sorted($0.value))" }.joined(separator: ",") + "}"
    }
  }

  @Test func `nested containers and super encoders can be written in any order`() throws {
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var nested = container.nestedContainer(keyedBy: OtherKeys.self, forKey: .a)
      var list = container.nestedUnkeyedContainer(forKey: .b)
      try nested.encode(1, forKey: .c)
      try list.encode("x")
      try container.encode(2, forKey: .c)
      var inner = list.nestedContainer(keyedBy: Keys.self)
      try nested.encode("late", forKey: .d)
      try list.encode([1, 2])
      try inner.encode(Point(x: 0.5, y: 1.5), forKey: .a)
      try Point(x: 2.5, y: 3.5).encode(to: container.superEncoder())
      try 7.encode(to: list.superEncoder())
    }
  }

  @Test func `containers asked for twice and with other keys are one value`() throws {
    try same { encoder in
      var first = encoder.container(keyedBy: Keys.self)
      try first.encode(1, forKey: .a)
      var second = encoder.container(keyedBy: OtherKeys.self)
      try second.encode(2, forKey: .d)
      try first.encode(3, forKey: .b)
      try second.encode(4, forKey: .c)
    }
    try same { encoder in
      var first = encoder.unkeyedContainer()
      try first.encode(1)
      var second = encoder.unkeyedContainer()
      try second.encode(2)
      try first.encodeNil()
    }
  }

  @Test func `a nested container asked for twice with a key is one`() throws {
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var first = container.nestedContainer(keyedBy: OtherKeys.self, forKey: .a)
      try first.encode(1, forKey: .c)
      try container.encode("between", forKey: .b)
      var second = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try second.encode(2, forKey: .a)
      try first.encode(3, forKey: .d)
      try second.encode(4, forKey: .c)
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var first = container.nestedUnkeyedContainer(forKey: .a)
      try first.encode(1)
      var second = container.nestedUnkeyedContainer(forKey: .a)
      #expect(second.count == 1)
      try second.encode("x")
      try first.encode(3)
      var third = container.nestedUnkeyedContainer(forKey: .a)
      try third.encode(second.count)
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      for number in 0..<3 {
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
        var list = nested.nestedUnkeyedContainer(forKey: .b)
        try list.encode(number)
        _ = container.nestedContainer(keyedBy: Keys.self, forKey: .c)
      }
    }
  }

  @Test func `a nested container is the same one in whichever container of its owner it is asked for`() throws {
    try same { encoder in
      var first = encoder.container(keyedBy: Keys.self)
      var nested = first.nestedContainer(keyedBy: Keys.self, forKey: .c)
      try nested.encode(1, forKey: .a)
      var second = encoder.container(keyedBy: OtherKeys.self)
      nested = second.nestedContainer(keyedBy: Keys.self, forKey: .c)
      try nested.encode(2, forKey: .b)
      var third = encoder.container(keyedBy: TextKey.self)
      nested = third.nestedContainer(keyedBy: Keys.self, forKey: TextKey(stringValue: "c"))
      try nested.encode(3, forKey: .c)
    }
  }

  @Test(arguments: [2, 3, 300, 3_000])
  func `nested containers are found again among many, also of keys that are made at run time`(count: Int) throws {
    try same { encoder in
      var container = encoder.container(keyedBy: TextKey.self)
      for number in 0..<2 * count {
        let key = TextKey(stringValue: "key \(number % count)")
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: key)
        try nested.encode(number, forKey: number < count ? .a : .b)
      }
    }
    try same { encoder in
      _ = encoder.container(keyedBy: Keys.self)
      // Of more fields than a shape may have.
      var container = encoder.container(keyedBy: TextKey.self)
      for number in 0..<2 * count {
        var nested = container.nestedUnkeyedContainer(forKey: TextKey(stringValue: "key \(number % count)"))
        try nested.encode(number)
      }
    }
  }

  @Test func `nested containers go on with what a super encoder wrote, and a second super encoder takes its place`()
    throws
  {
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try ["x": 1].encode(to: container.superEncoder(forKey: .a))
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try nested.encode(2, forKey: .b)
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try nested.encode(2, forKey: .b)
      try ["x": 1].encode(to: container.superEncoder(forKey: .a))
      nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try nested.encode(3, forKey: .c)
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try ["x": 1].encode(to: container.superEncoder())
      try ["y": 2].encode(to: container.superEncoder())
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try nested.encode(2, forKey: .b)
      try container.encode(["x": 1], forKey: .a)
    }
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try container.encodeIfPresent(Int?.none, forKey: .a)
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try nested.encode(2, forKey: .b)
    }
  }

  @Test func `a key encoded twice is no mistake after a value with nested containers`() throws {
    try same { encoder in
      var list = encoder.unkeyedContainer()
      for isNested in [true, false, true] {
        try list.encode(
          Writing { encoder in
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(1, forKey: TextKey(stringValue: "a"))
            guard !isNested else {
              _ = container.nestedUnkeyedContainer(forKey: TextKey(stringValue: "b"))
              return
            }
            try container.encode(2, forKey: TextKey(stringValue: "a"))
          })
      }
    }
  }

  @Test func `a nested container that cannot go on with what its key has throws, and names the key`() throws {
    func fails(_ body: @escaping (any Encoder) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
      do {
        _ = try ArchiveEncoder().encode(["v": Writing(body: body)])
        Issue.record("it was encoded", sourceLocation: sourceLocation)
      } catch let EncodingError.invalidValue(_, context) {
        #expect(context.codingPath.map(\.stringValue) == ["v", "a"], sourceLocation: sourceLocation)
      } catch {
        Issue.record(error, sourceLocation: sourceLocation)
      }
    }
    let text = TextKey(stringValue: "a")
    fails { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      _ = container.nestedUnkeyedContainer(forKey: .a)
    }
    fails { encoder in
      var container = encoder.container(keyedBy: TextKey.self)
      _ = container.nestedUnkeyedContainer(forKey: text)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: text)
    }
    fails { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(["x": 1], forKey: .a)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
    }
    fails { encoder in
      var container = encoder.container(keyedBy: TextKey.self)
      try container.encode([1, 2], forKey: text)
      _ = container.nestedUnkeyedContainer(forKey: text)
    }
    fails { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      try container.encode(1, forKey: .a)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
    }
  }

  @Test func `of a key encoded twice the last value stays`() throws {
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(1, forKey: .a)
      try container.encode("b", forKey: .b)
      try container.encode("again", forKey: .a)
      try container.encodeIfPresent(Int?.none, forKey: .b)
      try container.encodeNil(forKey: .c)
    }
  }

  @Test func `a value inside that encodes nothing is an empty object, and an error alone`() throws {
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(Writing { _ in }, forKey: .a)
      _ = container.superEncoder(forKey: .b)
    }
    #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(Writing { _ in }) }
  }

  @Test func `a failed value leaves nothing behind`() throws {
    struct Failure: Error {}
    try same { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try? container.encode(
        Writing { encoder in
          var inner = encoder.container(keyedBy: Keys.self)
          try inner.encode("lost", forKey: .a)
          _ = inner.nestedUnkeyedContainer(forKey: .b)
          throw Failure()
        }, forKey: .a)
      try container.encode(2, forKey: .b)
    }
    #expect(throws: Failure.self) { try ArchiveEncoder().encode(["a": Writing { _ in throw Failure() }]) }
  }

  @Test func `classes encode their superclass in the same or in a container of its own`() throws {
    class Base: Codable { var base = 1 }
    final class Shared: Base {
      var own = "x"
      enum CodingKeys: CodingKey { case own }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        own = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .own)
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(own, forKey: .own)
        try super.encode(to: encoder)
      }
    }
    final class Apart: Base {
      var base2 = 2
      enum CodingKeys: CodingKey { case base2 }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        base2 = try container.decode(Int.self, forKey: .base2)
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: container.superEncoder())
        try container.encode(base2, forKey: .base2)
      }
    }
    let shared = Shared()
    shared.base = 10
    shared.own = "y"
    let back = try ArchiveDecoder().decode(Shared.self, from: ArchiveEncoder().encode(shared))
    #expect(back.base == 10 && back.own == "y")
    let apart = Apart()
    apart.base = 20
    apart.base2 = 30
    let second = try ArchiveDecoder().decode([Apart].self, from: ArchiveEncoder().encode([apart, apart]))
    #expect(second[1].base == 20 && second[1].base2 == 30)
  }

  @Test func `misuse throws and harms nobody`() throws {
    func fails(_ body: @escaping (any Encoder) throws -> Void) {
      #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(["v": Writing(body: body)]) }
    }
    fails { encoder in
      var container = encoder.singleValueContainer()
      try container.encode(1)
      try container.encode(2)
    }
    fails { encoder in
      _ = encoder.container(keyedBy: Keys.self)
      var container = encoder.unkeyedContainer()
      try? container.encode(1)
    }
    fails { encoder in
      _ = encoder.unkeyedContainer()
      var container = encoder.container(keyedBy: Keys.self)
      try? container.encode(1, forKey: .a)
    }
    fails { encoder in
      var outer = encoder.container(keyedBy: Keys.self)
      let captured = outer
      try outer.encode(
        Writing { _ in
          var late = captured
          try late.encode(1, forKey: .b)
        }, forKey: .a)
    }
  }

  @Test func `containers kept after their value throw, also when others took their place`() throws {
    var keyed: [KeyedEncodingContainer<Keys>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []
    var encoders: [any Encoder] = []
    for round in 0..<3 {
      let data = try ArchiveEncoder().encode(
        (0..<3).map { _ in
          Writing { encoder in
            encoders.append(encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(round, forKey: .a)
            keyed.append(container)
            unkeyed.append(container.nestedUnkeyedContainer(forKey: .b))
          }
        })
      #expect(try ArchiveDecoder().decode([Anything].self, from: data).count == 3)
      for index in keyed.indices {
        #expect(throws: EncodingError.self) { try keyed[index].encode(1, forKey: .a) }
        #expect(throws: EncodingError.self) { try keyed[index].encode([1], forKey: .a) }
        #expect(throws: EncodingError.self) { try unkeyed[index].encode("x") }
        _ = keyed[index].nestedContainer(keyedBy: Keys.self, forKey: .c)
        _ = encoders[index].container(keyedBy: OtherKeys.self)
        _ = encoders[index].codingPath
      }
    }
  }

  @Test func `a second container kept after its value throws, also while the next value is written or read`() throws {
    var kept: [KeyedEncodingContainer<OtherKeys>] = []
    for round in 0..<3 {
      let writing = Writing { encoder in
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(round, forKey: .a)
        for index in kept.indices { #expect(throws: EncodingError.self) { try kept[index].encode(99, forKey: .d) } }
        kept.append(encoder.container(keyedBy: OtherKeys.self))
      }
      let data = try ArchiveEncoder().encode(writing)
      #expect(try ArchiveDecoder().decode([String: Int].self, from: data) == ["a": round])
    }
    var read: [KeyedDecodingContainer<OtherKeys>] = []
    unsafe Reading.body = { decoder in
      let container = try decoder.container(keyedBy: Keys.self)
      for other in read { #expect(throws: DecodingError.self) { try other.decode(Int.self, forKey: .d) } }
      #expect(try container.decode(Int.self, forKey: .a) == 1)
      let second = try decoder.container(keyedBy: OtherKeys.self)
      #expect(try second.decode(Int.self, forKey: .d) == 2)
      read.append(second)
    }
    let values = try ArchiveEncoder().encode(Array(repeating: ["a": 1, "d": 2], count: 3))
    _ = try ArchiveDecoder().decode([Reading].self, from: values)
    #expect(read.count == 3)
  }

  private struct Reading: Decodable {
    nonisolated(unsafe) static var body: (any Decoder) throws -> Void = { _ in }
    init(from decoder: any Decoder) throws { unsafe try Self.body(decoder) }
  }

  @Test func `decoders and containers kept after their value throw`() throws {
    let data = try ArchiveEncoder().encode(["v": ["a": ["x": 1], "b": ["x": 2]]])
    var decoders: [any Decoder] = []
    var keyed: [KeyedDecodingContainer<Keys>] = []
    unsafe Reading.body = { decoder in
      let container = try decoder.container(keyedBy: Keys.self)
      keyed.append(container)
      keyed.append(try container.nestedContainer(keyedBy: Keys.self, forKey: .b))
      decoders.append(decoder)
      decoders.append(try container.superDecoder(forKey: .a))
      #expect(try container.decode([String: Int].self, forKey: .b) == ["x": 2])
    }
    for _ in 0..<3 { _ = try ArchiveDecoder().decode([String: Reading].self, from: data) }
    for container in keyed {
      #expect(throws: DecodingError.self) { try container.decode(Int.self, forKey: .a) }
      #expect(!container.contains(.a))
      #expect(container.allKeys.isEmpty)
    }
    for decoder in decoders { #expect(throws: DecodingError.self) { try decoder.container(keyedBy: Keys.self) } }
  }

  @Test func `user information and coding paths reach the values`() throws {
    let key = CodingUserInfoKey(rawValue: "k")!
    var encoder = ArchiveEncoder()
    encoder.userInfo[key] = 5
    var paths: [[String]] = []
    let value = [
      "outer": [
        Writing { encoder in
          #expect(encoder.userInfo[key] as? Int == 5)
          paths.append(encoder.codingPath.map(\.stringValue))
          var container = encoder.container(keyedBy: Keys.self)
          paths.append(container.codingPath.map(\.stringValue))
          var nested = container.nestedUnkeyedContainer(forKey: .b)
          try nested.encode(1)
          try nested.encode(
            Writing { encoder in
              paths.append(encoder.codingPath.map(\.stringValue))
              try 1.encode(to: encoder)
            })
        }
      ]
    ]
    _ = try encoder.encode(value)
    #expect(paths == [["outer", "Index 0"], ["outer", "Index 0"], ["outer", "Index 0", "b", "Index 1"]])
  }

  @Test func `errors inside nested containers and super decoders have the path that JSON gives them`() throws {
    let value = Writing { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var list = container.nestedUnkeyedContainer(forKey: .a)
      try list.encode("x")
      var inner = list.nestedContainer(keyedBy: Keys.self)
      try inner.encode(300, forKey: .b)
      try ["c": "y"].encode(to: container.superEncoder())
      try container.encodeNil(forKey: .c)
    }
    let (ours, json) = (try ArchiveEncoder().encode([value]), try JSONEncoder().encode([value]))
    let readings: [(any Decoder) throws -> Void] = [
      { _ = try $0.container(keyedBy: Keys.self).nestedContainer(keyedBy: Keys.self, forKey: .a) },
      { _ = try $0.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .b) },
      { _ = try $0.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .c) },
      { _ = try $0.container(keyedBy: Keys.self).decode(Int.self, forKey: .c) },
      { _ = try $0.unkeyedContainer() },
      { _ = try $0.singleValueContainer().decode(Int.self) },
      { decoder in
        var list = try decoder.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .a)
        _ = try list.decode(Int.self)
      },
      { decoder in
        var list = try decoder.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .a)
        _ = try list.decode(String.self)
        _ = try list.nestedContainer(keyedBy: Keys.self).decode(Int8.self, forKey: .b)
      },
      { decoder in
        var list = try decoder.container(keyedBy: Keys.self).nestedUnkeyedContainer(forKey: .a)
        while true { _ = try list.superDecoder() }
      },
      { decoder in
        let part = try decoder.container(keyedBy: Keys.self).superDecoder()
        _ = try part.container(keyedBy: Keys.self).decode(Int.self, forKey: .c)
      },
      { decoder in
        let part = try decoder.container(keyedBy: Keys.self).superDecoder()
        _ = try part.container(keyedBy: Keys.self).decode(Int.self, forKey: .a)
      },
    ]
    func path(_ body: () throws -> [Reading]) -> [String]? {
      do {
        _ = try body()
        return nil
      } catch let error as DecodingError {
        let context =
          switch error {
          case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
          @unknown default: DecodingError.Context(codingPath: [], debugDescription: "")
          }
        return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      } catch { return ["\(error)"] }
    }
    for (number, reading) in readings.enumerated() {
      unsafe Reading.body = reading
      let mine = path { try ArchiveDecoder().decode([Reading].self, from: ours) }
      let theirs = path { try JSONDecoder().decode([Reading].self, from: json) }
      // JSON gives no path, or not all of it, for a number that does not fit.
      let isUnfit = mine == ["0", "a", "1", "b"] && mine?.starts(with: theirs ?? []) == true
      #expect(mine != nil && (mine == theirs || isUnfit), "reading \(number): \(mine ?? []), \(theirs ?? [])")
    }
  }
}
