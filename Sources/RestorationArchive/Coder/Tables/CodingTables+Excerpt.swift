extension CodingTables {
  /// The entries of a record that have certain keys, as a record of their own; empty when there are none.
  ///
  /// The values are copied as they are, so that nobody needs to know their types. Damage hides the bytes after it.
  func excerpt(of record: [UInt8], keys: Set<String>) -> [UInt8] {
    guard !keys.isEmpty else { return [] }
    var entries: [UInt8] = []
    var count = 0
    record.withBorrowed { bytes in
      withView { view in
        var cursor = ByteCursor(bytes)
        guard let tag = try? cursor.readTag() else { return }
        _ = try? ValueWalker(tables: view, depthLimit: 64).visitEntries(tag, &cursor) { key, tag, value in
          guard tag != ValueTag.absent, keys.contains(key.text) else { return }
          entries.append(number: key.count)
          entries.append(key)
          entries.append(tag)
          entries.append(bytes[value])
          count += 1
        }
      }
    }
    guard count > 0 else { return [] }
    var excerpt: [UInt8] = [ValueTag.map, ValueTag.any]
    excerpt.append(number: count)
    return excerpt + entries
  }
}
