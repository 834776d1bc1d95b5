import FileSystem
package import FoundationShim

extension ArchiveStore {
  /// Appends a change to the newest generation: one write into reserved space and one sync.
  ///
  /// - Returns: Nil when a whole generation is due instead, and nothing was written: there is no room for another frame, a
  ///   sync has failed, the class has changed, the file was removed or cut short, or this run has neither opened nor
  ///   published that generation as the newest.
  /// - Throws: `.locked`, or what the disk says; then the next save is a whole generation.
  @discardableResult
  package func append(_ frame: Data, to generation: Generation) throws(ProtectionError) -> PublishReceipt? {
    try append(frame, to: generation, at: .root, as: protection, grows: false)
  }

  /// Appends a change to one part of the newest generation.
  ///
  /// - Parameter protection: The class that the part is to have by now.
  /// - Returns: Nil when a new file of that part is due, as ``append(_:to:)``.
  @discardableResult
  package func append(
    _ frame: Data, to generation: Generation, at place: PartPlace, as protection: ProtectionClass
  ) throws(ProtectionError) -> PublishReceipt? {
    try append(frame, to: generation, at: place, as: protection, grows: false)
  }

  /// Appends a change that makes the content of a protected file longer, or another one.
  func append(_ frame: Data, to generation: Generation, grows: Bool) throws(ProtectionError) -> PublishReceipt? {
    try append(frame, to: generation, at: .root, as: protection, grows: grows)
  }

  private func append(
    _ frame: Data, to generation: Generation, at place: PartPlace, as protection: ProtectionClass, grows: Bool
  ) throws(ProtectionError) -> PublishReceipt? {
    try writing { state throws(ProtectionError) -> PublishReceipt? in
      try requireSlot(&state)
      guard state.reading.ledger.value?.current?.generation == generation.rawValue,
        var base = state[base: place], base.isAppendable,
        base.part.protection == protection, !state.isUnknown, base.frameCount < base.frameLimit
      else { return nil }
      let isOwn = try attempt("look at an archive") { () throws(FileSystemError) in
        let named = try store.fileSystem.statusIfAny(ofName: base.part.file.text, in: state.slot.descriptor)
        // One with a second name would change there, too.
        guard let named, named.byteCount >= base.end, named.linkCount == 1 else { return false }
        return try named.identity == base.file.identity()
      }
      // In a file that was removed, replaced or cut short nobody would find the change.
      guard isOwn else { return nil }
      let (message, commitment) = try base.frames.seal(
        frame, number: UInt64(base.frameCount + 1), previous: base.commitment)
      let bytes = FrameScan.bytes(of: message, grows: grows)
      guard base.end + bytes.count <= base.room.upperBound else { return nil }
      // From here on a failure may leave anything behind the last frame.
      state[base: place]?.isAppendable = false
      if state.isReopened { try makeDurable(&state) }
      state[base: place]?.isSuspect = true
      try reserve(base.end + bytes.count, &base)
      try attempt("append to an archive") { () throws(FileSystemError) in
        try unsafe store.fileSystem.writeAll(base.file.descriptor, bytes.span.bytes, at: Int64(base.end))
      }
      var durability = Durability.durable
      do throws(FileSystemError) {
        try uninterrupted { () throws(FileSystemError) in
          try store.fileSystem.synchronizeData(base.file.descriptor)
        }
      } catch {
        durability = .unknown
      }
      if isAstray(state) { durability = .unknown }
      base.isAppendable = durability == .durable
      base.frameCount += 1
      base.end += bytes.count
      base.commitment = commitment
      base.isSuspect = durability != .durable
      state[base: place] = base
      if durability == .unknown { state.isReopened = true }
      var receipt = PublishReceipt(generation: generation, bytesWritten: bytes.count, durability: durability)
      receipt.parts = [base.part.identity]
      return receipt
    }
  }

  /// How much space is reserved at once, so that appending changes the content of a file and nothing else.
  private static let reservation = 16 << 10

  /// Reserves space up to an offset; where the file system can't, the file grows with each append.
  private func reserve(_ end: Int, _ base: inout ArchiveStoreState.Base) throws(ProtectionError) {
    guard base.allocated < end else { return }
    let length = min(base.room.upperBound, max(end, base.end + Self.reservation))
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in
        try store.fileSystem.allocate(base.file.descriptor, length: Int64(length))
      }
      base.allocated = length
    } catch  where error.code == .notSupported {
      base.allocated = end
    } catch {
      throw ProtectionError(failedTo: "reserve space for an archive", error)
    }
  }

  // MARK: What earlier runs have left

  /// Makes durable what an earlier run has left, if this one has saved nothing yet.
  ///
  /// Throws `.durabilityUnknown` or what the disk says; nothing may be acknowledged then, and the next save is a whole
  /// generation.
  package func requireDurable() throws(ProtectionError) {
    try writing { state throws(ProtectionError) in
      guard state.isReopened else { return }
      try requireSlot(&state)
      do throws(ProtectionError) {
        try makeDurable(&state)
      } catch {
        state.closeBases()
        guard error.errno == FileSystemError.Code.readOnlyFileSystem.rawValue else { throw error }
        try synchronizeUnwritable(state)
      }
    }
  }

  /// Syncs what the slot has, where nothing can be written once more.
  ///
  /// A volume may have become read-only while what a killed run has written was in the page cache only. On one that was mounted so a
  /// sync does nothing, and some file systems for reading alone have none (`EINVAL`).
  private func synchronizeUnwritable(_ state: ArchiveStoreState) throws(ProtectionError) {
    let text = "The volume can't be written, and what was saved before may not survive a power cut."
    func synchronize(_ descriptor: Descriptor) throws(ProtectionError) {
      do throws(ProtectionError) {
        try store.fileSystem.synchronize(descriptor, orSay: text)
      } catch  where error.errno == FileSystemError.Code.invalidArgument.rawValue {
        return
      }
    }
    for name in try state.slot.files() {
      if let file = try state.slot.open(name) { try synchronize(file.descriptor) }
    }
    for directory in [state.slot.descriptor, store.directory, store.parent] { try synchronize(directory) }
  }

  /// Writes the frames of the newest generation and the ledger once more, and syncs both with their names.
  ///
  /// A run that was killed between a write and its sync, or whose sync failed, has left them in the page cache and perhaps
  /// nowhere else: marked as clean, so that a sync alone would do nothing.
  private func makeDurable(_ state: inout ArchiveStoreState) throws(ProtectionError) {
    let durability: Durability
    if let ledger = state.reading.ledger.value {
      try rewriteFrames(&state)
      let isFirst = try listFirst(ledger, &state)
      do throws(ProtectionError) {
        _ = try commit(ledger, &state)
      } catch  where error.isFullDisk {
        try rewriteLedger(ledger, &state)
      }
      durability = synchronize(isFirst: isFirst, &state)
      if durability == .durable, ledger.owesRemoval, !removeUnnamed(ledger, &state) {
        (state.isUnknown, state.isReopened) = (true, true)
        throw ProtectionError(
          .durabilityUnknown,
          "Something is left under a class that it does not have any more; save the whole state again.")
      }
    } else {
      durability = try writeUnverified(&state)
    }
    guard durability == .durable else {
      throw ProtectionError(
        .durabilityUnknown, "What was saved before may not survive a power cut; save the whole state again.")
    }
  }

  /// Writes the ledger's bytes once more in their place, where there is no room for another file, and syncs it; then has the
  /// directory's names written once more.
  private func rewriteLedger(_ ledger: Ledger, _ state: inout ArchiveStoreState) throws(ProtectionError) {
    guard let file = try state.slot.open(.ledger, forWriting: true), file.isWritable else { throw .full }
    let bytes = try file.read(0..<file.byteCount)
    // Another keybag's revision may have to be noted: that takes a new file.
    guard try bytes == ledger.encoded(keys: store.keys), ledger.keybagRevision >= store.keys.keybagRevision else {
      throw .full
    }
    try attempt("write the ledger once more") { () throws(FileSystemError) in
      try unsafe store.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: 0)
    }
    try store.fileSystem.synchronize(file.descriptor, orSay: "The ledger may not survive a power cut.")
    try synchronizeAnew(state.slot.descriptor)
  }

  /// Writes the newest generation anew, with a ledger, when none vouches for it: nobody knows whether its file was synced.
  private func writeUnverified(_ state: inout ArchiveStoreState) throws(ProtectionError) -> Durability {
    let old = try ledgerToContinue(&state)
    guard let current = old.current else { return .durable }
    var sealed: [SealedGenerationPart] = []
    for part in current.parts {
      let opened = try state.reading.open(part, as: part.protection)
      let whole = try opened.whole()
      sealed.append(
        try seal(
          whole.base, appending: whole.frames, at: part.place,
          as: current.parts.count > 1 ? part.protection : protection,
          orOneWay: keepsState, number: try old.number(after: sealed.count)))
    }
    return try writeGeneration(sealed, over: old, &state) { record in
      old.succeeded(by: record, ArchiveSuccession(), .passing)
    }.durability
  }

  /// Writes the frames behind the newest generation's files once more in their place, and syncs the files; needs no key.
  func rewriteFrames(_ state: inout ArchiveStoreState) throws(ProtectionError) {
    for part in state.reading.ledger.value?.current?.parts ?? [] { try rewriteFrames(of: part, &state) }
  }

  /// Writes the frames behind one file's base once more in their place, and syncs the file; needs no key.
  func rewriteFrames(of part: Ledger.Part, _ state: inout ArchiveStoreState) throws(ProtectionError) {
    var known = state[base: part.place]?.part.identity == part.identity ? state[base: part.place]?.file : nil
    do throws(ProtectionError) {
      if known == nil { known = try state.slot.open(part.file, forWriting: true) }
    } catch  where error.code.isDamage {
      // Something else stands in its place.
      return
    }
    guard let file = known, file.isWritable else { return }
    let claims: SealedClaims
    do throws(ProtectionError) {
      claims = try store.claims(of: file)
    } catch  where error.code.isDamage || error.code == .unsupportedVersion {
      // There is nothing to build on.
      return
    }
    let start = claims.endOffset
    // Nothing authenticates the claim without a key; the ledger knows the length.
    guard UInt64(start) <= part.byteCount else { return }
    let length = try attempt("look at an archive") { () throws(FileSystemError) in
      Int(clamping: try store.fileSystem.status(of: file.descriptor).byteCount)
    }
    guard start < length else { return }
    let end = min(length, claims.frameRoom.upperBound)
    try attempt("write an archive") { () throws(FileSystemError) in
      var bytes = try store.fileSystem.readBytes(file.descriptor, count: end - start, at: Int64(start))
      bytes.removeSubrange(FrameScan.end(ofFramesIn: bytes)...)
      try unsafe store.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: Int64(start))
    }
    try store.fileSystem.synchronize(
      file.descriptor, orSay: "What was appended before may not survive a power cut; save the whole state again.")
  }
}

extension ProtectionError {
  /// Whether a disk or a quota is full.
  fileprivate var isFullDisk: Bool {
    [FileSystemError.Code.noSpace.rawValue, FileSystemError.Code.quotaExceeded.rawValue].contains(errno)
  }

  fileprivate static let full = ProtectionError(
    .io, "The disk is full; nothing saved before is lost.", errno: FileSystemError.Code.noSpace.rawValue)
}
