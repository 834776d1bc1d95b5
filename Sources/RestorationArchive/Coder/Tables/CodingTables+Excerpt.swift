extension CodingTables {
  /// The entries of a record that have certain keys, as a record of their own; empty when there are none.
  ///
  /// The values are copied as they are, so that nobody needs to know their types. Damage hides the bytes after it.
  func excerpt(of record: [UInt8], keys: Set<String>) -> [UInt8] {
    guard !keys.isEmpty else { return [] }
    var excerpt = ByteWriter(capacity: 256)
    excerpt.writeByte(ValueTag.map)
    excerpt.writeByte(ValueTag.any)
    excerpt.writeByte(0)
    var count = 0
    record.withBorrowed { bytes in
      withView { view in
        var cursor = ByteCursor(bytes)
        guard let tag = try? cursor.readTag() else { return }
        var list = EntryList()
        try? ValueWalker(tables: view, depthLimit: CodingLimits.depth).walk(tag, &cursor, &list)
        for entry in list.entries where entry.tag != ValueTag.absent && keys.contains(entry.key.text) {
          excerpt.writeCounted(entry.key)
          excerpt.writeByte(entry.tag)
          excerpt.write(bytes[entry.payload])
          count += 1
        }
      }
    }
    excerpt.patchNumber(UInt64(count), at: 2)
    return count > 0 ? excerpt.array : []
  }
}
