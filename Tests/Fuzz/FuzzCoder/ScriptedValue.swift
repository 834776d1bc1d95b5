import Foundation

/// A value that does what a script says while it is encoded, misuse included.
struct ScriptedValue: Encodable {
  private struct Refusal: Error {}

  let script: Script

  init(_ script: Script) { self.script = script }

  func encode(to encoder: any Encoder) throws {
    guard script.spend() else { return }
    switch script.next() % 10 {
    case 0, 1: try write(encoder.container(keyedBy: ScriptKey.self)) { ScriptKey($0) }
    case 2: try write(encoder.container(keyedBy: TextKey.self)) { _ in TextKey(stringValue: script.text()) }
    case 3, 4: try write(encoder.unkeyedContainer())
    case 5: try write(encoder.singleValueContainer())
    case 6: break
    case 7:
      // Two kinds of keys in one object.
      try write(encoder.container(keyedBy: ScriptKey.self)) { ScriptKey($0) }
      try write(encoder.container(keyedBy: TextKey.self)) { _ in TextKey(stringValue: script.text()) }
    case 8:
      // Two containers of different kinds, which is an error.
      _ = encoder.unkeyedContainer()
      try write(encoder.container(keyedBy: ScriptKey.self)) { ScriptKey($0) }
    default:
      try useStale()
      throw Refusal()
    }
  }

  private func write<Key: CodingKey>(
    _ first: KeyedEncodingContainer<Key>, _ makeKey: (UInt8) -> Key
  ) throws {
    var container = first
    var nested: [KeyedEncodingContainer<TextKey>] = []
    var lists: [any UnkeyedEncodingContainer] = []
    for _ in 0..<script.next() % 24 {
      let operation = script.next()
      let key = makeKey(script.next())
      switch operation % 20 {
      case 0: try container.encode(script.integer(), forKey: key)
      case 1: try container.encode(script.text(), forKey: key)
      case 2: try container.encode(Double(bitPattern: UInt64(bitPattern: script.integer())), forKey: key)
      case 3: try container.encodeNil(forKey: key)
      case 4: try container.encodeIfPresent(script.next() & 1 == 0 ? nil : script.text(), forKey: key)
      case 5: try container.encodeIfPresent(script.next() & 1 == 0 ? nil : Int128(script.integer()), forKey: key)
      case 6: try container.encode([script.integer(), script.integer()], forKey: key)
      case 7:
        let pairs = [(script.text(), script.integer()), (script.text(), 1)]
        try container.encode(Dictionary(pairs) { first, _ in first }, forKey: key)
      case 8: try container.encode(Set([script.integer(), script.integer(), 3]), forKey: key)
      case 9, 10: try container.encode(ScriptedValue(script), forKey: key)
      case 11: try? container.encode(ScriptedValue(script), forKey: key)
      case 12: nested.append(container.nestedContainer(keyedBy: TextKey.self, forKey: key))
      case 13: lists.append(container.nestedUnkeyedContainer(forKey: key))
      case 14: try ScriptedValue(script).encode(to: container.superEncoder(forKey: key))
      case 15: try ScriptedValue(script).encode(to: container.superEncoder())
      case 16: try container.encode([script.next(): ScriptedValue(script)], forKey: key)
      case 17:
        if !nested.isEmpty {
          try write(nested[Int(script.next()) % nested.count]) { _ in TextKey(stringValue: script.text()) }
        }
      case 18: if !lists.isEmpty { try write(lists[Int(script.next()) % lists.count]) }
      default:
        if let kept = container as? KeyedEncodingContainer<ScriptKey> { script.stashedKeyedWriting.append(kept) }
      }
    }
  }

  private func write(_ first: any UnkeyedEncodingContainer) throws {
    var container = first
    for _ in 0..<script.next() % 24 {
      switch script.next() % 12 {
      case 0: try container.encode(script.integer())
      case 1: try container.encode(script.text())
      case 2: try container.encodeNil()
      case 3: try container.encode(Float(bitPattern: UInt32(truncatingIfNeeded: script.integer())))
      case 4, 5: try container.encode(ScriptedValue(script))
      case 6: try? container.encode(ScriptedValue(script))
      case 7: try write(container.nestedContainer(keyedBy: ScriptKey.self)) { ScriptKey($0) }
      case 8: try write(container.nestedUnkeyedContainer())
      case 9: try ScriptedValue(script).encode(to: container.superEncoder())
      case 10: try container.encode([Date(timeIntervalSinceReferenceDate: 1): [script.text()]])
      default: try useStale()
      }
    }
  }

  private func write(_ first: any SingleValueEncodingContainer) throws {
    var container = first
    switch script.next() % 8 {
    case 0: try container.encode(script.integer())
    case 1: try container.encode(script.text())
    case 2: try container.encodeNil()
    case 3: try container.encode(ScriptedValue(script))
    case 4:
      try? container.encode(ScriptedValue(script))
      try container.encode(true)
    case 5: try container.encode([ScriptedValue(script)])
    case 6: script.stashedWriting.append(container)
    default: try container.encode(Data(repeating: 7, count: Int(script.next())))
    }
  }

  /// Uses containers whose values are complete, or not: errors are all that may come of it.
  private func useStale() throws {
    if var container = script.stashedKeyedWriting.popLast() {
      try container.encode(script.text(), forKey: ScriptKey(script.next()))
      _ = container.superEncoder().unkeyedContainer().count
    }
    if var container = script.stashedWriting.popLast() { try container.encode(script.integer()) }
  }
}
