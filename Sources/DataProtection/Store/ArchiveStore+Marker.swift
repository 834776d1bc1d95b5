import FileSystem

extension ArchiveStore {
  /// How earlier attempts at an opened generation have ended; nil when nothing is known of it.
  ///
  /// Throws `.corrupt` when the marker is damaged: it counts as none then.
  package func attempts(at archive: OpenedArchive) throws(ProtectionError) -> CrashMarker.Record? {
    try attempts(at: archive.commitment)
  }

  /// How earlier attempts at an opened generation of several parts have ended; see ``attempts(at:)``.
  package func attempts(at generation: OpenedGeneration) throws(ProtectionError) -> CrashMarker.Record? {
    try attempts(at: generation.commitment)
  }

  private func attempts(at commitment: [UInt8]) throws(ProtectionError) -> CrashMarker.Record? {
    try writing { state throws(ProtectionError) in
      try loadMarker(&state)
      return (state.attempt?.marker ?? state.marker)?.record(of: commitment)
    }
  }

  /// Marks that code of the program runs with an opened generation; nothing is synced.
  package func beginAttempt(
    at archive: OpenedArchive, isRequest: Bool = false
  ) throws(ProtectionError) -> RestorationAttempt {
    try beginAttempt(at: archive.commitment, isRequest)
  }

  /// Marks that code of the program runs with an opened generation of several parts; nothing is synced.
  package func beginAttempt(
    at generation: OpenedGeneration, isRequest: Bool = false
  ) throws(ProtectionError) -> RestorationAttempt {
    try beginAttempt(at: generation.commitment, isRequest)
  }

  private func beginAttempt(
    at commitment: [UInt8], _ isRequest: Bool
  ) throws(ProtectionError) -> RestorationAttempt {
    try writing { state throws(ProtectionError) in
      do throws(ProtectionError) {
        try loadMarker(&state)
      } catch  where error.code.isDamage || error.code == .unsupportedVersion {
        // It counts as none, and this attempt's takes its place.
        state.marker = CrashMarker()
      }
      var marker = state.attempt?.marker ?? state.marker ?? CrashMarker()
      // An attempt of this run has not died: it goes on with another generation.
      marker.end()
      marker.begin(commitment, isRequest: isRequest, boot: store.keys.bootIdentifier)
      let file: StoreFile
      if let own = state.markerFile {
        file = own
      } else {
        // A damaged one, or something else in its place, is replaced.
        file = StoreFile(store.fileSystem, try state.slot.make(.marker), byteCount: 0, isWritable: true)
      }
      state.attempt?.stopMapping()
      let begun = try RestorationAttempt(
        marker, file, on: store.volume, identity: identity, keys: store.keys)
      state.marker = marker
      state.markerFile = file
      state.attempt = begun
      // For hangs that the user ends by the power switch: the disk has it by then. Most attempts have ended long before.
      store.fileSystem.runBeside(after: .seconds(1)) { [weak begun] in begun?.synchronizeBeginning() }
      return begun
    }
  }

  /// Reads the marker that earlier runs have left, once.
  private func loadMarker(_ state: inout ArchiveStoreState) throws(ProtectionError) {
    guard state.marker == nil else { return }
    guard let file = try state.slot.open(.marker, forWriting: true) else {
      state.marker = CrashMarker()
      return
    }
    let bytes = try file.read(0..<min(file.byteCount, CrashMarker.byteCount + 1))
    state.marker = try CrashMarker(bytes, identity: identity, keys: store.keys).settled(boot: store.keys.bootIdentifier)
    // The next attempt overwrites it in place.
    if file.isWritable, file.isOwn { state.markerFile = file }
  }
}
