import Foundation
import RestorationArchive
import Testing

/// The corners of `Codable`, as Foundation's own tests visit them.
struct ArchiveCoderTests {
  private func roundTrip<T: Codable>(_ value: T) throws -> T {
    try ArchiveDecoder().decode(T.self, from: ArchiveEncoder().encode(value))
  }

  @Test func `every bit pattern of floating-point numbers comes back`() throws {
    let doubles: [UInt64] = [
      0, 1 << 63, 0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001,
      0xFFFF_FFFF_FFFF_FFFF, 1,
    ]
    for bits in doubles {
      #expect(try roundTrip(Double(bitPattern: bits)).bitPattern == bits)
      #expect(try roundTrip([Double(bitPattern: bits)])[0].bitPattern == bits)
      #expect(try roundTrip(["a": Double(bitPattern: bits)])["a"]?.bitPattern == bits)
    }
    for bits: UInt32 in [0, 1 << 31, 0x7FC0_0001, 0x7F80_0001, 0xFFFF_FFFF] {
      #expect(try roundTrip(Float(bitPattern: bits)).bitPattern == bits)
    }
    for bits: UInt16 in [0, 1 << 15, 0x7E01, 0x7C01, 0xFFFF] {
      #expect(try roundTrip([Float16(bitPattern: bits)])[0].bitPattern == bits)
    }
  }

  @Test func `integers of every width come back, and as any type that holds them`() throws {
    #expect(try roundTrip([Int128.min, .max, 0, -1]) == [.min, .max, 0, -1])
    #expect(try roundTrip([UInt128.min, .max, 1 << 64]) == [.min, .max, 1 << 64])
    let edges: [Int128] = [
      0, 119, 120, -120, -121, 127, 128, 255, 256, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 1 << 63,
    ]
    for edge in edges {
      let data = try ArchiveEncoder().encode(edge)
      func check<T: FixedWidthInteger & Codable>(_ type: T.Type) throws {
        if let expected = T(exactly: edge) {
          #expect(try ArchiveDecoder().decode(T.self, from: data) == expected)
          #expect(try ArchiveEncoder().encode(expected) == data)
        } else {
          #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(T.self, from: data) }
        }
      }
      try check(Int8.self)
      try check(UInt8.self)
      try check(Int16.self)
      try check(UInt16.self)
      try check(Int32.self)
      try check(UInt32.self)
      try check(Int64.self)
      try check(UInt64.self)
      try check(UInt128.self)
    }
    #expect(try ArchiveDecoder().decode(Double.self, from: ArchiveEncoder().encode(3)) == 3)
    #expect(try ArchiveDecoder().decode(Int.self, from: ArchiveEncoder().encode(3.0)) == 3)
    #expect(try ArchiveDecoder().decode([Float].self, from: ArchiveEncoder().encode([1, 300])) == [1, 300])
  }

  @Test func `empty things come back`() throws {
    #expect(try roundTrip([Int]()) == [])
    #expect(try roundTrip([String: Int]()) == [:])
    #expect(try roundTrip(Set<String>()) == [])
    #expect(try roundTrip("") == "")
    #expect(try roundTrip(Data()) == Data())
    #expect(try roundTrip([[Int]()]) == [[]])
    #expect(try roundTrip(Empty()) == Empty())
    #expect(try roundTrip(Int?.none) == nil)
    #expect(try roundTrip([Int?.none, 1]) == [nil, 1])
    #expect(try roundTrip(["a": Int?.none]) == ["a": nil])
    #expect(try roundTrip("a\0b") == "a\0b")
    #expect(try roundTrip(1..<5) == 1..<5)
    #expect(try roundTrip("a"..."c") == "a"..."c")
    let relative = URL(string: "b/c", relativeTo: URL(string: "https://example.com/a/"))
    #expect(try roundTrip([relative]) == [relative])
  }

  @Test func `the same value has the same bytes, whatever order a hash table has`() throws {
    let names = (0..<50).map { "name \($0)" }
    var reference: Data?
    for shift in 0..<20 {
      let order = Array(names[shift...] + names[..<shift])
      var dictionary: [String: [Point: Set<Int>]] = [:]
      for name in order { dictionary[name] = [Point(x: 1, y: 2): [1, 2, 3], Point(x: 3, y: 4): [200, 300]] }
      dictionary.reserveCapacity(shift * 100)
      let data = try ArchiveEncoder().encode(dictionary)
      #expect(reference == nil || reference == data)
      reference = data
      #expect(try roundTrip(dictionary) == dictionary)
    }
  }

  @Test(arguments: [0, 1, 2, 23, 24, 25, 100, 5_000])
  func `keys stand in the order of their bytes, however many there are`(count: Int) throws {
    // All of them begin with the same eight bytes, and some are the beginnings of others.
    let keys = (0..<count).map { "the same \($0 * 7_919 % 10_007)" }
    var forwards: [String: Int] = [:]
    var backwards: [String: Int] = Dictionary(minimumCapacity: 4 * count)
    for (index, key) in keys.enumerated() { forwards[key] = index }
    for (index, key) in keys.enumerated().reversed() { backwards[key] = index }
    let bytes = try ArchiveEncoder().encode(forwards)
    #expect(try ArchiveEncoder().encode(backwards) == bytes)
    #expect(try ArchiveDecoder().decode([String: Int].self, from: bytes) == forwards)
    var place = bytes.startIndex
    for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let found = try #require(bytes[place...].firstRange(of: Data(key.utf8)), "\(key) comes before its turn")
      place = found.upperBound
    }
    let texts = forwards.mapValues(String.init)
    #expect(try ArchiveDecoder().decode([String: String].self, from: ArchiveEncoder().encode(texts)) == texts)
    let set = Set(keys)
    #expect(try ArchiveDecoder().decode(Set<String>.self, from: ArchiveEncoder().encode(set)) == set)
  }

  @Test func `values of several kinds in turn are each read with their own tables`() throws {
    struct Short: Codable, Equatable { var first = 1, second = "two" }
    struct Other: Codable, Equatable { var first = 1, third = "three" }
    struct Long: Codable, Equatable { var first = 1, second = "two", third = 3.5 }
    struct Swapped: Codable, Equatable { var second = "two", first = 1 }
    let short = try ArchiveEncoder().encode(Short())
    let other = try ArchiveEncoder().encode(Other())
    let long = try ArchiveEncoder().encode(Long())
    let swapped = try ArchiveEncoder().encode(Swapped())
    for _ in 0..<3 {
      #expect(try ArchiveDecoder().decode(Short.self, from: short) == Short())
      #expect(try ArchiveDecoder().decode(Short.self, from: short) == Short())
      // Its tables end in the middle.
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Short.self, from: short.prefix(9)) }
      #expect(try ArchiveDecoder().decode(Other.self, from: other) == Other())
      #expect(try ArchiveDecoder().decode(Long.self, from: long) == Long())
      #expect(try ArchiveDecoder().decode(Short.self, from: long) == Short())
      #expect(try ArchiveDecoder().decode(Short.self, from: swapped) == Short())
      #expect(try ArchiveDecoder().decode(Swapped.self, from: short) == Swapped())
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Long.self, from: short) }
    }
  }

  @Test func `fields can be added, removed, reordered and become optional`() throws {
    struct Old: Codable { var a = 1, b = "two", c = [3.0], d = Point(x: 4, y: 5) }
    struct New: Codable { var d: Point, e: Int?, c: [Double]?, a: Int }
    let data = try ArchiveEncoder().encode([Old(), Old()])
    let back = try ArchiveDecoder().decode([New].self, from: data)
    #expect(back.count == 2)
    for new in back {
      #expect(new.d == Point(x: 4, y: 5))
      #expect(new.e == nil)
      #expect(new.c == [3])
      #expect(new.a == 1)
    }
  }

  @Test func `what is known of one type's fields is never taken for another's`() throws {
    // The decoder remembers where a type's fields are in a table of 256 places, by a hash of addresses. Of so many
    // types some fall on the place of the type that they are inside of, whatever the addresses.
    struct Inner<Tag>: Codable, Equatable { var one = "one", two = "two", three = "three" }
    struct Short<Tag>: Codable { var part = Inner<Tag>() }
    struct Old<Tag>: Codable { var text = "text", part = Inner<Tag>(), number = 7 }
    struct New<Tag>: Codable { var part: Inner<Tag>, number: Int, text: String, missing: String? }
    struct Longer<Tag>: Codable { var part: Inner<Tag>, missing: String?, other: String? }
    enum Zero<Rest> {}
    enum One<Rest> {}
    func check<Tag>(_: Tag.Type) throws {
      let new = try ArchiveDecoder().decode(New<Tag>.self, from: ArchiveEncoder().encode(Old<Tag>()))
      #expect(new.part == Inner())
      #expect(new.number == 7)
      #expect(new.text == "text")
      #expect(new.missing == nil)
      let longer = try ArchiveDecoder().decode(Longer<Tag>.self, from: ArchiveEncoder().encode(Short<Tag>()))
      #expect(longer.part == Inner())
      #expect(longer.missing == nil)
      #expect(longer.other == nil)
    }
    func visit<Tag>(_ tag: Tag.Type, bits: Int) throws {
      if bits == 0 { return try check(tag) }
      try visit(Zero<Tag>.self, bits: bits - 1)
      try visit(One<Tag>.self, bits: bits - 1)
    }
    try visit(Never.self, bits: 11)
  }

  @Test func `more fields and more shapes than the tables take become maps`() throws {
    struct Sparse: Codable, Equatable {
      var values: [Int: Int]
      enum Keys: String, CodingKey { case a, b, c, d, e, f, g, h }
      static let all: [Keys] = [.a, .b, .c, .d, .e, .f, .g, .h]
      init(values: [Int: Int]) { self.values = values }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        values = [:]
        for key in container.allKeys {
          values[Self.all.firstIndex(of: key)!] = try container.decode(Int.self, forKey: key)
        }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        for index in 0..<8 { if let value = values[index] { try container.encode(value, forKey: Self.all[index]) } }
      }
    }
    let all = (0..<256).map { bits in
      Sparse(values: Dictionary(uniqueKeysWithValues: (0..<8).filter { bits >> $0 & 1 == 1 }.map { ($0, $0) }))
    }
    #expect(try roundTrip(all) == all)
    struct Many: Codable, Equatable {
      struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
      }
      var count: Int
      init(count: Int) { self.count = count }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        count = container.allKeys.count
        for index in (0..<count).reversed() {
          guard try container.decode(Int.self, forKey: Key(stringValue: "k\(index)")) == index else {
            count = -1; return
          }
        }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for index in 0..<count { try container.encode(index, forKey: Key(stringValue: "k\(index)")) }
      }
    }
    #expect(try roundTrip([Many(count: 1000), Many(count: 3)]) == [Many(count: 1000), Many(count: 3)])
  }

  @Test func `values nested too deep are refused when encoding too`() throws {
    final class Node: Codable {
      var next: Node?
      init(_ depth: Int) { next = depth > 1 ? Node(depth - 1) : nil }
    }
    _ = try roundTrip(Node(127))
    #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(Node(130)) }
    var deep = ArchiveEncoder()
    deep.depthLimit = 500
    let data = try deep.encode(Node(400))
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Node.self, from: data) }
    var decoder = ArchiveDecoder()
    decoder.depthLimit = 500
    _ = try decoder.decode(Node.self, from: data)
    let cycle = Node(1)
    cycle.next = cycle
    defer { cycle.next = nil }
    #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(cycle) }
  }

  @Test func `what encodes decodes, at every limit of depth`() throws {
    struct Tree: Codable, Equatable {
      var next: [Tree] = []
      var numbers = [1], halves = [0.5], floats: [Float] = [1], flags = [true], texts = ["a"], days = [Date.distantPast]
      var set: Set = [1], byText: [String: Float] = ["a": 1], byNumber = [1: 2], pairs = [Date.distantPast: 1]
    }
    struct Other: Codable, Equatable { var next: [Other] }
    func tree(_ depth: Int) -> Tree { Tree(next: depth > 1 ? [tree(depth - 1)] : []) }
    func encoded(_ value: some Encodable, depthLimit: Int) -> Data? {
      var encoder = ArchiveEncoder()
      encoder.depthLimit = depthLimit
      return try? encoder.encode(value)
    }
    for limit in 0..<8 {
      var decoder = ArchiveDecoder()
      decoder.depthLimit = limit
      for depth in 1...4 {
        let data = encoded(tree(depth), depthLimit: limit)
        #expect((data != nil) == (2 * depth <= limit))
        guard let data else { continue }
        #expect(try decoder.decode(Tree.self, from: data) == tree(depth))
        _ = try decoder.decode(Other.self, from: data)
      }
      // Whatever lies at the limit, a reader that passes over it counts as the writer did.
      let values: [any Codable] = [
        [1], [0.5], [Float(1)], ["a"], [true], Set([1]), ["a": 1], ["a": Float(1)], [[1]], [1: 1],
      ]
      for value in values {
        guard let data = encoded(["value": [value].map(Erased.init)], depthLimit: limit) else { continue }
        #expect(throws: Never.self, "\(value) at \(limit)") { try decoder.decode([String: [Skipped]].self, from: data) }
      }
    }
  }

  @Test func `what was too deep leaves nothing behind`() throws {
    struct Deep: Codable, Equatable {
      var text = "xyz"
      init() {}
      init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        for value in [["abc", "def"], ["a": "b"], Set(["c"])] as [any Encodable] {
          #expect(throws: EncodingError.self) { try container.encode(value) }
        }
        try container.encode(text)
      }
    }
    var encoder = ArchiveEncoder()
    encoder.depthLimit = 2
    #expect(try ArchiveDecoder().decode([Deep].self, from: encoder.encode([Deep(), Deep()])) == [Deep(), Deep()])
  }

  private struct Erased: Encodable {
    let value: any Codable
    init(_ value: any Codable) { self.value = value }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ContainerTests.Keys.self)
      try container.encode(value, forKey: .a)
    }
  }

  private struct Skipped: Decodable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: ContainerTests.Keys.self)
      #expect(try container.decodeIfPresent(Int.self, forKey: .b) == nil)
    }
  }

  @Test func `keys whose spelling is merely equivalent are two, and each is found by the other if it is alone`() throws
  {
    struct Composed: Codable, Equatable {
      var value = 1
      enum CodingKeys: String, CodingKey { case value = "h\u{f6}he" }
    }
    struct Decomposed: Codable, Equatable {
      var value = 2
      enum CodingKeys: String, CodingKey { case value = "ho\u{308}he" }
    }
    struct Both: Codable, Equatable {
      var composed = 3, decomposed = 4
      enum CodingKeys: String, CodingKey { case composed = "h\u{f6}he", decomposed = "ho\u{308}he" }
    }
    struct Maps: Codable, Equatable { var composed = ["h\u{f6}he": 5], decomposed = ["ho\u{308}he": 6] }
    let alone = try ArchiveEncoder().encode(Composed())
    let other = try ArchiveEncoder().encode(Decomposed())
    #expect(alone.count + 1 == other.count)
    #expect(try ArchiveEncoder().encode(Composed()) == alone)
    #expect(try ArchiveDecoder().decode(Composed.self, from: alone) == Composed())
    #expect(try ArchiveDecoder().decode(Decomposed.self, from: other) == Decomposed())
    #expect(try roundTrip(Both()) == Both())
    #expect(try roundTrip([Maps(), Maps()]) == [Maps(), Maps()])
    // An editor has saved the source anew: what Foundation's coders find is found.
    #expect(try ArchiveDecoder().decode(Decomposed.self, from: alone).value == 1)
    #expect(try ArchiveDecoder().decode(Composed.self, from: other).value == 2)
    for count in [1, 20] {
      let pairs = (0..<count).map { ("h\u{f6}he \($0)", $0) }
      let map = try ArchiveEncoder().encode(Dictionary(uniqueKeysWithValues: pairs))
      let found = try ArchiveDecoder().decode(Searched.self, from: map)
      #expect(found.value == count - 1)
    }
  }

  @Test func `a dictionary of which two keys have one text is refused`() throws {
    struct Number: Hashable, Codable, CodingKeyRepresentable {
      var value: Int
      init(_ value: Int) { self.value = value }
      init?(codingKey: some CodingKey) { nil }
      var codingKey: any CodingKey { ContainerTests.TextKey(stringValue: "\(value / 10)") }
    }
    _ = try ArchiveEncoder().encode([Number(1): 1, Number(10): 2])
    #expect(throws: EncodingError.self) { try ArchiveEncoder().encode([Number(1): 1, Number(2): 2]) }
  }

  /// Looks for the last of some keys in another spelling.
  private struct Searched: Decodable {
    let value: Int
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: ContainerTests.TextKey.self)
      let last = container.allKeys.count - 1
      value = try container.decode(Int.self, forKey: .init(stringValue: "ho\u{308}he \(last)"))
    }
  }
}
