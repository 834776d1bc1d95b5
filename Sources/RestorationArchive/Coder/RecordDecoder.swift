package import FoundationShim

/// Decodes the entries of one record, one by one, as they are asked for.
package struct RecordDecoder: Sendable {
  /// How many entries there are, those included that turn out to hold nothing.
  package let entryCount: Int
  private let bytes: Data
  private let tables: PinnedTables
  private let depthLimit: Int

  /// How many bytes the record has.
  package var byteCount: Int { bytes.count }

  /// The same record in memory of its own, so that what it was a part of can go.
  package func compacted() -> RecordDecoder { RecordDecoder(copying: self) }

  private init(copying other: RecordDecoder) {
    entryCount = other.entryCount
    bytes = Data(Array(other.bytes))
    tables = other.tables
    depthLimit = other.depthLimit
  }

  /// Makes a decoder and checks the whole outline.
  ///
  /// The record has keys, the tables know them, and every value ends before the bytes do: so ``keys`` and
  /// ``contains(_:)`` have no damage to hide. Values of a greater depth than the limit throw when they are decoded.
  package init(
    _ bytes: Data, tables: PinnedTables, depthLimit: Int = CodingLimits.usualDepth
  ) throws(ArchiveError) {
    self.bytes = bytes
    self.tables = tables
    self.depthLimit = depthLimit
    entryCount = try bytes.parse { (cursor) throws(ArchiveError) in
      let tag = try cursor.readTag()
      guard tag == ValueTag.object || tag == ValueTag.map else {
        throw ArchiveError(.corrupt, "a record is not a list of values under keys", offset: 0)
      }
      var counter = EntryCounter()
      try ValueWalker(tables: tables.view, depthLimit: CodingLimits.depth).walk(tag, &cursor, &counter)
      guard cursor.remaining == 0 else { throw cursor.corrupt("a record has bytes too many") }
      return counter.count
    }
  }

  /// The keys, in the order in which they were encoded.
  package var keys: [String] {
    (try? withEntries { $0.allKeys() }) ?? []
  }

  /// Whether there is an entry with a key.
  package func contains(_ key: String) -> Bool {
    (try? withEntries { frame in
      var cursor = frame.cursor(at: 0)
      return try frame.enter(key, &cursor) != nil
    }) ?? false
  }

  /// Decodes the entry with a key: `keyNotFound` when there is none, `decodingFailed` or `corrupt` when it doesn't fit.
  package func decode<T: Decodable>(
    _ type: T.Type, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(ArchiveError) -> T {
    guard let value = try read(type, key, userInfo, nullIsNil: false) else {
      throw ArchiveError(.keyNotFound, "nothing is stored under \"\(key)\"")
    }
    return value
  }

  /// Decodes the entry with a key, found in the same pass; nil when there is none, or a null.
  ///
  /// - Parameter unknown: Notes the stored fields that the type does not know.
  package func decodeIfPresent<T: Decodable>(
    _ type: T.Type, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:],
    noting unknown: UnknownFields? = nil
  ) throws(ArchiveError) -> T? {
    try read(type, key, userInfo, nullIsNil: true, noting: unknown)
  }

  private func read<T: Decodable>(
    _ type: T.Type, _ key: String, _ userInfo: [CodingUserInfoKey: any Sendable], nullIsNil: Bool,
    noting unknown: UnknownFields? = nil
  ) throws(ArchiveError) -> T? {
    // Not the result of the closures: each would be generic over it, and ask the runtime for its type.
    var value: T?
    do {
      try withEntries(userInfo: userInfo) { frame in
        var cursor = frame.cursor(at: 0)
        guard let tag = try frame.enter(key, &cursor), !nullIsNil || tag != ValueTag.null else { return }
        frame.pointee.current.set(.text(key))
        if let unknown { frame.pointee.state.pointee.unknownFields = (unknown, frame.pointee.depth + 1) }
        value = try frame.read(type, tag, &cursor)
      }
    } catch { throw Self.archiveError(error) }
    return value
  }

  /// The error of decoding a value, as an error of this module.
  static func archiveError(_ error: any Error) -> ArchiveError {
    if case DecodingError.dataCorrupted(let context) = error, var known = context.underlyingError as? ArchiveError {
      known.cause = error
      return known
    }
    return ArchiveError(.decodingFailed, "a value could not be decoded; see the cause", cause: error)
  }

  /// Lends the record's object as a frame.
  func withEntries<Result>(
    userInfo: [CodingUserInfoKey: any Sendable] = [:], _ body: (DecodeFrameRef) throws -> Result
  ) throws -> Result {
    try bytes.withBytes { bytes in
      try DecodePool.withSession(for: tables.identity) { session in
        let root = session.state.begin(
          bytes, tables.view, identity: tables.identity, userInfo: userInfo, depthLimit: depthLimit)
        let frame = try root.push(bytes[0], at: 1)
        defer { root.pop(frame) }
        try frame.openKeyed(session.state.pointee.info(of: AnyCodingKey.self))
        return try body(frame)
      }
    }
  }
}

private struct EntryCounter: ValueVisitor {
  static var seesEntries: Bool { true }
  var count = 0
  mutating func visit(_ entry: ValueEntry) { count += 1 }
}

extension DecodeFrameRef {
  /// Puts a cursor at the payload of a key's entry and tells its tag; nil when there is none.
  fileprivate func enter(_ key: String, _ cursor: inout ByteCursor) throws -> UInt8? {
    guard let index = try key.withBytes({ try find($0) }) else { return nil }
    if pointee.offsets == nil {
      // Walk there: one entry is wanted, so remembering where the others are would not pay.
      let walker = walker()
      do throws(ArchiveError) {
        var place = self.cursor(at: pointee.next)
        for passed in pointee.index..<index { try skipEntry(passed, &place, walker) }
        pointee.next = place.offset
        pointee.index = index
      } catch { throw error.decodingError(path()) }
    }
    let tag = try open(entry: index, &cursor)
    return tag == ValueTag.absent ? nil : tag
  }
}
