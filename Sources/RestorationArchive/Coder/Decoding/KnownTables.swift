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

  init(_ content: TableContent, bytes: UnsafeRawBufferPointer) {
    self.content = content
    unsafe self.bytes = bytes.count <= Self.keptByteCount ? Array(bytes) : []
    identity = DecodePool.makeIdentity()
  }
}

extension DecodeState {
  /// Reads the tables at a cursor, or takes those of the last value when the same bytes come again.
  ///
  /// Tables tell themselves where they end: bytes that begin as tables that were read before are those tables.
  mutating func readTables(_ cursor: inout ByteCursor) throws(CodingFailure) -> KnownTables {
    if let known = knownTables, cursor.begins(with: known.bytes) {
      unsafe cursor.next += known.bytes.count
      return known
    }
    let start = unsafe cursor.next
    var content = TableContent()
    try content.append(&cursor)
    let tables = unsafe KnownTables(content, bytes: UnsafeRawBufferPointer(start: start, count: cursor.next - start))
    knownTables = tables.bytes.isEmpty ? nil : tables
    return tables
  }
}

extension ByteCursor {
  /// Whether some bytes come next; there are none that begin with nothing.
  fileprivate func begins(with bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.count <= remaining else { return false }
    let next = unsafe UnsafeRawBufferPointer(start: next, count: bytes.count)
    return unsafe bytes.withUnsafeBytes { unsafe next.hasSameBytes(as: $0) }
  }
}
