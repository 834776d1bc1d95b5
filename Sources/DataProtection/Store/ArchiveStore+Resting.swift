import FileSystem
import FoundationShim
import Sealing
import Synchronization

extension ArchiveStore {
  /// Lets the slot go like ``close()``; ``resume()`` goes on where this stops, as long as nobody writes meanwhile.
  ///
  /// Keeps the newest generation's file open, and its key until its class's keys go.
  func rest() {
    turn.take {
      let base = state.withLock { state in
        state.flatMap {
          !$0.isUnknown && !$0.isReopened && $0[base: .root]?.isAppendable == true ? $0[base: .root] : nil
        }
      }
      rested.withLock { $0 = base }
      letGo()
    }
  }

  /// Forgets where ``rest()`` stopped.
  func forgetRest() { rested.withLock { $0 = nil } }

  /// Takes the slot, and goes on where ``rest()`` stopped.
  ///
  /// What this store has made durable then is so still: nothing has to be read, and nothing written once more.
  /// - Returns: The last commitment of what the store knows; nil when somebody has written since, or nothing is known.
  func resume() throws(ProtectionError) -> [UInt8]? {
    let known = rested.withLock { base in
      defer { base = nil }
      return base
    }
    return try writing { state throws(ProtectionError) -> [UInt8]? in
      guard let base = known, !state.reading.isUnlisted, state.reading.ledger.value?.current?.parts == [base.part],
        try isUnchanged(base, in: state.slot)
      else { return nil }
      state[base: .root] = base
      state.isReopened = false
      return base.commitment
    }
  }

  /// The last commitment of the generation that this store appends to; nil when it has none.
  var lastCommitment: [UInt8]? { state.withLock { $0?[base: .root]?.commitment } }

  /// Whether nothing follows the last frame that this store knows, in the same file.
  private func isUnchanged(
    _ base: ArchiveStoreState.Base, in slot: SlotDirectory
  ) throws(ProtectionError) -> Bool {
    try attempt("look at a file") { () throws(FileSystemError) in
      let named = try store.fileSystem.statusIfAny(ofName: base.part.file.text, in: slot.descriptor)
      guard let named, try named.identity == base.file.identity() else { return false }
      // A frame begins with a length that is not zero, and is written from there on.
      let next = try store.fileSystem.readBytes(
        base.file.descriptor, count: FrameScan.lengthByteCount, at: Int64(base.end))
      return next.allSatisfy { $0 == 0 }
    }
  }

  /// The length of a generation's content, as its file says: with the frames that make it longer.
  func plaintextByteCount(
    of part: Ledger.Part, _ status: FileStatus, in slot: SlotDirectory
  ) throws(ProtectionError) -> Int {
    if UInt64(clamping: status.byteCount) == part.byteCount {
      let message = Int(clamping: part.byteCount) - SealedFileHeader.byteCount(for: part.protection)
      return ChunkedEncryption.plaintextByteCount(ofMessage: message) ?? 0
    }
    guard let file = try slot.open(part.file) else { return 0 }
    let claims = try store.claims(of: file)
    var count = ChunkedEncryption.plaintextByteCount(ofMessage: claims.fields.messageByteCount) ?? 0
    guard claims.fields.kind == .file else { return count }
    let end = min(file.byteCount, claims.frameRoom.upperBound)
    var position = claims.endOffset
    for _ in 0..<claims.frameLimit {
      let start = position + FrameScan.lengthByteCount
      guard start <= end, let (length, grows) = FrameScan.length(try file.read(position..<start)[...]),
        length <= end - start
      else { break }
      if grows, let patch = ChunkedEncryption.plaintextByteCount(ofMessage: length) {
        count += max(0, patch - FilePatch.offsetByteCount)
      }
      position = start + length
    }
    return count
  }
}
