import Foundation
import RestorationArchive
import SeededRandom
import Testing

/// Bytes that no encoder wrote: every one ends in a value or an error.
struct CoderHostileBytesTests {
  private static let samples: [(name: String, data: Data)] = {
    var random = SplitMix64(seed: 7)
    let encoder = ArchiveEncoder()
    func encoded<T: Generated>(_ type: T.Type) -> Data {
      while true {
        let data = try! encoder.encode(T.make(&random))
        if data.count > 40 && data.count < 320 { return data }
      }
    }
    return [
      ("wide", encoded(Wide.self)), ("expression", encoded(Expression.self)), ("tree", encoded(Tree.self)),
      ("sets", encoded([Set<Point>].self)), ("pairs", encoded([Point: [UInt8]].self)),
    ]
  }()

  /// Decodes bytes as several types; only their errors may stop it.
  private func decodeAll(_ data: Data) {
    let decoder = ArchiveDecoder()
    _ = try? decoder.decode(Wide.self, from: data)
    _ = try? decoder.decode(Expression.self, from: data)
    _ = try? decoder.decode(Tree.self, from: data)
    _ = try? decoder.decode([Set<Point>].self, from: data)
    _ = try? decoder.decode([Point: [UInt8]].self, from: data)
    _ = try? decoder.decode(Anything.self, from: data)
  }

  @Test func `every truncation throws`() {
    for sample in Self.samples {
      for count in 0..<sample.data.count {
        #expect(throws: DecodingError.self, "\(sample.name), \(count) bytes") {
          try ArchiveDecoder().decode(Anything.self, from: sample.data.prefix(count))
        }
      }
    }
  }

  @Test func `every changed byte ends in a value or an error`() {
    for sample in Self.samples {
      for index in sample.data.indices {
        for mask: UInt8 in [1, 0x80, 0xFF] {
          var data = sample.data
          data[index] ^= mask
          decodeAll(data)
        }
        var data = sample.data
        data[index] = 247
        decodeAll(data)
      }
    }
  }

  @Test func `damage tells its position`() throws {
    let data = try ArchiveEncoder().encode(["text": "abc"])
    var damaged = data
    damaged[damaged.endIndex - 1] = 0xFF
    do {
      _ = try ArchiveDecoder().decode([String: String].self, from: damaged)
      Issue.record("it decoded")
    } catch DecodingError.dataCorrupted(let context) {
      let error = try #require(context.underlyingError as? ArchiveError)
      #expect(error.code == .corrupt)
      #expect(error.offset == data.count - 4)
    }
  }

  @Test func `other formats and versions are told apart`() throws {
    func code(_ data: Data) -> ArchiveError.Code? {
      do {
        _ = try ArchiveDecoder().decode(Int.self, from: data)
        return nil
      } catch DecodingError.dataCorrupted(let context) {
        return (context.underlyingError as? ArchiveError)?.code
      } catch { return nil }
    }
    #expect(code(Data("{\"a\": 1}".utf8)) == .notAnArchive)
    #expect(code(Data([0xAC, 0x56, 99, 3, 0, 0, 2])) == .unsupportedVersion)
    #expect(code(Data([0xAC, 0x56, 1, 3, 0, 0, 2])) == nil)
    #expect(code(Data([0xAC, 0x56, 1, 3, 0, 0, 2, 2])) == .corrupt)
    #expect(code(Data()) == .truncated)
  }

  @Test func `counts larger than the bytes throw before anything is allocated`() {
    // An array, a map, a string, packed doubles and integers that claim 2^56 elements.
    let huge: [UInt8] = [247, 0, 0, 0, 0, 0, 0, 0, 1]
    for start: [UInt8] in [[13], [12, 16], [7], [8], [14, 4], [15, 8], [11]] {
      let bytes: [UInt8] = [0xAC, 0x56, 1, start[0], 0, 0] + start.dropFirst() + huge
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Anything.self, from: Data(bytes)) }
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode([Double].self, from: Data(bytes)) }
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode([String: Int].self, from: Data(bytes)) }
    }
    for table: [UInt8] in [huge, [0] + huge, [1, 1, 97, 1] + huge] {
      let bytes: [UInt8] = [0xAC, 0x56, 1, 3] + table
      #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Anything.self, from: Data(bytes)) }
    }
  }

  @Test func `only a field of a shape may be absent`() {
    struct Maybe: Decodable { var a: Int? }
    // A map of "a" and an array of one element, both absent.
    let map: [UInt8] = [0xAC, 0x56, 2, 12, 0, 0, 16, 1, 1, 97, 0]
    let array: [UInt8] = [0xAC, 0x56, 2, 13, 0, 0, 1, 0]
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Maybe.self, from: Data(map)) }
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode([String: Int].self, from: Data(map)) }
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode([Int?].self, from: Data(array)) }
  }

  @Test func `nesting without end is refused, whether it is decoded or passed over`() {
    // Arrays of one array, a hundred thousand deep.
    var bytes: [UInt8] = [0xAC, 0x56, 1, 13, 0, 0]
    for _ in 0..<100_000 { bytes += [1, 13] }
    bytes += [0]
    let data = Data(bytes)
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Anything.self, from: data) }
    #expect(throws: DecodingError.self) { try ArchiveDecoder().decode(Ignorant.self, from: data) }
    var deep = ArchiveDecoder()
    deep.depthLimit = .max
    #expect(throws: DecodingError.self) { try deep.decode(Ignorant.self, from: data) }
  }

  @Test func `a wide map is read in any order without quadratic time`() throws {
    let count = 20_000
    let value = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) })
    let data = try ArchiveEncoder().encode(value)
    let back = try ArchiveDecoder().decode(Backwards.self, from: data)
    #expect(back.sum == count * (count - 1) / 2)
  }

  @Test func `random bytes end in a value or an error`() {
    var random = SplitMix64(seed: 99)
    for _ in 0..<3000 {
      var bytes: [UInt8] = [0xAC, 0x56, 1]
      for _ in 0..<random.upTo(60) {
        bytes.append(UInt8(random.upTo(random.upTo(3) == 0 ? 255 : 17)))
      }
      decodeAll(Data(bytes))
    }
  }
}

/// Decodes whatever there is, as a dump would.
indirect enum Anything: Decodable {
  case null
  case leaf(String)
  case list([Anything])
  case keyed([String: Anything])

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      var entries: [String: Anything] = [:]
      for key in container.allKeys { entries[key.stringValue] = try container.decode(Anything.self, forKey: key) }
      self = .keyed(entries)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var elements: [Anything] = []
      while !container.isAtEnd { elements.append(try container.decode(Anything.self)) }
      self = .list(elements)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Int64.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(Double.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(Bool.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(String.self) {
      self = .leaf(value)
    } else if let value = try? container.decode(Date.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(UUID.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(UInt128.self) {
      self = .leaf("\(value)")
    } else if let value = try? container.decode(Int128.self) {
      self = .leaf("\(value)")
    } else {
      self = .leaf("\(try container.decode(Data.self))")
    }
  }
}

/// Asks its decoder for nothing, so that the coder passes over the value.
private struct Ignorant: Decodable {
  init(from decoder: any Decoder) {}
}

/// Reads a dictionary's keys from the last to the first.
private struct Backwards: Decodable {
  struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  var sum = 0

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys.reversed() { sum += try container.decode(Int.self, forKey: key) }
  }
}
