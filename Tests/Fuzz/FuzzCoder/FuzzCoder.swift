import Foundation
import RestorationArchive

/// Decodes any bytes as values and as records; what decodes must encode and decode to the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzzCoder(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 1 else { return 0 }
  let choice = unsafe start[0]
  let bytes = unsafe Data(bytes: start + 1, count: count - 1)
  // The header is given, so that the fuzzer need not guess it.
  let value = choice & 128 == 0 ? Data([0xAC, 0x56, 1]) + bytes : bytes
  switch choice & 7 {
  case 0: check(Wide.self, value)
  case 1: check(Expression.self, value)
  case 2: check(Tree.self, value)
  case 3: check([Set<Point>].self, value)
  case 4: check([Point: [UInt8]].self, value)
  case 5: _ = try? ArchiveDecoder().decode(Anything.self, from: value)
  case 6: check(Scalars.self, value)
  default: checkRecord(bytes)
  }
  return 0
}

private func check<T: Codable & Equatable>(_ type: T.Type, _ data: Data) {
  guard let value = try? ArchiveDecoder().decode(type, from: data) else { return }
  do {
    let again = try ArchiveEncoder().encode(value)
    let back = try ArchiveDecoder().decode(type, from: again)
    precondition(try ArchiveEncoder().encode(back) == again, "\(type) does not encode to the same bytes")
  } catch let error as EncodingError {
    // Decoding allows what encoding does not: values that are nested as deep as can be.
    guard case .invalidValue(_, let context) = error, context.underlyingError is ArchiveError else {
      preconditionFailure("\(type) decodes but does not encode: \(error)")
    }
  } catch { preconditionFailure("\(type) does not come back: \(error)") }
}

/// The first byte tells how many bytes are tables; the rest is a record.
private func checkRecord(_ bytes: Data) {
  let length = Int(bytes[bytes.startIndex])
  let rest = bytes.dropFirst()
  var tables = CodingTables()
  guard (try? tables.append(parsing: Data(rest.prefix(length)))) != nil,
    let record = try? RecordDecoder(Data(rest.dropFirst(length)), tables: tables)
  else { return }
  for key in record.keys {
    precondition(record.contains(key))
    _ = try? record.decode(Wide.self, forKey: key)
    _ = try? record.decode(Anything.self, forKey: key)
    _ = try? record.decode(Int.self, forKey: key)
  }
  // Going on with whatever the tables were must work.
  let entries = [RestorationArchive.Entry(key: "a", value: Point(x: 1, y: 2))]
  guard let encoded = try? RecordEncoder().encode(entries, tables: &tables),
    let again = try? RecordDecoder(Data(encoded), tables: tables),
    (try? again.decode(Point.self, forKey: "a")) == Point(x: 1, y: 2)
  else { preconditionFailure("a record does not go with tables that were read") }
}

private struct Point: Codable, Hashable, Sendable {
  var x: Double
  var y: Double
}

private struct Wide: Codable, Equatable {
  var a: Int8?, b: UInt64?, c: Double?, d: Float?, e: Bool?, f: String?, g: Data?, h: Date?, i: UUID?, j: [Int]?
  var k: Point?, m: [String: Int]?, n: UInt16?, o: Set<String>?, p: Int?, q: [Point]?, r: [String: [String]]?
}

private struct Scalars: Codable, Equatable {
  var a: Int, b: [Int16], c: [Double], d: [String], e: [Bool?], f: UInt128, g: Int128, h: Float16, i: [Float]
  var j: [Int: Date], k: Decimal?, l: [UUID]
}

private indirect enum Expression: Codable, Hashable {
  case number(Int)
  case sum(Expression, Expression)
  case call(name: String, arguments: [Expression])
}

private struct Tree: Codable, Equatable {
  var label: String
  var children: [Tree]
  var byName: [String: Tree]
}

/// Decodes whatever there is, with nested containers and super decoders.
private indirect enum Anything: Decodable {
  case leaf
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
      for key in container.allKeys.reversed() {
        _ = try? container.nestedContainer(keyedBy: Key.self, forKey: key)
        _ = try? container.superDecoder(forKey: key).container(keyedBy: Key.self).allKeys
        entries[key.stringValue] = try container.decode(Anything.self, forKey: key)
      }
      self = .keyed(entries)
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [Anything] = []
      while !container.isAtEnd {
        if var nested = try? container.nestedUnkeyedContainer() {
          while !nested.isAtEnd { _ = try nested.decode(Anything.self) }
          elements.append(.leaf)
        } else {
          elements.append(try container.decode(Anything.self))
        }
      }
      self = .list(elements)
    } else {
      let container = try decoder.singleValueContainer()
      _ = try? container.decode(Int64.self)
      _ = try? container.decode(UInt128.self)
      _ = try? container.decode(Double.self)
      _ = try? container.decode(String.self)
      _ = try? container.decode(Data.self)
      _ = container.decodeNil()
      self = .leaf
    }
  }
}
