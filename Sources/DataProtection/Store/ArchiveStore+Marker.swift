import FileSystem
import FoundationEssentials

extension ArchiveStore {
  /// What the crash marker says about the last attempt to restore this archive; `nil` when there is no marker, it rests, or
  /// it is that of an attempt which this store has open itself.
  public func interruptedAttempt(for archive: OpenedArchive) throws(ProtectionError) -> InterruptedAttempt? {
    try withLock { state, session throws(ProtectionError) in
      let found = try session.readMarker(identity: try store.identity(of: slot))
      return found.judged(for: archive, store.keys.bootIdentifier, isOwn: state.attempt?.isOpen == true)?.attempt
    }
  }

  /// Marks that restoring begins; the mark is durable when this returns.
  ///
  /// Throws `.busy` when another process is restoring this archive.
  ///
  /// - Parameters:
  ///   - archive: What is restored.
  ///   - role: What it is restored as.
  ///   - pendingMark: The mark of the newest pending content that is joined to it; 0 for none.
  ///   - countsFormer: Whether attempts that failed before are counted on; that they have ended badly in a row is in any case.
  public func beginAttempt(
    for archive: OpenedArchive, as role: RestorationAttempt.Role = .newest, joining pendingMark: UInt32 = 0,
    countingFormer countsFormer: Bool = true
  ) throws(ProtectionError) -> RestorationAttempt {
    try withLock { state, session throws(ProtectionError) in
      let identity = try store.identity(of: slot)
      let markers = try session.readMarker(identity: identity)
      let found = markers.judged(for: archive, store.keys.bootIdentifier)
      if found?.attempt.meaning == .livePeer {
        throw ProtectionError(.busy, "Another process is restoring this archive; wait for it, or start afresh.")
      }
      var marker = CrashMarker(
        commitment: archive.commitment, pendingMark: pendingMark, boot: store.keys.bootIdentifier, role: role)
      // What another process has died of since counts on; what was asked for by name, and what was not, for itself.
      if let begun = state.begun[marker.commitment], begun.countsFor(role), found?.attempt.meaning != .died {
        marker.goOn(from: begun)
      } else if let former = found?.marker, former.countsFor(role) {
        marker.count(former, as: found?.attempt.meaning)
      }
      if !countsFormer { marker.forgetFailures() }
      state.begun[marker.commitment] = marker
      let file = MarkerFile(marker, after: markers.file, boot: store.keys.bootIdentifier)
      let attempt = try session.writeMarker(file, identity: identity, begun: state.begun)
      state.attempt = attempt
      return attempt
    }
  }
}

extension StoreSession {
  /// Reads the marker of a slot.
  func readMarker(identity: [UInt8]) throws(ProtectionError) -> FoundMarkers {
    let file: StoreFile
    do throws(ProtectionError) {
      guard let opened = try open(.marker(slot: SlotName(identity: identity))) else { return FoundMarkers() }
      file = opened
    } catch  where error.code == .corrupt {
      return FoundMarkers(isDamaged: true)
    }
    let isFree = try attempt("look for a live peer") { () throws(FileSystemError) in
      try store.fileSystem.tryLock(file.descriptor, .exclusive)
    }
    let bytes = try file.read(0..<min(file.byteCount, MarkerFile.maximumByteCount + 1))
    let content = try MarkerFile(bytes, identity: identity, keys: store.keys)
    return FoundMarkers(file: content, isDamaged: content == nil, isFree: isFree)
  }

  /// Puts a new marker in the place of whatever is there, durably, and locks it.
  func writeMarker(
    _ content: MarkerFile, identity: [UInt8], begun: BegunAttempts
  ) throws(ProtectionError) -> RestorationAttempt {
    let name = StoreName.marker(slot: SlotName(identity: identity))
    let bytes = try content.encoded(identity: identity, keys: store.keys)
    // Not one and then the other: what somebody has died of before is in both.
    let file = try create(inPlaceOf: name, Data(bytes)) { descriptor throws(ProtectionError) in
      _ = try attempt("lock the crash marker") { () throws(FileSystemError) in
        try store.fileSystem.tryLock(descriptor, .exclusive)
      }
    }
    guard synchronizeDirectory() else {
      try? unlink(name)
      throw ProtectionError(
        .io, "The crash marker could not be made durable; restoring would not be guarded against a crash.")
    }
    return RestorationAttempt(
      store: store, file: file, name: name, identity: identity, content: content, begun: begun)
  }
}

/// What was found in the place of a slot's marker.
struct FoundMarkers {
  /// What the file says; nil when there is none, or a damaged one.
  var file: MarkerFile?
  var isDamaged = false
  /// Whether nobody holds its lock.
  var isFree = true

  /// What it says about an archive, and whose marker says so; nil when nobody has died of that, and nobody restores anything.
  func judged(
    for archive: OpenedArchive, _ boot: [UInt8], isOwn: Bool = false
  ) -> (attempt: InterruptedAttempt, marker: CrashMarker?)? {
    guard let file else {
      return isDamaged && !isOwn ? (InterruptedAttempt(meaning: .damaged, node: nil, failedAttempts: 0), nil) : nil
    }
    return file.judged(for: archive.commitment, boot: boot, isOwn: isOwn, isFree: isFree).map {
      ($0.attempt, $0.marker)
    }
  }
}
