import Foundation

/// Decodes whatever there is, with nested containers and super decoders.
indirect enum Anything: Decodable {
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
