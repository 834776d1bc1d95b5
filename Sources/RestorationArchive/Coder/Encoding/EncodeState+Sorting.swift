/// An entry or element that was written and may have to move.
struct SortedEntry {
  /// Where its bytes start in the buffer.
  var start: Int
  /// The first eight bytes to compare, as a number that is in the same order; filled with zeroes.
  var prefix: UInt64
  /// Where the bytes to compare start.
  var keyStart: Int
  /// Where they end.
  var keyEnd: Int
  /// Where the entry ends.
  var end: Int
}

/// The entries of one dictionary or set, while they are brought into order; the memory is the state's.
@safe struct EntrySorter {
  /// So many entries are put into their places one by one.
  static let fewEntries = 24
  /// The memory kept for the next value is not larger than this.
  static let keptCapacity = 4096

  /// The entries.
  let entries: UnsafeMutablePointer<SortedEntry>
  /// How many there is room for.
  let capacity: Int
  /// How many there are.
  var count = 0
  /// Whether the few entries so far came in their order.
  var isSorted = true

  /// Makes room; whoever replaces the sorter frees it.
  init(capacity: Int) {
    unsafe entries = .allocate(capacity: capacity)
    self.capacity = capacity
  }
}

extension EncodeState {
  /// Writes the entries of a dictionary with values of a well-known type, by the bytes of their keys.
  @inline(__always)
  mutating func writeEntries<Value>(
    of dictionary: [String: Value], writing write: (inout EncodeState, Value) -> Void
  ) {
    beginSorting(dictionary.count)
    let first = count
    for (key, value) in dictionary {
      let start = count
      writeString(key)
      let keyEnd = count
      write(&self, value)
      addToSorter(start: start, keyStart: keyEnd - key.utf8.count, keyEnd: keyEnd)
    }
    sortEntries(from: first)
  }

  /// Writes the elements of a set of a well-known type, by their bytes.
  mutating func writeElements<Element>(of set: Set<Element>, _ kind: TypeKind) {
    beginSorting(set.count)
    let first = count
    for element in set {
      let start = count
      unsafe withUnsafePointer(to: element) { unsafe writeScalar(UnsafeRawPointer($0), kind) }
      addToSorter(start: start, keyStart: start, keyEnd: count)
    }
    sortEntries(from: first)
  }

  /// Makes room to list so many entries; those of an earlier list are done with.
  @inline(__always)
  private mutating func beginSorting(_ entries: Int) {
    sorter.count = 0
    sorter.isSorted = true
    if entries > sorter.capacity { growSorter(to: entries) }
  }

  @inline(never)
  private mutating func growSorter(to entries: Int) {
    unsafe sorter.entries.deallocate()
    sorter = EntrySorter(capacity: entries)
  }

  /// Lists what was just written; few entries are brought into order as they come.
  @inline(__always)
  private mutating func addToSorter(start: Int, keyStart: Int, keyEnd: Int) {
    // The slack behind the buffer's limit can always be read and written.
    let key = unsafe UInt64(bigEndian: UnsafeRawPointer(base + keyStart).loadUnaligned(as: UInt64.self))
    let length = keyEnd - keyStart
    let prefix = length >= 8 ? key : length == 0 ? 0 : key & ~(UInt64.max &>> UInt64(8 &* length))
    let entry = SortedEntry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: count)
    let entries = unsafe sorter.entries
    var place = sorter.count
    sorter.count = place &+ 1
    if place < EntrySorter.fewEntries {
      while unsafe place > 0 && precedes(entry, entries[place &- 1]) {
        unsafe entries[place] = entries[place &- 1]
        place &-= 1
        sorter.isSorted = false
      }
    }
    unsafe entries[place] = entry
  }

  /// Whether an entry comes before another.
  @inline(__always)
  private func precedes(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    one.prefix != other.prefix ? one.prefix < other.prefix : precedesBehindPrefix(one, other)
  }

  @inline(never)
  private func precedesBehindPrefix(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
    let oneCount = one.keyEnd - one.keyStart
    let otherCount = other.keyEnd - other.keyStart
    for index in 0..<min(oneCount, otherCount) {
      let left = unsafe base[one.keyStart + index]
      let right = unsafe base[other.keyStart + index]
      if left != right { return left < right }
    }
    return oneCount < otherCount
  }

  /// Brings what ``sorter`` lists, which is everything written since a position, into the order of its bytes.
  @inline(__always)
  private mutating func sortEntries(from first: Int) {
    if sorter.count > EntrySorter.fewEntries {
      var entries = unsafe UnsafeMutableBufferPointer(start: sorter.entries, count: sorter.count)
      unsafe entries.sort { precedes($0, $1) }
    } else if sorter.isSorted {
      return
    }
    permute(from: first)
  }

  /// Moves the bytes of the entries, which are all that was written since a position, into their order.
  private mutating func permute(from first: Int) {
    let total = count - first
    // A copy is put together behind what was written, and then takes its place.
    reserve(total)
    let copy = unsafe UnsafeMutableRawPointer(next)
    var place = 0
    for index in 0..<sorter.count {
      let entry = unsafe sorter.entries[index]
      let length = entry.end - entry.start
      unsafe (copy + place).copyMemory(from: base + entry.start, byteCount: length)
      place += length
    }
    unsafe UnsafeMutableRawPointer(base + first).copyMemory(from: copy, byteCount: total)
  }
}
