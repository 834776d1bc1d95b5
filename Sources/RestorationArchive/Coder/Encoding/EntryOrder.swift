/// Brings the entries of a dictionary, or the elements of a set, into the order of their bytes after they were written.
struct EntryOrder {
  /// An entry or element that was written and may have to move.
  private struct Entry {
    /// Where its bytes start in the buffer.
    var start = 0
    /// The first eight bytes to compare, as a number that is in the same order; filled with zeroes.
    var prefix: UInt64 = 0
    /// Where the bytes to compare start.
    var keyStart = 0
    /// Where they end.
    var keyEnd = 0
    /// Where the entry ends.
    var end = 0
  }

  /// The first entries, which are put into their places as they come.
  private let few: Slab<Entry>
  /// Those that come after them.
  private var many: [Entry] = []
  private var count = 0

  /// Makes a list without entries.
  init(in memory: SessionMemory) { few = Slab(repeating: Entry(), count: 24, in: memory) }

  /// Lists an entry that ends the buffer.
  @inline(__always)
  mutating func add(start: Int, keyStart: Int, keyEnd: Int, in writer: inout ByteWriter) {
    let length = keyEnd - keyStart
    let prefix = length == 0 ? 0 : writer.word(at: keyStart) & ~(length >= 8 ? 0 : UInt64.max &>> UInt64(8 &* length))
    let entry = Entry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: writer.count)
    guard count < few.count else { return many.append(entry) }
    var place = count
    while place > 0 && Self.precedes(entry, few[place &- 1], in: &writer) {
      few[place] = few[place &- 1]
      place &-= 1
    }
    few[place] = entry
    count &+= 1
  }

  /// Moves the entries, which are everything written since a position, to their places, and forgets them.
  @inline(__always)
  mutating func settle(from first: Int, in writer: inout ByteWriter) {
    let count = count
    self.count = 0
    if many.isEmpty {
      writer.reorder(from: first, count) { (few[$0].start, few[$0].end) }
    } else {
      settleMany(from: first, few: count, in: &writer)
    }
  }

  @inline(never)
  private mutating func settleMany(from first: Int, few fewCount: Int, in writer: inout ByteWriter) {
    var entries = many
    many = []
    for index in 0..<fewCount { entries.append(few[index]) }
    entries.sort { Self.precedes($0, $1, in: &writer) }
    writer.reorder(from: first, entries.count) { (entries[$0].start, entries[$0].end) }
  }

  // The writer is not changed, but one that is only read would be retained for each comparison.
  @inline(__always)
  private static func precedes(_ one: Entry, _ other: Entry, in writer: inout ByteWriter) -> Bool {
    one.prefix != other.prefix ? one.prefix < other.prefix : precedesBehindPrefix(one, other, in: &writer)
  }

  @inline(never)
  private static func precedesBehindPrefix(_ one: Entry, _ other: Entry, in writer: inout ByteWriter) -> Bool {
    writer.withBytes { $0[one.keyStart..<one.keyEnd].compare($0[other.keyStart..<other.keyEnd]) < 0 }
  }
}

extension EncodeState {
  /// Writes the entries of a dictionary with values of a well-known type, by the bytes of their keys.
  @inline(__always)
  mutating func writeEntries<Value: Scalar>(of dictionary: [String: Value]) {
    let first = writer.count
    for (key, value) in dictionary {
      let start = writer.count
      writer.writeString(key)
      let keyEnd = writer.count
      value.write(to: &writer)
      order.add(start: start, keyStart: keyEnd - key.utf8.count, keyEnd: keyEnd, in: &writer)
    }
    order.settle(from: first, in: &writer)
  }

  /// Writes the elements of a set of a well-known type, by their bytes.
  @inline(__always)
  mutating func writeElements<Element: Scalar>(of set: Set<Element>) {
    let first = writer.count
    for element in set {
      let start = writer.count
      element.write(to: &writer)
      order.add(start: start, keyStart: start, keyEnd: writer.count, in: &writer)
    }
    order.settle(from: first, in: &writer)
  }
}
