/// Keys and shapes as numbers and text, in the order in which they were first used.
struct TableContent: Sendable {
  /// The UTF-8 of all keys, one after the other.
  var keyText: [UInt8] = []
  /// Where each key ends in ``keyText``.
  var keyEnds: [UInt32] = []
  /// The fields of all shapes: the number of the key × 256 + the tag.
  var fields: [UInt32] = []
  /// Where each shape ends in ``fields``.
  var shapeEnds: [UInt32] = []

  /// The number of keys.
  var keyCount: Int { keyEnds.count }
  /// The number of shapes.
  var shapeCount: Int { shapeEnds.count }

  /// About the number of bytes that the tables take in an archive.
  var byteCount: Int { keyText.count + 2 * keyCount + 2 * fields.count + shapeCount }

  /// How far the tables have grown.
  var mark: CodingTables.Mark { CodingTables.Mark(keys: keyCount, shapes: shapeCount) }

  /// Where a key's text lies.
  func keyRange(_ key: Int) -> Range<Int> {
    (key == 0 ? 0 : Int(keyEnds[key - 1]))..<Int(keyEnds[key])
  }

  /// A key's text.
  func key(_ key: Int) -> String {
    String(decoding: keyText[keyRange(key)], as: UTF8.self)
  }

  /// Where a shape's fields lie.
  func fieldRange(_ shape: Int) -> Range<Int> {
    (shape == 0 ? 0 : Int(shapeEnds[shape - 1]))..<Int(shapeEnds[shape])
  }

  /// Removes everything and keeps the memory.
  mutating func reset() {
    keyText.removeAll(keepingCapacity: true)
    keyEnds.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    shapeEnds.removeAll(keepingCapacity: true)
  }

  /// Takes back everything that came after a mark.
  mutating func remove(after mark: CodingTables.Mark) {
    keyEnds.removeSubrange(mark.keys...)
    keyText.removeSubrange(Int(keyEnds.last ?? 0)...)
    shapeEnds.removeSubrange(mark.shapes...)
    fields.removeSubrange(Int(shapeEnds.last ?? 0)...)
  }

  /// Adds a key and gives its number.
  mutating func appendKey(_ text: String) -> UInt32 {
    keyText.append(contentsOf: text.utf8)
    keyEnds.append(UInt32(keyText.count))
    return UInt32(keyEnds.count - 1)
  }
}
