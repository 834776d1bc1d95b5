import Foundation

/// Reads whatever there is in ways that a compiler's code does not, and keeps nothing.
///
/// From the last key to the first, through nested containers and super decoders, and as types that it is not.
struct Anything: Decodable {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      for key in container.allKeys.reversed() {
        _ = try? container.nestedContainer(keyedBy: Key.self, forKey: key)
        _ = try? container.superDecoder(forKey: key).container(keyedBy: Key.self).allKeys
        _ = try container.decode(Anything.self, forKey: key)
      }
    } else if var container = try? decoder.unkeyedContainer() {
      while !container.isAtEnd {
        if var nested = try? container.nestedUnkeyedContainer() {
          while !nested.isAtEnd { _ = try nested.decode(Anything.self) }
        } else {
          _ = try container.decode(Anything.self)
        }
      }
    } else {
      let container = try decoder.singleValueContainer()
      _ = try? container.decode(Int64.self)
      _ = try? container.decode(UInt128.self)
      _ = try? container.decode(Double.self)
      _ = try? container.decode(String.self)
      _ = try? container.decode(Data.self)
      _ = container.decodeNil()
    }
  }
}
