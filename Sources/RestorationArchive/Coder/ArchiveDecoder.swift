public import FoundationEssentials

/// Decodes what ``ArchiveEncoder`` encoded; any bytes are safe to give to it.
///
/// Damaged bytes throw `DecodingError.dataCorrupted` with an ``ArchiveError`` underneath that tells the position. The
/// decoder never traps, never recurses deeper than ``depthLimit`` by itself, and takes at most four times the memory of
/// the bytes for itself. Errors of types that do not fit are those of Foundation's coders.
///
/// A key is the one with the same bytes; where there is none, one whose spelling Unicode calls equivalent.
public struct ArchiveDecoder: Sendable {
  /// What the decoded values find in their decoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other; deeper values throw.
  ///
  /// 64 unless set, 1 024 at most.
  public var depthLimit = 64

  /// Makes a decoder; it can be used any number of times, from any thread.
  public init() {}

  /// Decodes a value.
  ///
  /// Throws `DecodingError`, or whatever the type's own `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from data: Data) throws -> T {
    try unsafe data.withUnsafeBytes { unsafe try decode(type, fromMemory: $0) }
  }

  /// Decodes a value from borrowed bytes.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: RawSpan) throws -> T {
    try unsafe bytes.withUnsafeBytes { unsafe try decode(type, fromMemory: $0) }
  }

  private func decode<T: Decodable>(_ type: T.Type, fromMemory bytes: UnsafeRawBufferPointer) throws -> T {
    let state = unsafe DecodePool.take()
    defer { unsafe DecodePool.giveBack(state) }
    var tag = ValueTag.absent
    var start = 0
    let tables: KnownTables
    do throws(CodingFailure) {
      var cursor = unsafe ByteCursor(bytes)
      tag = try CodedHeader.read(&cursor)
      tables = try unsafe state.pointee.readTables(&cursor)
      start = cursor.offset
    } catch { throw error.decodingError([]) }
    return try tables.content.withView { view in
      unsafe state.pointee.begin(
        bytes, view, identity: tables.identity, userInfo: userInfo, depthLimit: depthLimit)
      // The tables took their share of four times the input already.
      unsafe state.pointee.allowance -= 2 * start
      let root = unsafe state.pointee.root
      var cursor = unsafe root.cursor(at: state.pointee.base + start)
      let value = try unsafe root.read(type, tag, &cursor)
      guard cursor.remaining == 0 else {
        throw cursor.corrupt("there are more bytes than the value has").decodingError([])
      }
      return value
    }
  }
}

extension CodedHeader {
  /// Reads the start of a self-contained value and tells the tag of the value.
  static func read(_ cursor: inout ByteCursor) throws(CodingFailure) -> UInt8 {
    for byte in magic {
      guard try cursor.readByte() == byte else {
        throw CodingFailure("this was not made by an ArchiveEncoder", at: 0, code: .notAnArchive)
      }
    }
    let version = try cursor.readByte()
    guard 1...Self.version ~= version else {
      throw CodingFailure("format version \(version) is unknown", at: 2, code: .unsupportedVersion)
    }
    return try cursor.readTag()
  }
}

extension ByteCursor {
  /// A cursor at the start of bytes, which may be none.
  init(_ bytes: UnsafeRawBufferPointer) {
    let start = unsafe bytes.baseAddress.map { unsafe $0.assumingMemoryBound(to: UInt8.self) } ?? DecodeState.nowhere
    unsafe self.init(next: start, end: start + bytes.count, base: start)
  }
}

extension DecodeState {
  /// Makes a state ready for bytes.
  mutating func begin(
    _ bytes: UnsafeRawBufferPointer, _ tables: TableView, identity: UInt64,
    userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int
  ) {
    let cursor = unsafe ByteCursor(bytes)
    unsafe base = cursor.base
    unsafe end = cursor.end
    self.tables = tables
    if identity == 0 || identity != tablesIdentity {
      tablesEpoch += 1
      tablesIdentity = identity
    }
    if !userInfo.isEmpty { self.userInfo = userInfo }
    self.depthLimit = min(max(depthLimit, 1), 1024)
    allowance = 2 * bytes.count + 4096
    unsafe root.pointee.depth = 0
    unsafe root.pointee.pathKind = .none
  }
}
