internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The real store: one slot of a protected device.
///
/// State saved under another class than the program wants now is read as it is, and moved by the next save.
extension ArchiveStore: PreservationStore {
  /// How long a coordinator that has gone may still hold the slot, on its worker's thread.
  private static var handover: Duration { .seconds(5) }

  func take(waiting patience: Duration) throws(ProtectionError) {
    keepState()
    do throws(ProtectionError) {
      try open(waiting: patience)
    } catch {
      // Where nothing is and nothing can be made there is nothing to take: it is empty until a save finds room.
      guard error.isScarceRoom, isEmpty else { throw error }
    }
  }

  /// Whether nothing is saved, as far as a look tells.
  private var isEmpty: Bool {
    do throws(ProtectionError) {
      _ = try openNewest()
      return false
    } catch {
      return error.code == .notFound
    }
  }

  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState {
    // Who reads a state goes on from it: as its one writer.
    do throws(ProtectionError) {
      try take(waiting: .zero)
    } catch  where error.code == .inUse && error.processIdentifier == ProcessInfo.processInfo.processIdentifier {
      try take(waiting: Self.handover)
    }
    let opened =
      switch choice {
      case .newest: try openNewestParts()
      case .predecessor: try openPredecessorParts()
      case .setAside(let generation): try openSetAsideParts(generation)
      }
    let parts = opened.parts.map(Self.stored)
    // What lies below it can't be shown.
    guard parts.first?.content != nil else {
      throw ProtectionError(.locked, "The part with the root has no key while the device is locked.")
    }
    return StoredState(generation: opened.generation, standing: opened.standing, parts: parts, handle: opened)
  }

  func openStandIn(
    for file: PartFile, because code: ProtectionError.Code
  ) throws(ProtectionError) -> StoredState.Part {
    let part: OpenedPart = try openStandIn(for: file, because: code)
    return Self.stored(part)
  }

  private static func stored(_ part: OpenedPart) -> StoredState.Part {
    var stored = StoredState.Part(
      part: RestorationArchive.Part(part.place), protection: part.protection, file: part.file,
      isSealedOneWay: part.isSealedOneWay)
    switch part.state {
    case .opened(let archive): stored.content = content(of: archive)
    case .fellBack(let archive, let code): (stored.content, stored.fallback) = (content(of: archive), code)
    case .locked: break
    case .damaged(let code): (stored.damage, stored.file) = (code, nil)
    }
    return stored
  }

  private static func content(of archive: OpenedArchive) -> StoredState.Content {
    StoredState.Content(
      byteCount: archive.byteCount, frames: archive.frames, tailDropped: archive.tailDropped
    ) { range in try archive.read(range) }
  }

  func publish(
    _ parts: [PublishedPart], _ succession: ArchiveSuccession, droppingWeakerThan protection: ProtectionClass?
  ) throws(ProtectionError) -> PublishReceipt {
    let published = parts.map { part in
      let content: PartToPublish.Content =
        switch part.content {
        case .new(let archive): .new(archive, as: part.protection)
        case .unchanged(let file): .unchanged(file)
        }
      return PartToPublish(PartPlace(part.part), content)
    }
    return try publish(published, succession, droppingWeakerThan: protection)
  }

  func append(
    _ change: Data, to generation: Generation, part: RestorationArchive.Part, as protection: ProtectionClass
  ) throws(ProtectionError) -> PublishReceipt? {
    try append(change, to: generation, at: PartPlace(part), as: protection)
  }

  func attempts(at state: StoredState) throws(ProtectionError) -> AttemptHistory {
    guard let record = try attempts(at: generation(state)) else { return AttemptHistory() }
    return AttemptHistory(
      deaths: Int(record.deaths), node: record.node == CrashMarker.noNode ? nil : record.node,
      requestDied: record.requestDied)
  }

  func beginAttempt(
    at state: StoredState, isRequest: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try beginAttempt(at: generation(state), isRequest: isRequest)
  }

  private func generation(_ state: StoredState) -> OpenedGeneration {
    guard let opened = state.handle as? OpenedGeneration else {
      preconditionFailure("a state of another store was given to a device's")
    }
    return opened
  }
}

/// The real marker of an attempt.
extension RestorationAttempt: RestorationAttempting {}
