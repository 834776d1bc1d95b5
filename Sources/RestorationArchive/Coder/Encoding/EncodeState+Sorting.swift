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

extension EncodeState {
  /// Writes the entries of a dictionary with values of a well-known type, by the bytes of their keys.
  @inline(__always)
  mutating func writeEntries<Value>(of dictionary: [String: Value], _ kind: TypeKind) {
    let first = count
    sorter.removeAll(keepingCapacity: true)
    for (key, value) in dictionary {
      let start = count
      writeString(key)
      let keyEnd = count
      unsafe withUnsafePointer(to: value) { unsafe writeScalar(UnsafeRawPointer($0), kind) }
      appendToSorter(start: start, keyStart: keyEnd - key.utf8.count, keyEnd: keyEnd)
    }
    sortEntries(from: first)
  }

  /// Writes the elements of a set of a well-known type, by their bytes.
  mutating func writeElements<Element>(of set: Set<Element>, _ kind: TypeKind) {
    let first = count
    sorter.removeAll(keepingCapacity: true)
    for element in set {
      let start = count
      unsafe withUnsafePointer(to: element) { unsafe writeScalar(UnsafeRawPointer($0), kind) }
      appendToSorter(start: start, keyStart: start, keyEnd: count)
    }
    sortEntries(from: first)
  }

  /// Lists what was just written.
  @inline(__always)
  private mutating func appendToSorter(start: Int, keyStart: Int, keyEnd: Int) {
    // The slack behind the buffer's limit can always be read and written.
    let key = unsafe UInt64(bigEndian: UnsafeRawPointer(base + keyStart).loadUnaligned(as: UInt64.self))
    let length = keyEnd - keyStart
    let prefix = length >= 8 ? key : length == 0 ? 0 : key & ~(UInt64.max &>> UInt64(8 &* length))
    sorter.append(SortedEntry(start: start, prefix: prefix, keyStart: keyStart, keyEnd: keyEnd, end: count))
  }

  /// Brings what ``sorter`` lists, which is everything written since a position, into the order of its bytes.
  private mutating func sortEntries(from first: Int) {
    let end = count
    let base = unsafe self.base
    func precedes(_ one: SortedEntry, _ other: SortedEntry) -> Bool {
      if one.prefix != other.prefix { return one.prefix < other.prefix }
      let oneCount = one.keyEnd - one.keyStart
      let otherCount = other.keyEnd - other.keyStart
      for index in 0..<min(oneCount, otherCount) {
        let left = unsafe base[one.keyStart + index]
        let right = unsafe base[other.keyStart + index]
        if left != right { return left < right }
      }
      return oneCount < otherCount
    }
    let entries = sorter.count
    if entries <= 24 {
      var isSorted = true
      for index in 1..<max(1, entries) {
        let entry = sorter[index]
        var place = index
        while place > 0 && precedes(entry, sorter[place - 1]) {
          sorter[place] = sorter[place - 1]
          place -= 1
        }
        sorter[place] = entry
        if place != index { isSorted = false }
      }
      if isSorted { return }
    } else {
      sorter.sort(by: precedes)
    }
    unsafe withUnsafeTemporaryAllocation(byteCount: end - first, alignment: 1) { scratch in
      unsafe scratch.copyMemory(from: UnsafeRawBufferPointer(start: base + first, count: end - first))
      var place = first
      for entry in sorter {
        let length = entry.end - entry.start
        unsafe UnsafeMutableRawPointer(base + place).copyMemory(
          from: scratch.baseAddress! + (entry.start - first), byteCount: length)
        place += length
      }
    }
  }
}
