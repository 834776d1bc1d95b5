package import FoundationEssentials

/// The interned keys and the shapes of one archive: they grow while records are encoded and never shrink.
///
/// A base's tables with the additions of its deltas, in their order, are the tables of the lineage.
package struct CodingTables: Sendable {
  /// A point in the growth of the tables, to ask later for what came after it.
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

  /// Where the tables are now.
  package var mark: Mark { storage.mark }

  /// The bytes of everything that was added since a mark, for ``append(parsing:)``.
  package func additions(since mark: Mark = .start) -> [UInt8] {
    var bytes: [UInt8] = []
    storage.content.write(from: mark, into: &bytes)
    return bytes
  }

  /// Adds what ``additions(since:)`` of the same tables wrote; hostile bytes throw and leave the tables as they were.
  package mutating func append(parsing bytes: Data) throws(ArchiveError) {
    var content = storage.content
    // Let go of, so that nothing is copied when nobody shares the tables: a journal may bring a thousand additions.
    storage = TableStorage(TableContent())
    let before = Mark(keys: content.keyCount, shapes: content.shapeCount)
    var failure: CodingFailure?
    unsafe bytes.withUnsafeBytes { bytes in
      var cursor = unsafe ByteCursor(bytes)
      do throws(CodingFailure) {
        try content.append(&cursor)
        if cursor.remaining > 0 { throw cursor.corrupt("there are more bytes than the tables have") }
      } catch { failure = error }
    }
    if failure != nil { content.remove(after: before) }
    storage = TableStorage(content)
    if let failure { throw failure.archiveError }
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

  /// The state that encodes against these tables, which nobody else shares from now on.
  mutating func takeEncodingState() -> EncodeStateRef {
    if !isKnownUniquelyReferenced(&storage) { storage = TableStorage(storage.content) }
    return unsafe storage.encodingState()
  }
}

/// The tables behind a ``CodingTables``, with the state that encodes against them once there is one.
@safe final class TableStorage: @unchecked Sendable {
  // Sendable: it is changed only through a reference that is known to be the only one.

  private var stored: TableContent
  private var state: EncodeStateRef?

  init(_ content: TableContent) {
    stored = content
    unsafe state = nil
  }

  deinit {
    guard let state = unsafe state else { return }
    unsafe state.pointee.universe.content = TableContent()
    unsafe EncodePool.giveBack(state)
  }

  /// The keys and shapes; while there is an encoding state they live in it.
  var content: TableContent { unsafe state?.pointee.universe.content ?? stored }

  /// Where the tables are now.
  var mark: CodingTables.Mark {
    if let universe = unsafe state?.pointee.universe {
      return CodingTables.Mark(keys: universe.content.keyCount, shapes: universe.content.shapeCount)
    }
    return CodingTables.Mark(keys: stored.keyCount, shapes: stored.shapeCount)
  }

  /// Lends the tables as memory.
  @inline(__always)
  func withView<Result>(_ body: (TableView) throws -> Result) rethrows -> Result {
    // Tables that encode are copied: encoding may go on inside the body.
    try unsafe state == nil ? stored.withView(body) : content.withView(body)
  }

  /// The state, which knows the tables.
  func encodingState() -> EncodeStateRef {
    if let state = unsafe state {
      if unsafe !state.pointee.universe.isBloatedBeyondTables { return unsafe state }
      // It learnt much that the tables do not need: begin anew with the tables alone.
      let content = unsafe state.pointee.universe.content
      unsafe state.pointee.attach(EncodingUniverse())
      unsafe state.pointee.universe.begin(with: content)
      return unsafe state
    }
    let taken = unsafe EncodePool.take()
    unsafe taken.pointee.universe.begin(with: stored)
    stored = TableContent()
    unsafe state = taken
    return unsafe taken
  }
}
