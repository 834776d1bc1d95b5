/// The key of the value that is being coded, in the cheapest form that can be made into a key.
struct CurrentKey {
  /// A key that is not known by an index.
  enum Other {
    case key(any CodingKey)
    /// Only its text, which costs no allocation.
    case text(String)
  }

  /// The index; -1 for a key in ``other``, -2 for none.
  private var index: Int16 = -2
  /// The type of the key known by its index.
  private var info: KeyTypeRef?
  private var other = Other.text("")

  /// No key.
  init() {}

  /// Remembers that there is no key.
  @inline(__always)
  mutating func clear() { index = -2 }

  /// Remembers a key that is not known by an index.
  mutating func set(_ key: Other) {
    index = -1
    other = key
  }

  /// Remembers a key by its index and its type, which belong together.
  @inline(__always)
  mutating func set(_ index: UInt8, _ info: KeyTypeRef) {
    self.index = Int16(index)
    self.info = info
  }

  /// The key, if there is one, as the end of a coding path.
  var path: [any CodingKey] {
    if index >= 0, let info { return [info.pointee.key(at: UInt8(index))] }
    guard index == -1 else { return [] }
    switch other {
    case .key(let key): return [key]
    case .text(let text): return [AnyCodingKey(stringValue: text)]
    }
  }
}
