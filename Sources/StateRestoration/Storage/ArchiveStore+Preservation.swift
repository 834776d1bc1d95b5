internal import DataProtection
internal import FoundationShim

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
      case .newest: try openNewest()
      case .predecessor: try openPredecessor()
      case .setAside(let generation): try openSetAside(generation)
      }
    return StoredState(
      generation: opened.generation, standing: opened.standing, byteCount: opened.byteCount, frames: opened.frames,
      tailDropped: opened.tailDropped, handle: opened
    ) { range in try opened.read(range) }
  }

  func attempts(at state: StoredState) throws(ProtectionError) -> AttemptHistory {
    guard let record = try attempts(at: archive(state)) else { return AttemptHistory() }
    return AttemptHistory(
      deaths: Int(record.deaths), node: record.node == CrashMarker.noNode ? nil : record.node,
      requestDied: record.requestDied)
  }

  func beginAttempt(
    at state: StoredState, isRequest: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try beginAttempt(at: archive(state), isRequest: isRequest)
  }

  private func archive(_ state: StoredState) -> OpenedArchive {
    guard let opened = state.handle as? OpenedArchive else {
      preconditionFailure("a state of another store was given to a device's")
    }
    return opened
  }
}

/// The real marker of an attempt.
extension RestorationAttempt: RestorationAttempting {}
