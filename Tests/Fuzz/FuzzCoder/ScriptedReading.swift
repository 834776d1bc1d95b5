import Foundation

/// A value that does what a script says while it is decoded: in any order, several times, and too late.
struct ScriptedReading: Decodable {
  private struct Refusal: Error {}

  init(from decoder: any Decoder) throws {
    guard let script = decoder.userInfo[Script.key] as? Script, script.spend() else { return }
    switch script.next() % 8 {
    case 0, 1, 2: try Self.read(decoder.container(keyedBy: ScriptKey.self), script) { ScriptKey($0) }
    case 3: try Self.read(decoder.container(keyedBy: TextKey.self), script) { _ in TextKey(stringValue: script.text()) }
    case 4: try Self.read(decoder.unkeyedContainer(), script)
    case 5: try Self.read(decoder.singleValueContainer(), script)
    case 6:
      _ = try? decoder.container(keyedBy: ScriptKey.self).allKeys
      _ = try? decoder.unkeyedContainer().count
      _ = try? decoder.singleValueContainer().decode([Int].self)
    default:
      Self.useStale(script)
      throw Refusal()
    }
  }

  private static func read<Key: CodingKey>(
    _ container: KeyedDecodingContainer<Key>, _ script: Script, _ makeKey: (UInt8) -> Key
  ) throws {
    for _ in 0..<script.next() % 24 {
      let operation = script.next()
      let key = makeKey(script.next())
      switch operation % 14 {
      case 0: _ = try? container.decode(Int.self, forKey: key)
      case 1: _ = try? container.decode(String.self, forKey: key)
      case 2: _ = try? container.decodeIfPresent(Double.self, forKey: key)
      case 3: _ = container.allKeys.count
      case 4: _ = container.contains(key)
      case 5: _ = try? container.decodeNil(forKey: key)
      case 6, 7: _ = try? container.decode(ScriptedReading.self, forKey: key)
      case 8: _ = try? container.decode([ScriptedReading].self, forKey: key)
      case 9:
        try? read(container.nestedContainer(keyedBy: TextKey.self, forKey: key), script) { _ in
          TextKey(stringValue: script.text())
        }
      case 10: try? read(container.nestedUnkeyedContainer(forKey: key), script)
      case 11: _ = try? ScriptedReading(from: container.superDecoder(forKey: key))
      case 12: _ = try? container.decode([String: ScriptedReading].self, forKey: key)
      default: if let kept = container as? KeyedDecodingContainer<ScriptKey> { script.stashedKeyedReading.append(kept) }
      }
    }
  }

  private static func read(_ first: any UnkeyedDecodingContainer, _ script: Script) throws {
    var container = first
    for _ in 0..<script.next() % 24 {
      switch script.next() % 10 {
      case 0: _ = try? container.decode(Int8.self)
      case 1: _ = try? container.decode(String.self)
      case 2: _ = try? container.decodeNil()
      case 3: _ = try? container.decode(UUID.self)
      case 4, 5: _ = try? container.decode(ScriptedReading.self)
      case 6: try? read(container.nestedContainer(keyedBy: ScriptKey.self), script) { ScriptKey($0) }
      case 7: try? read(container.nestedUnkeyedContainer(), script)
      case 8: _ = try? ScriptedReading(from: container.superDecoder())
      default: useStale(script)
      }
    }
  }

  private static func read(_ container: any SingleValueDecodingContainer, _ script: Script) throws {
    for _ in 0..<script.next() % 4 {
      switch script.next() % 7 {
      case 0: _ = try? container.decode(UInt64.self)
      case 1: _ = try? container.decode(String.self)
      case 2: _ = container.decodeNil()
      case 3: _ = try? container.decode([String: Int].self)
      case 4: _ = try? container.decode(ScriptedReading.self)
      case 5: script.stashedReading.append(container)
      default: _ = try? container.decode(Data.self)
      }
    }
  }

  /// Uses containers whose values are complete, or not: errors are all that may come of it.
  private static func useStale(_ script: Script) {
    if let container = script.stashedKeyedReading.popLast() {
      _ = try? container.decode(Int.self, forKey: ScriptKey(script.next()))
      _ = try? container.superDecoder().unkeyedContainer()
      _ = container.allKeys
    }
    if let container = script.stashedReading.popLast() { _ = try? container.decode(String.self) }
  }
}
