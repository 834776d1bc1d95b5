/// The tables of a self-contained value: values of one kind mostly come with the same ones, byte for byte.
final class KnownTables {
  /// The keys and shapes.
  let content: TableContent
  /// A number that no other tables have.
  let identity: UInt64
  /// The bytes they were read from; none when there were too many to be kept.
  let bytes: [UInt8]

  /// Longer tables are read anew each time.
  static let keptByteCount = 4096

  init(_ content: TableContent, bytes: Borrowed<UInt8>) {
    self.content = content
    self.bytes = bytes.count <= Self.keptByteCount ? bytes.array : []
    identity = DecodePool.makeIdentity()
  }
}

extension DecodeState {
  /// Reads the tables at a cursor, or takes those of the last value when the same bytes come again.
  ///
  /// Tables tell themselves where they end: bytes that begin as tables that were read before are those tables.
  mutating func readTables(_ cursor: inout ByteCursor) throws(ArchiveError) -> KnownTables {
    let start = cursor.offset
    if let known = knownTables, known.bytes.count <= cursor.remaining, !known.bytes.isEmpty {
      let next = cursor.bytes(in: start..<start + known.bytes.count)
      if known.bytes.withBorrowed({ $0.hasSameBytes(as: next) }) {
        cursor.move(to: start + known.bytes.count)
        return known
      }
    }
    var content = TableContent()
    try content.append(&cursor)
    let tables = KnownTables(content, bytes: cursor.bytes(in: start..<cursor.offset))
    knownTables = tables.bytes.isEmpty ? nil : tables
    return tables
  }
}
