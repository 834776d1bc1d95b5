/// An entry or element that was written and may have to move.
struct SortedEntry {
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

/// The entries of one dictionary or set, while they are brought into order; the memory is the state's.
struct EntrySorter {
  /// The memory there is at first.
  static let fewEntries = 24
  /// The memory kept for the next value is not larger than this.
  static let keptCapacity = 4096

  /// The entries.
  var entries: Slab<SortedEntry>
  /// How many there are.
  var count = 0

  init(capacity: Int) { entries = Slab(repeating: SortedEntry(), count: capacity) }

  /// Makes room for another number of entries; those there were are forgotten.
  @inline(never)
  mutating func grow(to capacity: Int) {
    entries.free()
    entries = Slab(repeating: SortedEntry(), count: capacity)
  }
}

extension EncodeState {
  /// Writes the entries of a dictionary with values of a well-known type, by the bytes of their keys.
  @inline(__always)
  mutating func writeEntries<Value>(
    of dictionary: [String: Value], writing write: (inout ByteWriter, Value) -> Void
  ) {
    beginSorting(dictionary.count)
    let first = writer.count
    for (key, value) in dictionary {
      let start = writer.count
      writer.writeString(key)
      let keyEnd = writer.count
      write(&writer, value)
      addToSorter(start: start, keyStart: keyEnd - key.utf8.count, keyEnd: keyEnd)
    }
    sortEntries(from: first)
  }

  /// Writes the elements of a set of a well-known type, by their bytes.
  @inline(__always)
  mutating func writeElements<Element: Scalar>(of set: Set<Element>) {
    beginSorting(set.count)
    let first = writer.count
    for element in set {
      let start = writer.count
      element.write(to: &writer)
      addToSorter(start: start, keyStart: start, keyEnd: writer.count)
    }
    sortEntries(from: first)
  }

  /// Makes room to list so many entries; those of an earlier list are done with.
  @inline(__always)
  private mutating func beginSorting(_ entries: Int) {
    sorter.count = 0
    if entries > sorter.entries.count { sorter.grow(to: entries) }
  }

  /// Lists what was just written.
  @inline(__always)
  private mutating func addToSorter(start: Int, keyStart: Int, keyEnd: Int) {
    let length = keyEnd - keyStart
    let prefix = length == 0 ? 0 : writer.word(at: keyStart) & ~(length >= 8 ? 0 : UInt64.max &>> UInt64(8 &* length))
    let entry = SortedEntry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: writer.count)
    sorter.entries[sorter.count] = entry
    sorter.count &+= 1
  }

  /// Whether an entry comes before another.
  @inline(__always)
  private func precedes(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    one.prefix != other.prefix ? one.prefix < other.prefix : precedesBehindPrefix(one, other)
  }

  @inline(never)
  private func precedesBehindPrefix(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    writer.withBytes { $0[one.keyStart..<one.keyEnd].compare($0[other.keyStart..<other.keyEnd]) < 0 }
  }

  /// Brings what ``sorter`` lists, which is everything written since a position, into the order of its bytes.
  @inline(__always)
  private mutating func sortEntries(from first: Int) {
    let entries = sorter.entries
    entries.sort(first: sorter.count) { precedes($0, $1) }
    writer.reorder(from: first, sorter.count) { (entries[$0].start, entries[$0].end) }
  }
}
