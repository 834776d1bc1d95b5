import Dispatch
import Foundation
import RestorationArchive
import Testing

/// Encoders, decoders and containers that outlive their coder and its memory.
///
/// Run under the address sanitizer these find a handle that touches what is gone.
@Suite(.serialized)  // They share the closure that is decoded through.
struct KeptHandleTests {
  private enum Keys: String, CodingKey { case a, b, c }

  private struct Writing: Encodable {
    var body: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try body(encoder) }
  }

  private struct Reading: Decodable {
    nonisolated(unsafe) static var body: (any Decoder) throws -> Void = { _ in }
    init(from decoder: any Decoder) throws { unsafe try Self.body(decoder) }
  }

  /// More coders at work inside each other than are kept for the next value: the memory of some is freed.
  private static let coders = 24

  /// What was kept of many encodings.
  private struct Encoders {
    var encoders: [any Encoder] = []
    var keyed: [KeyedEncodingContainer<Keys>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []
    var single: [any SingleValueEncodingContainer] = []

    /// Uses everything in every way; tells how often something was taken.
    func use() -> Int {
      var taken = 0
      func attempt(_ body: () throws -> Void) { if (try? body()) != nil { taken += 1 } }
      for encoder in encoders {
        _ = (encoder.codingPath, encoder.userInfo, encoder.unkeyedContainer().count)
        var container = encoder.container(keyedBy: Keys.self)
        attempt { try container.encode(1, forKey: .a) }
        attempt { try 1.encode(to: encoder) }
        attempt { try [1].encode(to: container.superEncoder()) }
      }
      for var container in keyed {
        _ = container.codingPath
        attempt { try container.encode("x", forKey: .a) }
        attempt { try container.encode([["x"]], forKey: .a) }
        attempt { try container.encodeIfPresent(Int?.none, forKey: .b) }
        attempt { try container.encodeNil(forKey: .c) }
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .b)
        attempt { try nested.encode(1, forKey: .a) }
        attempt { try 1.encode(to: container.superEncoder(forKey: .c)) }
      }
      for var container in unkeyed {
        _ = (container.codingPath, container.count)
        attempt { try container.encode(1) }
        attempt { try container.encode(["x": 1]) }
        var nested = container.nestedUnkeyedContainer()
        attempt { try nested.encodeNil() }
      }
      for var container in single { attempt { try container.encode(1) } }
      return taken
    }
  }

  private func keptEncoders() throws -> Encoders {
    var kept = Encoders()
    func writing(_ level: Int) -> Writing {
      Writing { encoder in
        kept.encoders.append(encoder)
        kept.single.append(encoder.singleValueContainer())
        var container = encoder.container(keyedBy: Keys.self)
        kept.keyed.append(container)
        kept.keyed.append(container.nestedContainer(keyedBy: Keys.self, forKey: .b))
        var list = container.nestedUnkeyedContainer(forKey: .c)
        kept.unkeyed.append(list)
        kept.unkeyed.append(list.nestedUnkeyedContainer())
        kept.encoders.append(container.superEncoder())
        if level > 0 { _ = try ArchiveEncoder().encode(["v": writing(level - 1)]) }
        try container.encode(level, forKey: .a)
      }
    }
    _ = try ArchiveEncoder().encode([writing(Self.coders)])
    return kept
  }

  @Test func `encoders kept beyond their coder throw, also from other threads while others encode`() throws {
    let kept = try keptEncoders()
    #expect(kept.use() == 0)
    nonisolated(unsafe) let shared = kept
    let states = (0..<64).map { SampleState($0) }
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      for _ in 0..<20 {
        if index.isMultiple(of: 2) {
          unsafe #expect(shared.use() == 0)
        } else {
          let back = try? ArchiveDecoder().decode([SampleState].self, from: ArchiveEncoder().encode(states))
          #expect(back == states)
        }
      }
    }
  }

  @Test func `decoders kept beyond their coder and its bytes throw`() throws {
    var decoders: [any Decoder] = []
    var keyed: [KeyedDecodingContainer<Keys>] = []
    var unkeyed: [any UnkeyedDecodingContainer] = []
    var single: [any SingleValueDecodingContainer] = []
    var level = 0
    func bytes() throws -> Data { try ArchiveEncoder().encode([["a": ["x", "y"], "b": [], "c": ["z"]]]) }
    unsafe Reading.body = { decoder in
      decoders.append(decoder)
      single.append(try decoder.singleValueContainer())
      let container = try decoder.container(keyedBy: Keys.self)
      keyed.append(container)
      unkeyed.append(try container.nestedUnkeyedContainer(forKey: .a))
      decoders.append(try container.superDecoder(forKey: .c))
      decoders.append(try container.superDecoder())
      unkeyed.append(try decoders[decoders.count - 2].unkeyedContainer())
      level += 1
      if level < Self.coders { _ = try ArchiveDecoder().decode([Reading].self, from: bytes()) }
    }
    _ = try ArchiveDecoder().decode([Reading].self, from: bytes())
    for decoder in decoders {
      _ = (decoder.codingPath, decoder.userInfo)
      #expect(throws: DecodingError.self) { try decoder.container(keyedBy: Keys.self) }
      #expect(throws: DecodingError.self) { try decoder.unkeyedContainer() }
      #expect(throws: DecodingError.self) { try String(from: decoder) }
    }
    for container in keyed {
      #expect(container.allKeys.isEmpty && !container.contains(.a) && container.codingPath.isEmpty)
      #expect(throws: DecodingError.self) { try container.decode([String].self, forKey: .a) }
      #expect(throws: DecodingError.self) { try container.decodeIfPresent(Int.self, forKey: .b) }
      #expect(throws: DecodingError.self) { try container.nestedUnkeyedContainer(forKey: .a) }
      #expect(throws: DecodingError.self) { try container.superDecoder() }
    }
    for var container in unkeyed {
      _ = (container.codingPath, container.count, container.isAtEnd)
      #expect(throws: DecodingError.self) { try container.decode(String.self) }
      #expect(throws: DecodingError.self) { try container.superDecoder() }
    }
    for container in single {
      #expect(!container.decodeNil())
      #expect(throws: DecodingError.self) { try container.decode(String.self) }
    }
  }

  @Test func `nested containers are good until their decoding ends, many at a time and each alone`() throws {
    let data = try ArchiveEncoder().encode([(0..<2_000).map { ["a": $0] }])
    unsafe Reading.body = { decoder in
      var list = try decoder.unkeyedContainer()
      var containers: [KeyedDecodingContainer<Keys>] = []
      while !list.isAtEnd { containers.append(try list.nestedContainer(keyedBy: Keys.self)) }
      for (number, container) in containers.enumerated().reversed() {
        #expect(try container.decode(Int.self, forKey: .a) == number)
        #expect(try container.decodeIfPresent(Int.self, forKey: .b) == nil)
        #expect(try container.decode(Int128.self, forKey: .a) == Int128(number))
      }
    }
    _ = try ArchiveDecoder().decode([Reading].self, from: data)
  }
}
