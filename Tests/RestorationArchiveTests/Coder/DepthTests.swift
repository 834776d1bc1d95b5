import Foundation
import RestorationArchive
import TestTraits
import Testing

/// How deep values may be nested in each other, and what a stack of 512 KB bears.
struct DepthTests {
  /// A node with a list of children, and the fields that a program's node has.
  struct Outline: Codable, Equatable {
    struct Frame: Codable, Equatable { var x = 0.5, y = 1.5, width = 200.0, height = 100.0 }
    enum Kind: String, Codable { case folder, note }

    var title = "a node"
    var kind = Kind.folder
    var frame = Frame()
    var opened: Date? = Date(timeIntervalSinceReferenceDate: 7)
    var identifier: UUID? = UUID(uuidString: "7D5C1C9E-8F57-4C2B-9E0B-0D0B5E1B7C11")
    var numbers = [1, 2, 3], texts = ["a", "b"], counts = ["a": 1], bytes = Data([1, 2])
    var isOpen = true, width: Float = 3, ordinal: UInt16 = 4
    var children: [Outline] = []

    init(depth: Int) { children = depth > 1 ? [Outline(depth: depth - 1)] : [] }
  }

  /// An object in an object.
  final class Chain: Codable {
    var next: Chain?
    init(depth: Int) { next = depth > 1 ? Chain(depth: depth - 1) : nil }
    var count: Int { 1 + (next?.count ?? 0) }
  }

  /// A dictionary in a dictionary, by way of a single-value container.
  struct Folders: Codable, Equatable {
    var inside: [String: Folders]
    init(depth: Int) { inside = depth > 1 ? ["folder": Folders(depth: depth - 1)] : [:] }
    init(from decoder: any Decoder) throws {
      inside = try decoder.singleValueContainer().decode([String: Folders].self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(inside)
    }
  }

  /// A set in a set, which is encoded for its order first.
  struct Sets: Codable, Hashable {
    var inside: Set<Sets>
    init(depth: Int) { inside = depth > 1 ? [Sets(depth: depth - 1)] : [] }
    init(from decoder: any Decoder) throws { inside = try decoder.singleValueContainer().decode(Set<Sets>.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(inside)
    }
  }

  /// The compiler's own coding of cases with values.
  indirect enum Term: Codable, Equatable {
    case number(Int)
    case sum(Term, Int)
    static func make(depth: Int) -> Term { depth > 1 ? .sum(make(depth: depth - 1), depth) : .number(1) }
  }

  private let limit = ArchiveEncoder().depthLimit

  private func expectRoundTrip<Value: Codable>(_ value: Value, _ isSame: (Value, Value) -> Bool) throws {
    let back = try ArchiveDecoder().decode(Value.self, from: ArchiveEncoder().encode(value))
    #expect(isSame(back, value))
  }

  /// Runs a body on a thread with a stack of 512 KB, the least that the platforms' own threads have.
  private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) async throws {
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: Result { try body() }) }
      thread.stackSize = 512 << 10
      thread.start()
    }
    try result.get()
  }

  @Test(.notUnderAddressSanitizer("it makes frames larger"))
  func `a stack of 512 KB bears lists of objects with twelve fields, up to the limit`() async throws {
    try await onSmallStack {
      try expectRoundTrip(Outline(depth: limit / 2), ==)
      #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(Outline(depth: limit / 2 + 1)) }
    }
  }

  @Test(.notUnderAddressSanitizer("it makes frames larger"))
  func `a stack of 512 KB bears objects, dictionaries, sets and cases, up to the limit`() async throws {
    try await onSmallStack {
      try expectRoundTrip(Chain(depth: limit), { $0.count == $1.count })
      try expectRoundTrip(Folders(depth: limit / 2), ==)
      try expectRoundTrip(Sets(depth: limit / 2), ==)
      try expectRoundTrip(Term.make(depth: limit / 2), ==)
    }
  }

  @Test(.notUnderAddressSanitizer("it makes frames larger"))
  func `a value without end is refused on a stack of 512 KB`() async throws {
    try await onSmallStack {
      let chain = Chain(depth: 1)
      chain.next = chain
      defer { chain.next = nil }
      #expect(throws: EncodingError.self) { try ArchiveEncoder().encode(chain) }
    }
  }

  @Test func `the limit is a setting, for values with a list in each object as well`() throws {
    var encoder = ArchiveEncoder()
    encoder.depthLimit = 400
    let data = try encoder.encode(Outline(depth: 200))
    #expect(throws: EncodingError.self) { try encoder.encode(Outline(depth: 201)) }
    var decoder = ArchiveDecoder()
    #expect(throws: DecodingError.self) { try decoder.decode(Outline.self, from: data) }
    decoder.depthLimit = 400
    #expect(try decoder.decode(Outline.self, from: data) == Outline(depth: 200))
  }

  @Test func `both errors say depth, the limit and the remedy, also without state`() throws {
    func expect(_ error: any Error) {
      for text in ["\(error)", error.descriptionWithoutState] {
        #expect(text.contains("depth") && text.contains("128") && text.contains("raise the limit"), "\(text)")
      }
      #expect(error.descriptionWithoutState.count < 300)
    }
    expect(try #require(throws: EncodingError.self) { try ArchiveEncoder().encode(Chain(depth: 129)) })
    var encoder = ArchiveEncoder()
    encoder.depthLimit = 200
    let data = try encoder.encode(Chain(depth: 129))
    expect(try #require(throws: DecodingError.self) { try ArchiveDecoder().decode(Chain.self, from: data) })
  }
}
