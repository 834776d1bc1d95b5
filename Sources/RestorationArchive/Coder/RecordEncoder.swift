/// Encodes the state of one node after another against shared tables.
///
/// A record is a tag, `object` or `map`, and its payload: the entries' keys are the object's.
package struct RecordEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The greatest depth of a value; see ``ArchiveEncoder/depthLimit``.
  package var depthLimit: Int

  /// Makes an encoder.
  package init(userInfo: [CodingUserInfoKey: any Sendable] = [:], depthLimit: Int = CodingLimits.usualDepth) {
    self.userInfo = userInfo
    self.depthLimit = depthLimit
  }

  /// Encodes entries in the given order and adds the keys and shapes they need to the tables.
  ///
  /// The same entries against the same tables give the same bytes, unless their types have so many kinds of state that
  /// some are written as maps. Of two entries with one key the last counts.
  /// When it throws (`encodingFailed` with the `EncodingError` as cause), the tables may have grown, to no harm.
  package func encode(
    _ entries: [RestorationArchive.Entry], tables: inout CodingTables
  ) throws(ArchiveError) -> [UInt8] {
    let session = tables.takeEncodingSession()
    let state = session.state
    defer { state.pointee.reset() }
    let root = state.prepare(userInfo: userInfo, depthLimit: depthLimit)
    do {
      state.pointee.writer.writeByte(ValueTag.absent)
      let frame = try root.inside { frame in
        frame.openRecord()
        for entry in entries { try frame.encode(entry) }
      }
      state.pointee.writer[0] = frame.close()
      root.pop(frame)
      if let misuse = state.pointee.misuse { throw misuse }
    } catch {
      throw ArchiveError(
        .encodingFailed, "a value could not be encoded; see the cause for the key and the reason", cause: error)
    }
    return state.pointee.writer.array
  }
}

extension EncodeFrameRef {
  /// Starts the object of a record.
  fileprivate func openRecord() {
    let info = pointee.state.pointee.interner.recordInfo
    guard let root = info.pointee.root else { preconditionFailure("a key type of a decoder") }
    pointee.kind = .shape
    pointee.info = info
    pointee.node = root
    pointee.state.pointee.writer.writeByte(0)
  }

  /// Encodes an entry of a record.
  fileprivate func encode(_ entry: RestorationArchive.Entry) throws {
    let interner = pointee.state.pointee.interner
    // Records of one kind come with the same keys in the same order: try the one that came last time.
    let likely = UInt32(truncatingIfNeeded: pointee.node.pointee.lastEdge >> 8)
    let isLikely = likely != 0 && interner.keys[Int(likely)].hasSameBytes(as: entry.key)
    let key = isLikely ? likely : interner.number(of: entry.key)
    pointee.current.set(.text(entry.key))
    var tag = try encodeAny(entry.value)
    if tag == ValueTag.null {
      pointee.state.pointee.writer.writeByte(ValueTag.null)
      tag = ValueTag.any
    }
    advance(key, tag)
  }

  private func encodeAny(_ value: some Encodable) throws -> UInt8 { try encode(value) }
}
