import FileSystem
import FoundationEssentials

extension ArchiveStore {
  /// What the crash marker says about the last attempt to restore this archive; `nil` when there is no marker, it rests, or
  /// it is that of an attempt which this store has open itself.
  public func interruptedAttempt(for archive: OpenedArchive) throws(ProtectionError) -> InterruptedAttempt? {
    try withLock { state, session throws(ProtectionError) in
      if state.attempt?.isOpen == true { return nil }
      return try session.readMarker(archive, identity: try store.identity(of: slot))?.attempt
    }
  }

  /// Marks that restoring begins; the mark is durable when this returns.
  ///
  /// Throws `.busy` when another process is restoring this archive.
  ///
  /// - Parameters:
  ///   - archive: What is restored.
  ///   - isStandIn: Whether it is restored instead of a newer one, which can't be; the next launch is told.
  ///   - pendingMark: The mark of the newest pending content that is joined to it; 0 for none.
  ///   - countsFormer: Whether attempts that failed before are counted on; that they have ended badly in a row is in any case.
  public func beginAttempt(
    for archive: OpenedArchive, asStandIn isStandIn: Bool = false, joining pendingMark: UInt32 = 0,
    countingFormer countsFormer: Bool = true
  ) throws(ProtectionError) -> RestorationAttempt {
    try withLock { state, session throws(ProtectionError) in
      let identity = try store.identity(of: slot)
      let found = try session.readMarker(archive, identity: identity)
      if found?.attempt.meaning == .livePeer {
        throw ProtectionError(.busy, "Another process is restoring this archive; wait for it, or start afresh.")
      }
      var marker = CrashMarker(
        commitment: archive.commitment, pendingMark: pendingMark, boot: store.keys.bootIdentifier, isStandIn: isStandIn)
      // What another process has died of since counts on.
      if let begun = state.begun[marker.commitment], found?.attempt.meaning != .died {
        marker.goOn(from: begun)
      } else if let former = found?.marker {
        marker.count(former, as: found?.attempt.meaning)
      }
      if !countsFormer { marker.forgetFailures() }
      state.begun[marker.commitment] = marker
      let attempt = try session.writeMarker(marker, identity: identity, begun: state.begun)
      state.attempt = attempt
      return attempt
    }
  }
}

extension StoreSession {
  /// Reads the marker of a slot and judges it.
  func readMarker(
    _ archive: OpenedArchive, identity: [UInt8]
  ) throws(ProtectionError) -> (attempt: InterruptedAttempt, marker: CrashMarker?)? {
    let damaged = InterruptedAttempt(meaning: .damaged, node: nil, failedAttempts: 0)
    let file: StoreFile
    do throws(ProtectionError) {
      guard let opened = try open(.marker(slot: SlotName(identity: identity))) else { return nil }
      file = opened
    } catch  where error.code == .corrupt {
      return (damaged, nil)
    }
    let isFree = try attempt("look for a live peer") { () throws(FileSystemError) in
      try store.fileSystem.tryLock(file.descriptor, .exclusive)
    }
    guard file.byteCount == CrashMarker.byteCount,
      let marker = try CrashMarker(
        try file.read(0..<file.byteCount), identity: identity, keys: store.keys)
    else { return (damaged, nil) }
    // Nobody has died of it, and whoever holds its lock is restoring nothing.
    if marker.isAtRest { return nil }
    guard isFree else {
      let node = marker.node == CrashMarker.noNode ? nil : marker.node
      return (
        InterruptedAttempt(meaning: .livePeer, node: node, failedAttempts: Int(marker.failedAttempts)), marker
      )
    }
    return (marker.meaning(for: archive.commitment, boot: store.keys.bootIdentifier), marker)
  }

  /// Puts a new marker in the place of whatever is there, durably, and locks it.
  func writeMarker(
    _ marker: CrashMarker, identity: [UInt8], begun: BegunAttempts
  ) throws(ProtectionError) -> RestorationAttempt {
    let name = StoreName.marker(slot: SlotName(identity: identity))
    let bytes = try marker.encoded(identity: identity, keys: store.keys)
    try unlink(name)
    let file = try create(name, Data(bytes))
    do throws(ProtectionError) {
      _ = try attempt("lock the crash marker") { () throws(FileSystemError) in
        try store.fileSystem.tryLock(file.descriptor, .exclusive)
      }
    } catch {
      // Nothing is restored under it, so that the next launch must not take it for a crash.
      try? unlink(name)
      throw error
    }
    guard synchronizeDirectory() else {
      try? unlink(name)
      throw ProtectionError(
        .io, "The crash marker could not be made durable; restoring would not be guarded against a crash.")
    }
    return RestorationAttempt(store: store, file: file, name: name, identity: identity, marker: marker, begun: begun)
  }
}
