public import FoundationShim

/// Decodes what ``ArchiveEncoder`` encoded; any bytes are safe to give to it.
///
/// Damaged bytes throw `DecodingError.dataCorrupted`, with an error underneath that tells the position; so do bytes of a
/// newer version of the format. The decoder never traps, never recurses deeper than ``depthLimit`` by itself, and takes
/// at most four times the memory of the bytes for itself. Errors of types that do not fit are those of Foundation's
/// coders.
///
/// A key is the one with the same bytes; where there is none, one whose spelling Unicode calls equivalent.
public struct ArchiveDecoder: Sendable {
  /// What the decoded values find in their decoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The greatest depth: how many levels values may be nested in each other.
  ///
  /// 128 unless set, 1 024 at most. An object is a level, and so is a list or a dictionary: a tree whose nodes have a
  /// list of children takes two levels a node. A deeper value throws. Each level takes stack, up to 2.7 KB in a debug
  /// build: the usual limit fits a thread that has 512 KB. Set the same for encoding and decoding.
  public var depthLimit = CodingLimits.usualDepth

  /// Makes a decoder; it can be used any number of times, from any thread.
  public init() {}

  /// Decodes a value.
  ///
  /// Throws `DecodingError`, or whatever the type's own `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type = T.self, from data: Data) throws -> T {
    try data.withBytes { try decode(type, $0) }
  }

  /// Decodes a value, and notes the stored fields that its type does not know.
  package func decode<T: Decodable>(_ type: T.Type, from data: Data, noting unknown: UnknownFields?) throws -> T {
    try data.withBytes { try decode(type, $0, noting: unknown) }
  }

  private func decode<T: Decodable>(
    _ type: T.Type, _ bytes: Borrowed<UInt8>, noting unknown: UnknownFields? = nil
  ) throws -> T {
    try DecodePool.withSession { session in
      let state = session.state
      var cursor = ByteCursor(bytes)
      let tag: UInt8
      let tables: KnownTables
      do throws(ArchiveError) {
        tag = try CodedHeader.read(&cursor)
        tables = try state.pointee.readTables(&cursor)
      } catch { throw error.decodingError([]) }
      return try tables.content.withView { view in
        let root = state.begin(
          bytes, view, identity: tables.identity, userInfo: userInfo, depthLimit: depthLimit)
        // The tables took their share of four times the input already.
        state.pointee.preallocationBudget -= 2 * cursor.offset
        if let unknown { state.pointee.unknownFields = (unknown, root.pointee.depth + 1) }
        let value = try root.read(type, tag, &cursor)
        guard cursor.remaining == 0 else {
          throw cursor.corrupt("there are more bytes than the value has").decodingError([])
        }
        return value
      }
    }
  }
}

extension CodedHeader {
  /// Reads the start of a self-contained value and tells the tag of the value.
  static func read(_ cursor: inout ByteCursor) throws(ArchiveError) -> UInt8 {
    for byte in magic {
      guard try cursor.readByte() == byte else {
        throw ArchiveError(.notAnArchive, "this was not made by an ArchiveEncoder", offset: 0)
      }
    }
    let version = try cursor.readByte()
    guard 1...Self.version ~= version else {
      throw ArchiveError(.unsupportedVersion, "format version \(version) is unknown", offset: 2)
    }
    return try cursor.readTag()
  }
}

extension DecodeStateRef {
  /// Makes a state ready for bytes and gives the frame that they are decoded in.
  func begin(
    _ bytes: Borrowed<UInt8>, _ tables: TableView, identity: UInt64,
    userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int
  ) -> DecodeFrameRef {
    guard let root = pointee.root else { preconditionFailure("a state without a frame") }
    pointee.bytes = bytes
    pointee.tables = tables
    if identity == 0 || identity != pointee.tablesIdentity {
      pointee.tablesEpoch += 1
      pointee.tablesIdentity = identity
    }
    if !userInfo.isEmpty { pointee.userInfo = userInfo }
    pointee.depthLimit = min(max(depthLimit, 1), CodingLimits.depth)
    pointee.preallocationBudget = 2 * bytes.count + 4096
    root.pointee.depth = 0
    root.pointee.pathKind = .none
    return root
  }
}
