/// Encodes the state of one node after another against shared tables.
///
/// A record is a tag, `object` or `map`, and its payload: the entries' keys are the object's.
package struct RecordEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other.
  package var depthLimit = 64

  /// Makes an encoder.
  package init(userInfo: [CodingUserInfoKey: any Sendable] = [:], depthLimit: Int = 64) {
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
    let state = unsafe tables.takeEncodingState()
    defer { unsafe state.pointee.reset() }
    unsafe state.prepare(userInfo: userInfo, depthLimit: depthLimit)
    let root = unsafe state.pointee.root
    do {
      unsafe state.pointee.writeByte(ValueTag.absent)
      let frame = unsafe try root.push()
      unsafe frame.openRecord()
      for entry in entries { try unsafe frame.encode(entry) }
      unsafe state.pointee.base[0] = frame.close()
      unsafe root.pop(frame)
      if let misuse = unsafe state.pointee.misuse { throw misuse }
    } catch {
      unsafe root.pop(root.pointee.child!)
      throw ArchiveError(
        .encodingFailed, "a value could not be encoded; see the cause for the key and the reason", cause: error)
    }
    return unsafe [UInt8](UnsafeBufferPointer(start: state.pointee.base, count: state.pointee.count))
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Starts the object of a record.
  fileprivate func openRecord() {
    let state = unsafe pointee.state
    unsafe pointee.kind = .shape
    unsafe pointee.facts = state.pointee.universe.recordFacts
    unsafe pointee.node = pointee.facts.pointee.root
    unsafe state.pointee.writeByte(0)
  }

  /// Encodes an entry of a record.
  fileprivate func encode(_ entry: RestorationArchive.Entry) throws {
    let universe = unsafe pointee.state.pointee.universe
    // Records of one kind come with the same keys in the same order: try the one that came last time.
    let likely = unsafe UInt32(truncatingIfNeeded: pointee.node.pointee.lastEdge >> 8)
    let isLikely = likely != 0 && universe.keys[Int(likely)].hasSameBytes(as: entry.key)
    let key = isLikely ? likely : universe.number(of: entry.key)
    unsafe pointee.setCurrentText(entry.key)
    let tag = try unsafe encodeAny(entry.value)
    if tag == ValueTag.null {
      unsafe pointee.state.pointee.writeByte(ValueTag.null)
      unsafe advance(key, ValueTag.any)
    } else {
      unsafe advance(key, tag)
    }
  }

  private func encodeAny(_ value: some Encodable) throws -> UInt8 { try unsafe encode(value) }
}
