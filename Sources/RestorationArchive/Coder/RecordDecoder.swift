package import FoundationEssentials

/// Decodes the entries of one record, one by one, as they are asked for.
package struct RecordDecoder: Sendable {
  /// How many entries there are, those included that turn out to hold nothing.
  package let entryCount: Int
  private let bytes: Data
  private let tables: PinnedTables

  /// Makes a decoder and checks the record's outline: that it has keys and knows the tables.
  package init(_ bytes: Data, tables: PinnedTables) throws(ArchiveError) {
    self.bytes = bytes
    self.tables = tables
    if let count = Self.fieldCount(of: bytes, tables) {
      entryCount = count
      return
    }
    do {
      entryCount = try unsafe Self.withEntries(of: bytes, tables) { unsafe $0.pointee.count }
    } catch { throw Self.archiveError(error, path: nil) }
  }

  /// The keys, in the order in which they were encoded.
  package var keys: [String] {
    (try? unsafe withEntries { unsafe $0.allKeys() }) ?? []
  }

  /// Whether there is an entry with a key.
  package func contains(_ key: String) -> Bool {
    (try? unsafe withEntries { frame in
      var cursor = unsafe frame.cursor(at: frame.pointee.next)
      return try unsafe frame.enter(key, &cursor) != nil
    }) ?? false
  }

  /// Decodes the entry with a key: `keyNotFound` when there is none, `decodingFailed` or `corrupt` when it doesn't fit.
  package func decode<T: Decodable>(
    _ type: T.Type, forKey key: String, path: RestorationPath? = nil, userInfo: [CodingUserInfoKey: any Sendable] = [:],
    depthLimit: Int = 64
  ) throws(ArchiveError) -> T {
    guard
      let value = try decodeIfPresent(type, forKey: key, path: path, userInfo: userInfo, depthLimit: depthLimit)
    else {
      if contains(key), let none = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? T { return none }
      throw ArchiveError(.keyNotFound, "nothing is stored under \"\(key)\"", path: path)
    }
    return value
  }

  /// Decodes the entry with a key, found in the same pass; nil when there is none.
  package func decodeIfPresent<T: Decodable>(
    _ type: T.Type, forKey key: String, path: RestorationPath? = nil, userInfo: [CodingUserInfoKey: any Sendable] = [:],
    depthLimit: Int = 64
  ) throws(ArchiveError) -> T? {
    do {
      return try unsafe withEntries(userInfo: userInfo, depthLimit: depthLimit) { frame -> T? in
        var cursor = unsafe frame.cursor(at: frame.pointee.next)
        // A stored nil is nil, as in Codable.
        guard let tag = try unsafe frame.enter(key, &cursor), tag != ValueTag.null else { return nil }
        unsafe frame.pointee.setCurrentText(key)
        return try unsafe frame.read(type, tag, &cursor)
      }
    } catch { throw Self.archiveError(error, path: path) }
  }

  /// The number of fields of an object whose shape the tables know, without a frame for it; nil for any other bytes.
  private static func fieldCount(of bytes: Data, _ tables: PinnedTables) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      var cursor = unsafe ByteCursor(bytes)
      guard (try? cursor.readTag()) == ValueTag.object else { return nil }
      return unsafe try? ValueWalker(bytes, tables: tables.view, depthLimit: 0).readShape(&cursor).count
    }
  }

  private static func archiveError(_ error: any Error, path: RestorationPath?) -> ArchiveError {
    if case DecodingError.dataCorrupted(let context) = error, var known = context.underlyingError as? ArchiveError {
      known.path = path
      known.cause = error
      return known
    }
    return ArchiveError(.decodingFailed, "a value could not be decoded; see the cause", path: path, cause: error)
  }

  /// Lends the record's object as a frame.
  private func withEntries<Result>(
    userInfo: [CodingUserInfoKey: any Sendable] = [:], depthLimit: Int = 64,
    _ body: (DecodeFrameRef) throws -> Result
  ) throws -> Result {
    try unsafe Self.withEntries(of: bytes, tables, userInfo: userInfo, depthLimit: depthLimit, body)
  }

  private static func withEntries<Result>(
    of bytes: Data, _ tables: PinnedTables, userInfo: [CodingUserInfoKey: any Sendable] = [:], depthLimit: Int = 64,
    _ body: (DecodeFrameRef) throws -> Result
  ) throws -> Result {
    try unsafe bytes.withUnsafeBytes { bytes in
      let state = unsafe DecodePool.take(for: tables.identity)
      defer { unsafe DecodePool.giveBack(state) }
      unsafe state.pointee.begin(
        bytes, tables.view, identity: tables.identity, userInfo: userInfo, depthLimit: depthLimit)
      let root = unsafe state.pointee.root
      var cursor = unsafe ByteCursor(bytes)
      let tag: UInt8
      do throws(CodingFailure) {
        tag = try cursor.readTag()
      } catch { throw error.decodingError([]) }
      let frame = try unsafe root.push(tag, at: cursor.next)
      defer { unsafe root.pop(frame) }
      try unsafe frame.openKeyed(state.pointee.facts(of: AnyCodingKey.self))
      return try unsafe body(frame)
    }
  }
}

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// Puts a cursor at the payload of a key's entry and tells its tag; nil when there is none.
  fileprivate func enter(_ key: String, _ cursor: inout ByteCursor) throws -> UInt8? {
    var key = key
    guard let index = try key.withUTF8({ unsafe try find($0) }) else { return nil }
    if unsafe pointee.offsets == nil {
      // Walk there: one entry is wanted, so remembering where the others are would not pay.
      let walker = unsafe walker
      do throws(CodingFailure) {
        var place = unsafe self.cursor(at: pointee.next)
        for passed in unsafe pointee.index..<index { try unsafe skipEntry(passed, &place, walker) }
        unsafe pointee.next = place.next
        unsafe pointee.index = index
      } catch { throw unsafe error.decodingError(path()) }
    }
    let tag = try unsafe open(entry: index, &cursor)
    return tag == ValueTag.absent ? nil : tag
  }
}
