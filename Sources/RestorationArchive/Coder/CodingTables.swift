package import FoundationShim

/// The interned keys and the shapes of one archive: they grow while records are encoded and never shrink.
///
/// A base's tables with the additions of its deltas, in their order, are the tables of the lineage.
package struct CodingTables: Sendable {
  /// A point in the growth of the tables, to ask later for the entries after it.
  package struct Mark: Hashable, Sendable {
    /// The number of keys there were.
    package var keys: Int
    /// The number of shapes there were.
    package var shapes: Int

    /// Makes a mark from numbers that were stored.
    package init(keys: Int, shapes: Int) {
      self.keys = keys
      self.shapes = shapes
    }

    /// The mark of empty tables.
    package static let start = Mark(keys: 0, shapes: 0)
  }

  private var storage = TableStorage(TableContent())

  /// Makes empty tables.
  package init() {}

  /// Makes tables of their content.
  init(_ content: TableContent) { storage = TableStorage(content) }

  /// Where the tables are now.
  package var mark: Mark { storage.mark }

  /// The bytes of everything that was added since a mark, for ``append(parsing:)``.
  package func additions(since mark: Mark = .start) -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    storage.content.write(from: mark, into: &writer)
    return writer.array
  }

  /// Adds what ``additions(since:)`` of the same tables wrote; hostile bytes throw and leave the tables as they were.
  package mutating func append(parsing bytes: Data) throws(ArchiveError) {
    var content = storage.content
    // Let go of, so that nothing is copied when nobody shares the tables: a journal may bring a thousand additions.
    storage = TableStorage(TableContent())
    let before = Mark(keys: content.keyCount, shapes: content.shapeCount)
    defer { storage = TableStorage(content) }
    do {
      try bytes.parse { (cursor) throws(ArchiveError) in
        try content.append(&cursor)
        if cursor.remaining > 0 { throw cursor.corrupt("there are more bytes than the tables have") }
      }
    } catch {
      content.remove(after: before)
      throw error
    }
  }

  /// Takes content that goes on from what the tables hold.
  mutating func replace(_ content: TableContent) { storage = TableStorage(content) }

  /// What the tables hold.
  var content: TableContent { storage.content }

  /// The tables as they are now, for decoding.
  package func pinned() -> PinnedTables { PinnedTables(storage.content) }

  /// Lends what the tables hold as memory.
  @inline(__always)
  func withView<Result>(_ body: (TableView) throws -> Result) rethrows -> Result { try storage.withView(body) }

  /// The session that encodes against these tables, which nobody else shares from now on.
  mutating func takeEncodingSession() -> EncodeSession {
    if !isKnownUniquelyReferenced(&storage) { storage = TableStorage(storage.content) }
    return storage.encodingSession()
  }
}

/// The tables behind a ``CodingTables``, with the session that encodes against them once there is one.
final class TableStorage: @unchecked Sendable {
  // Sendable: it is changed only through a reference that is known to be the only one.

  private var stored: TableContent
  private var session: EncodeSession?

  init(_ content: TableContent) { stored = content }

  deinit {
    guard let session else { return }
    session.state.pointee.interner.content = TableContent()
    EncodePool.giveBack(session)
  }

  private var interner: ShapeInterner? { session?.state.pointee.interner }

  /// The keys and shapes; while there is an encoding session they live in it.
  var content: TableContent { interner?.content ?? stored }

  /// Where the tables are now.
  var mark: CodingTables.Mark {
    if let interner { return interner.content.mark }
    return stored.mark
  }

  /// Lends the tables as memory.
  @inline(__always)
  func withView<Result>(_ body: (TableView) throws -> Result) rethrows -> Result {
    // Tables that encode are copied: encoding may go on inside the body.
    try session == nil ? stored.withView(body) : content.withView(body)
  }

  /// The session, which knows the tables.
  func encodingSession() -> EncodeSession {
    if let session, !session.state.pointee.interner.isBloatedBeyondTables { return session }
    // One that learnt much that the tables do not need begins anew with the tables alone.
    let content = content
    let taken = session ?? EncodePool.take()
    if session != nil { taken.state.pointee.attach(ShapeInterner()) }
    taken.state.pointee.interner.begin(with: content)
    stored = TableContent()
    session = taken
    return taken
  }
}
