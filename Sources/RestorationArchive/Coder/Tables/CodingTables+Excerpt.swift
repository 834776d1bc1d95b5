extension CodingTables {
  /// The entries of a record that have certain keys, as a record of their own; empty when there are none.
  ///
  /// The values are copied as they are, so that nobody needs to know their types. Damage hides what comes after it.
  func excerpt(of record: [UInt8], keys: Set<String>) -> [UInt8] {
    guard !keys.isEmpty else { return [] }
    var entries = TableWriter(bytes: [])
    var count = 0
    unsafe record.withUnsafeBytes { bytes in
      withView { view in
        let walker = unsafe ValueWalker(bytes, tables: view, depthLimit: 64)
        try? unsafe walker.visitEntries { key, tag, value in
          guard unsafe keys.contains(String(decoding: key, as: UTF8.self)) else { return }
          entries.append(key.count)
          unsafe entries.bytes.append(contentsOf: key)
          entries.bytes.append(tag)
          unsafe entries.bytes.append(contentsOf: bytes[value])
          count += 1
        }
      }
    }
    guard count > 0 else { return [] }
    var excerpt = TableWriter(bytes: [ValueTag.map, ValueTag.any])
    excerpt.append(count)
    return excerpt.bytes + entries.bytes
  }
}

extension ValueWalker {
  /// Tells key, tag and bytes of every entry of a record, as far as it can be read.
  fileprivate func visitEntries(
    _ body: (UnsafeBufferPointer<UInt8>, UInt8, Range<Int>) -> Void
  ) throws(CodingFailure) {
    var cursor = cursor(at: 0)
    func visit(_ key: UnsafeBufferPointer<UInt8>, _ tag: UInt8) throws(CodingFailure) {
      let start = cursor.offset
      try skip(tag, &cursor)
      unsafe body(key, tag, start..<cursor.offset)
    }
    switch try cursor.readTag() {
    case ValueTag.object:
      let shape = try unsafe readShape(&cursor)
      for index in shape.indices {
        let field = unsafe shape[index]
        var tag = UInt8(truncatingIfNeeded: field)
        if tag == ValueTag.any { tag = try cursor.readTag() }
        if tag != ValueTag.absent { try unsafe visit(tables.key(Int(field >> 8)), tag) }
      }
    case ValueTag.map:
      let tag = try cursor.readByte()
      for _ in 0..<(try cursor.readCount(ofSize: 2)) {
        let key = try unsafe cursor.readBytes()
        try unsafe visit(key, tag == ValueTag.any ? cursor.readTag() : tag)
      }
    default: break
    }
  }
}
