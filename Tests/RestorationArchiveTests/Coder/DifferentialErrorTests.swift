import Foundation
import RestorationArchive
import SeededRandom
import Testing

/// Generated values read as other types than theirs: this coder's errors, their kinds and their paths are JSON's.
struct DifferentialErrorTests {
  /// What a coder says of a value: nothing wrong, or what and where.
  private struct Outcome: Equatable {
    var problem: String?
    var path: [String] = []
  }

  private static func outcome<T: Decodable>(_ body: () throws -> T) -> Outcome {
    func outcome(_ problem: String, _ context: DecodingError.Context) -> Outcome {
      Outcome(problem: problem, path: context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue })
    }
    do {
      _ = try body()
      return Outcome()
    } catch let error as DecodingError {
      return switch error {
      case .typeMismatch(_, let context): outcome("another type", context)
      case .valueNotFound(_, let context): outcome("no value", context)
      case .keyNotFound(let key, let context): outcome("no \(key.stringValue)", context)
      case .dataCorrupted(let context): outcome("corrupted", context)
      @unknown default: Outcome(problem: "unknown")
      }
    } catch { return Outcome(problem: "\(error)") }
  }

  /// Whether two coders mean the same.
  ///
  /// JSON leaves the index out of the path of a number in a list that does not fit, and both may take the entries of a
  /// dictionary in any order: then the entry that is named is another one, at the same depth.
  private static func agree(_ mine: Outcome, _ json: Outcome, isDictionary: Bool) -> Bool {
    guard mine.problem == json.problem else { return false }
    if mine.problem == "corrupted" { return mine.path.starts(with: json.path) }
    return mine.path == json.path || isDictionary && mine.path.count == json.path.count
  }

  /// Fields that some of the generated types have too, under the same names with other types.
  struct Strict: Codable {
    var a: Int, k: Point, q: [Point]
  }
  struct Loose: Codable {
    var a: Double?, f: [String]?, k: [String: Bool]?, label: Int?, x: String?
  }
  struct Inner: Codable {
    struct Child: Codable { var label: Bool }
    var children: [Child], byName: [String: Child]
  }

  private static func readers() -> [(name: String, ours: (Data) -> Outcome, json: (Data) -> Outcome)] {
    func reader<T: Decodable>(_ type: T.Type) -> (name: String, ours: (Data) -> Outcome, json: (Data) -> Outcome) {
      (
        "\(type)", { data in outcome { try ArchiveDecoder().decode(type, from: data) } },
        { data in outcome { try JSONDecoder().decode(type, from: data) } }
      )
    }
    return [
      reader(Int.self), reader(Int8.self), reader(UInt64.self), reader(Bool.self), reader(String.self),
      reader([Int].self),
      reader([Int8].self), reader([UInt].self), reader([String].self), reader([Bool].self), reader([[Int]].self),
      reader([Int?].self), reader([String: Int].self), reader([String: [String]].self), reader([Point].self),
      reader(Point.self), reader(Empty.self), reader(Strict.self), reader([Strict].self), reader([Loose].self),
      reader([Inner].self), reader([Tree].self), reader([Expression].self), reader([Colour].self), reader([Level].self),
      reader([Box<Int>].self), reader([Box<String?>].self), reader([Transparent<Int>].self),
      reader([[String: Int8]].self),
    ]
  }

  private func compare<T: Generated>(_ type: T.Type) throws {
    var random = SplitMix64(seed: 11)
    let readers = Self.readers()
    for round in 0..<8 {
      let value = [T.make(&random)]
      let (ours, json) = (try ArchiveEncoder().encode(value), try JSONEncoder().encode(value))
      for reader in readers {
        let (mine, theirs) = (reader.ours(ours), reader.json(json))
        let isDictionary = reader.name.contains("Dictionary")
        #expect(
          Self.agree(mine, theirs, isDictionary: isDictionary),
          "\(mine), \(theirs): round \(round): [\(type)] read as \(reader.name)")
      }
    }
  }

  @Test func `scalars and texts read as something else`() throws {
    try compare(Int.self)
    try compare(Int8.self)
    try compare(UInt64.self)
    try compare(Bool.self)
    try compare(String.self)
    try compare(Colour.self)
    try compare(Level.self)
    try compare(Transparent<Int>.self)
  }

  @Test func `collections read as something else`() throws {
    try compare([Int].self)
    try compare([String].self)
    try compare([Int?].self)
    try compare([[Int]].self)
    try compare([String: Int].self)
    try compare([String: [String: Int]].self)
    try compare(Set<String>.self)
  }

  @Test func `structures and enumerations read as something else`() throws {
    try compare(Point.self)
    try compare(Empty.self)
    try compare(Expression.self)
    try compare(Tree.self)
    try compare(Box<Box<Colour>>.self)
    try compare(Box<Int?>.self)
  }
}
