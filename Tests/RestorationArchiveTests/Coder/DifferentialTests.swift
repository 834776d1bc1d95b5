import Foundation
import RestorationArchive
import SeededRandom
import TestTraits
import Testing

/// The same values through this coder, JSON and property lists.
struct DifferentialTests {
  /// Several thousand values in all.
  static let rounds = 40

  private func compare<T: Generated>(_ type: T.Type, seed: UInt64, propertyLists: Bool = true) throws {
    var random = SplitMix64(seed: seed)
    let encoder = ArchiveEncoder()
    let decoder = ArchiveDecoder()
    for round in 0..<Self.rounds {
      let value = [T.make(&random)]
      let data = try encoder.encode(value)
      let back = try decoder.decode([T].self, from: data)
      try #require(back == value, "seed \(seed), round \(round), \(type)")
      try #require(try encoder.encode(back) == data, "seed \(seed), round \(round), \(type): other bytes")
      try #require(try JSONDecoder().decode([T].self, from: JSONEncoder().encode(value)) == back)
      if propertyLists {
        try #require(try PropertyListDecoder().decode([T].self, from: PropertyListEncoder().encode(value)) == back)
      }
      // A prefix of the bytes is never taken for a value.
      if round == 0 && data.count < 1000 {
        for count in 0..<data.count {
          #expect(throws: (any Error).self) { try decoder.decode([T].self, from: data.prefix(count)) }
        }
      }
    }
  }

  @Test(arguments: [1, UInt64(Date().timeIntervalSinceReferenceDate)])
  func `numbers and Booleans come back as from Foundation`(seed: UInt64) throws {
    print("seed \(seed)")
    try compare(Int.self, seed: seed)
    try compare(Int8.self, seed: seed)
    try compare(Int16.self, seed: seed)
    try compare(Int32.self, seed: seed)
    try compare(Int64.self, seed: seed)
    try compare(UInt.self, seed: seed)
    try compare(UInt8.self, seed: seed)
    try compare(UInt16.self, seed: seed)
    try compare(UInt32.self, seed: seed)
    try compare(UInt64.self, seed: seed)
    try compare(Bool.self, seed: seed)
    try compare(Double.self, seed: seed)
    try compare(Float.self, seed: seed)
    try compare(Level.self, seed: seed)
  }

  @Test(arguments: [2, UInt64(Date().timeIntervalSinceReferenceDate)])
  func `texts, bytes and Foundation's values come back as from Foundation`(seed: UInt64) throws {
    print("seed \(seed)")
    try compare(String.self, seed: seed)
    try compare(Colour.self, seed: seed)
    try compare(Data.self, seed: seed)
    try compare(Date.self, seed: seed)
    try compare(UUID.self, seed: seed)
    try compare(Box<URL>.self, seed: seed)
    try compare(Decimal.self, seed: seed)
  }

  @Test(
    .notUnderAddressSanitizer("the same code, thousands of times"),
    arguments: [3, UInt64(Date().timeIntervalSinceReferenceDate)])
  func `collections come back as from Foundation`(seed: UInt64) throws {
    print("seed \(seed)")
    try compare([Int].self, seed: seed)
    try compare([UInt8].self, seed: seed)
    try compare([Int64].self, seed: seed)
    try compare([Double].self, seed: seed)
    try compare([String].self, seed: seed)
    try compare([Bool].self, seed: seed)
    try compare([Date].self, seed: seed)
    try compare([[Point]].self, seed: seed)
    try compare([Int?].self, seed: seed, propertyLists: false)
    try compare(Set<Int>.self, seed: seed)
    try compare(Set<String>.self, seed: seed)
    try compare(Set<Point>.self, seed: seed)
    try compare([String: Int].self, seed: seed)
    try compare([String: String].self, seed: seed)
    try compare([String: [String: Point]].self, seed: seed)
    try compare([Int: String].self, seed: seed)
    try compare([Colour: Int].self, seed: seed)
    try compare([Point: [UInt8]].self, seed: seed)
    try compare([UUID: Set<Colour>].self, seed: seed)
  }

  @Test(arguments: [4, UInt64(Date().timeIntervalSinceReferenceDate)])
  func `structures come back as from Foundation`(seed: UInt64) throws {
    print("seed \(seed)")
    try compare(Point.self, seed: seed)
    try compare(Empty.self, seed: seed)
    try compare(Wide.self, seed: seed)
    try compare(Expression.self, seed: seed)
    try compare(Tree.self, seed: seed)
    try compare(Box<Box<Colour>>.self, seed: seed)
    try compare(Box<[Wide]>.self, seed: seed)
    try compare(Transparent<Int>.self, seed: seed)
    try compare(Transparent<Transparent<String>>.self, seed: seed)
    try compare(Set<Transparent<Point>>.self, seed: seed)
  }

  /// What one coder says of a value read as another type.
  private static func outcome<T: Decodable & Equatable>(_ body: () throws -> T) -> String {
    do {
      return "\(try body())"
    } catch let error as DecodingError {
      switch error {
      case .typeMismatch(let type, let context): return "mismatch \(type) at \(names(context))"
      case .valueNotFound(let type, let context): return "no value of \(type) at \(names(context))"
      case .keyNotFound(let key, let context): return "no key \(key.stringValue) at \(names(context))"
      case .dataCorrupted(let context): return "corrupted at \(names(context))"
      @unknown default: return "unknown"
      }
    } catch { return "\(error)" }
  }

  private static func names(_ context: DecodingError.Context) -> [String] { context.codingPath.map(\.stringValue) }

  @Test func `a number that does not fit is told with its path`() throws {
    struct One: Codable, Equatable { var a: Int }
    struct Narrow: Codable, Equatable { var a: Int8 }
    let data = try ArchiveEncoder().encode(["k": One(a: 1000)])
    #expect(
      Self.outcome { try ArchiveDecoder().decode([String: Narrow].self, from: data) } == #"corrupted at ["k", "a"]"#)
  }

  @Test func `values of other types give the errors that JSON gives`() throws {
    struct One: Codable, Equatable { var a: Int, b: [String: [Int]], c: Point? }
    struct Missing: Codable, Equatable { var a: Int, b: [String: [Int]], d: Bool }
    struct Texts: Codable, Equatable { var b: [String: [String]] }
    struct Sub: Codable, Equatable { var c: [Int] }
    struct Scalar: Codable, Equatable { var b: Int }
    struct Optionals: Codable, Equatable { var a: Int?, z: Int?, b: [String: [Double]]? }
    struct Deep: Codable, Equatable { struct Inner: Codable, Equatable { var x: String }; var c: Inner }
    let value = One(a: 1000, b: ["k": [1, 2]], c: Point(x: 1, y: 2))
    let data = try ArchiveEncoder().encode(value)
    let json = try JSONEncoder().encode(value)
    func check<T: Decodable & Equatable>(_ type: T.Type) {
      #expect(
        Self.outcome { try ArchiveDecoder().decode(type, from: data) }
          == Self.outcome { try JSONDecoder().decode(type, from: json) })
    }
    check(One.self)
    check(Missing.self)
    check(Texts.self)
    check(Sub.self)
    check(Scalar.self)
    check(Optionals.self)
    check(Deep.self)
    check([Int].self)
    check(String.self)
    check(Int.self)
  }
}
