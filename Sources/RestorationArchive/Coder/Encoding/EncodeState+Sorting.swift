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
    var entries = takeSorted()
    let first = writer.count
    for (key, value) in dictionary {
      let start = writer.count
      writer.writeString(key)
      let keyEnd = writer.count
      write(&writer, value)
      writer.add(start: start, keyStart: keyEnd - key.utf8.count, keyEnd: keyEnd, to: &entries)
    }
    sort(&entries, from: first)
  }

  /// Writes the elements of a set of a well-known type, by their bytes.
  @inline(__always)
  mutating func writeElements<Element: Scalar>(of set: Set<Element>) {
    var entries = takeSorted()
    let first = writer.count
    for element in set {
      let start = writer.count
      element.write(to: &writer)
      writer.add(start: start, keyStart: start, keyEnd: writer.count, to: &entries)
    }
    sort(&entries, from: first)
  }

  /// Takes the memory of the list out, so that nobody else has it while it grows.
  @inline(__always)
  private mutating func takeSorted() -> [SortedEntry] {
    var entries: [SortedEntry] = []
    swap(&entries, &sorted)
    return entries
  }

  /// Brings entries, which are everything written since a position, into the order of their bytes.
  @inline(__always)
  private mutating func sort(_ entries: inout [SortedEntry], from first: Int) {
    if entries.count > ByteWriter.fewEntries { entries.sort { writer.precedes($0, $1) } }
    writer.reorder(from: first, entries.count) { (entries[$0].start, entries[$0].end) }
    entries.removeAll(keepingCapacity: true)
    swap(&entries, &sorted)
  }
}

// Mutating where nothing changes: a writer that is only looked at would be copied for each comparison.
extension ByteWriter {
  /// So many entries are put into their places one by one.
  fileprivate static var fewEntries: Int { 24 }

  /// Lists an entry that was just written; few entries are brought into order as they come.
  @inline(__always)
  fileprivate mutating func add(start: Int, keyStart: Int, keyEnd: Int, to entries: inout [SortedEntry]) {
    let length = keyEnd - keyStart
    let prefix = length == 0 ? 0 : word(at: keyStart) & ~(length >= 8 ? 0 : UInt64.max &>> UInt64(8 &* length))
    let entry = SortedEntry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: count)
    var place = entries.count
    entries.append(entry)
    guard place < Self.fewEntries else { return }
    while place > 0 && precedes(entry, entries[place &- 1]) {
      entries[place] = entries[place &- 1]
      place &-= 1
    }
    entries[place] = entry
  }

  /// Whether an entry comes before another.
  @inline(__always)
  fileprivate mutating func precedes(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    one.prefix != other.prefix ? one.prefix < other.prefix : precedesBehindPrefix(one, other)
  }

  @inline(never)
  private mutating func precedesBehindPrefix(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    withBytes { $0[one.keyStart..<one.keyEnd].compare($0[other.keyStart..<other.keyEnd]) < 0 }
  }
}
