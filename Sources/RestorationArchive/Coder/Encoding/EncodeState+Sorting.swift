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

extension EncodeState {
  /// Writes the entries of a dictionary with values of a well-known type, by the bytes of their keys.
  @inline(__always)
  mutating func writeEntries<Value>(
    of dictionary: [String: Value], writing write: (inout ByteWriter, Value) -> Void
  ) {
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
    let first = writer.count
    for element in set {
      let start = writer.count
      element.write(to: &writer)
      addToSorter(start: start, keyStart: start, keyEnd: writer.count)
    }
    sortEntries(from: first)
  }

  /// So many entries are put into their places one by one.
  private static var fewEntries: Int { 24 }

  /// Lists what was just written; few entries are brought into order as they come.
  @inline(__always)
  private mutating func addToSorter(start: Int, keyStart: Int, keyEnd: Int) {
    let length = keyEnd - keyStart
    let prefix = length == 0 ? 0 : writer.word(at: keyStart) & ~(length >= 8 ? 0 : UInt64.max &>> UInt64(8 &* length))
    let entry = SortedEntry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: writer.count)
    var place = sorted.count
    sorted.append(entry)
    guard place < Self.fewEntries else { return }
    while place > 0 && precedes(entry, sorted[place &- 1]) {
      sorted[place] = sorted[place &- 1]
      place &-= 1
    }
    sorted[place] = entry
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

  /// Brings what ``sorted`` lists, which is everything written since a position, into the order of its bytes.
  @inline(__always)
  private mutating func sortEntries(from first: Int) {
    var entries: [SortedEntry] = []
    swap(&entries, &sorted)
    if entries.count > Self.fewEntries { entries.sort { precedes($0, $1) } }
    writer.reorder(from: first, entries.count) { (entries[$0].start, entries[$0].end) }
    entries.removeAll(keepingCapacity: true)
    swap(&entries, &sorted)
  }
}
