import CAllocationCounter
import Foundation
import RestorationArchive
import Testing

/// What coding costs in memory and allocations, and that its time goes with the number of bytes.
///
/// Allocations are counted on the test's own thread; nothing is counted under a sanitizer.
@Suite(.enabled(if: allocation_counter_counts() != 0))
struct CoderCostTests {
  /// Fields of the kinds that controllers have, whose own allocations are known.
  struct State: Codable, Equatable, Sendable {
    // Without initial values: `init(from:)` would make those too, only to throw them away.
    struct Frame: Codable, Equatable, Sendable { var x, y, width, height: Double }
    var title: String
    var numbers: [Int]
    var recent: [String]
    var frame: Frame
    var counts: [String: Int]
    var thumbnail: Data
    var isOpen: Bool
    var date: Date?
    var note: String?

    static let sample = State(
      title: "a title that is too long for the small form", numbers: [1, 2, 3, 4, 5, 6, 7, 300],
      recent: ["the first of three long texts", "the second of three long texts", "the third of three long texts"],
      frame: Frame(x: 0.5, y: 1.0 / 3, width: 320, height: 200),
      counts: ["one": 1, "two": 2, "three": 3, "four": 4], thumbnail: Data(repeating: 7, count: 64), isOpen: true,
      date: Date(timeIntervalSinceReferenceDate: 0.25), note: nil)

    /// A text, an array, an array of three texts, a dictionary, and data that is an object with a buffer.
    static let ownAllocations = 1 + 1 + 4 + 1 + 2
    /// The state and its frame.
    static let containers = 2
  }

  private func followed(_ body: () throws -> Void) rethrows -> (count: Int, peak: Int) {
    allocation_counter_follow()
    try body()
    let count = allocation_counter_followed_count()
    return (count, allocation_counter_followed_peak())
  }

  /// Code that is not optimised allocates for closures and generic values too, so the numbers are those of a release build;
  /// `restore-bench` checks them as well, and fails.
  private static let isOptimised: Bool = {
    #if DEBUG
    false
    #else
    true
    #endif
  }()

  @Test(.enabled(if: isOptimised))
  func `encoding allocates no more than once for each keyed container`() throws {
    let states = Array(repeating: State.sample, count: 1_000)
    _ = try ArchiveEncoder().encode(states)
    let (count, _) = try followed { _ = try ArchiveEncoder().encode(states) }
    // Besides, the buffer's doublings.
    #expect(count <= State.containers * states.count + 64, "\(count) allocations")
  }

  @Test(.enabled(if: isOptimised))
  func `decoding allocates what the values need, and no more than once for each keyed container`() throws {
    let states = Array(repeating: State.sample, count: 1_000)
    let data = try ArchiveEncoder().encode(states)
    var back: [State] = try ArchiveDecoder().decode([State].self, from: data)
    let (count, _) = try followed { back = try ArchiveDecoder().decode([State].self, from: data) }
    #expect(back == states)
    #expect(
      count <= (State.ownAllocations + State.containers) * states.count + 64, "\(Double(count) / 1_000) for each")
  }

  @Test(.enabled(if: isOptimised))
  func `a record of an archive is encoded and decoded with no more than that`() throws {
    var tables = CodingTables()
    let entries = [RestorationArchive.Entry(key: "state", value: State.sample)]
    _ = try RecordEncoder().encode(entries, tables: &tables)
    var bytes: [UInt8] = []
    let encoding = try followed { bytes = try RecordEncoder().encode(entries, tables: &tables) }
    #expect(encoding.count <= 3 + 4, "\(encoding.count) allocations")
    let decoder = try RecordDecoder(Data(bytes), tables: tables.pinned())
    var state: State = try decoder.decode(State.self, forKey: "state")
    let decoding = try followed { state = try decoder.decode(State.self, forKey: "state") }
    #expect(state == State.sample)
    #expect(decoding.count <= State.ownAllocations + 3 + 4, "\(decoding.count) allocations")
  }

  // MARK: Memory

  /// A type that nests as deep as the bytes say and reserves memory on every level.
  private struct Nest: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode([Nest].self) }
  }

  /// The same, with a map in the innermost that is read in another order.
  private struct BackwardsNest: Decodable {
    init(from decoder: any Decoder) throws {
      if (try? Backwards(from: decoder)) == nil {
        _ = try decoder.singleValueContainer().decode([BackwardsNest].self)
      }
    }
  }

  /// Reads a map's keys from the last to the first, so that its entries must be found.
  private struct Backwards: Decodable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      _ = try? container.decode(Int.self, forKey: AnyKey(stringValue: "missing"))
    }
  }

  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// A number of the format, as long as it can be.
  private static func long(_ number: Int) -> [UInt8] {
    [247] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func cycled(_ bytes: [UInt8], _ times: Int) -> [UInt8] { (0..<times).flatMap { _ in bytes } }

  /// Bytes that make a decoder want memory: what they are, the type to read, the bytes.
  private static let greedy: [(name: String, bytes: [UInt8], decode: @Sendable (Data) throws -> Void)] = {
    let count = 200_000
    let head: [UInt8] = [0xAC, 0x56, 2]
    // Arrays in arrays, each of which claims to have as many elements as bytes are left.
    var nested: [UInt8] = head + [13, 0, 0]
    for _ in 0..<62 { nested += long(count) + [13] }
    nested += Array(repeating: 13, count: count)
    let map: [UInt8] = head + [12, 0, 0, 2] + long(count) + cycled([1, 97, 1], count)
    let keys: [UInt8] = head + [2] + long(count) + cycled([1, 97], count) + [0, 1]
    let shapes: [UInt8] = head + [2, 1, 1, 97] + long(count) + cycled([1, 0, 2], count) + [1]
    let texts: [UInt8] = head + [14, 0, 0, 7] + long(count) + Array(repeating: 0, count: count - 1) + [5]
    let emptyKeys: [UInt8] = head + [12, 0, 0, 2] + long(count / 2) + cycled([0, 1], count / 2)
    let fields = (0..<200).flatMap { [UInt8($0), 2] as [UInt8] }
    let claimedShapes: [UInt8] = head + [2, 200] + cycled([1, 97], 200) + long(count) + cycled([200] + fields, 520)
    let longKey = long(1_000) + Array(repeating: 97, count: 1_000)
    let claimedKeys: [UInt8] = head + [2] + long(count) + cycled(longKey, 210)
    // Arrays that claim what they may around a map that is read in another order.
    let claimed: [UInt8] =
      head + [13, 0, 0] + (0..<62).flatMap { _ in long(count) + [13] } + long(2) + [12, 2] + long(count / 2)
      + cycled([0, 1], count / 2) + [1]
    return [
      (
        "a map inside arrays that claim much", claimed,
        { _ = try ArchiveDecoder().decode(BackwardsNest.self, from: $0) }
      ),
      ("a map of empty keys", emptyKeys, { _ = try ArchiveDecoder().decode(Backwards.self, from: $0) }),
      ("fewer shapes than are claimed", claimedShapes, { _ = try ArchiveDecoder().decode(Bool.self, from: $0) }),
      ("fewer keys than are claimed", claimedKeys, { _ = try ArchiveDecoder().decode(Bool.self, from: $0) }),
      ("nested arrays", nested, { _ = try ArchiveDecoder().decode(Nest.self, from: $0) }),
      ("a map read in another order", map, { _ = try ArchiveDecoder().decode(Backwards.self, from: $0) }),
      ("many keys", keys, { _ = try ArchiveDecoder().decode(Bool.self, from: $0) }),
      ("many shapes", shapes, { _ = try ArchiveDecoder().decode(Bool.self, from: $0) }),
      ("texts that end badly", texts, { _ = try ArchiveDecoder().decode(Set<String>.self, from: $0) }),
    ]
  }()

  @Test(arguments: greedy.map(\.name))
  func `greedy bytes get four times their size and a constant`(name: String) throws {
    let sample = try #require(Self.greedy.first { $0.name == name })
    let data = Data(sample.bytes)
    _ = try? sample.decode(data.prefix(100))
    let (_, peak) = followed { _ = try? sample.decode(data) }
    // The constant is 2 KB for each level of the greatest depth of values.
    #expect(peak <= 4 * data.count + 262_144, "\(Double(peak) / Double(data.count)) times")
  }

  // MARK: Time

  /// The thread's processor time of the fastest of some passes, in nanoseconds.
  private func time(_ body: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<5 {
      var begun = timespec()
      var ended = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun)
      try body()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended)
      best = min(best, Double(ended.tv_sec - begun.tv_sec) * 1e9 + Double(ended.tv_nsec - begun.tv_nsec))
    }
    return best
  }

  @Test func `eight times the input takes less than thirty times the time`() throws {
    // Linear time is eight, quadratic time 64.
    func ratio(_ make: (Int) throws -> Data, _ decode: (Data) throws -> Void) throws -> Double {
      let (small, big) = (try make(500), try make(4_000))
      return try time { try decode(big) } / time { try decode(small) }
    }
    func map(_ count: Int) throws -> Data {
      try ArchiveEncoder().encode(Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) }))
    }
    let backwards = try ratio(map) { _ = try ArchiveDecoder().decode(AllBackwards.self, from: $0) }
    #expect(backwards < 30, "a map read backwards: \(backwards)")
    let sides = try ratio({ try ArchiveEncoder().encode(Sides(count: $0)) }) {
      _ = try ArchiveDecoder().decode(Sides.self, from: $0)
    }
    #expect(sides < 30, "many nested containers: \(sides)")
    let sets = try ratio({ try ArchiveEncoder().encode(Set((0..<$0).map { [$0] })) }) {
      _ = try ArchiveDecoder().decode(Set<[Int]>.self, from: $0)
    }
    #expect(sets < 30, "a set: \(sets)")
  }

  @Test func `tables that grow by one key a thousand times cost what they hold`() throws {
    func grow(_ count: Int) throws {
      var tables = CodingTables()
      for number in 0..<count {
        let text = Array("key \(number)".utf8)
        try tables.append(parsing: Data([1, UInt8(text.count)] + text + [0]))
      }
      #expect(tables.mark.keys == count)
    }
    let ratio = try time { try grow(4_000) } / time { try grow(500) }
    #expect(ratio < 30, "\(ratio)")
  }

  /// Reads every key of a map from the last to the first.
  private struct AllBackwards: Decodable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      for key in container.allKeys.reversed() { _ = try container.decode(Int.self, forKey: key) }
    }
  }

  /// Many nested containers in one value.
  private struct Sides: Codable {
    var count: Int

    init(count: Int) { self.count = count }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      count = list.count ?? 0
      while !list.isAtEnd { _ = try list.nestedUnkeyedContainer().count }
    }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      for number in 0..<count {
        var nested = list.nestedUnkeyedContainer()
        try nested.encode(number)
      }
    }
  }
}
