internal import DataProtection
internal import FoundationShim

/// The real store: one slot of a protected device.
///
/// State saved under another class than the program wants now is read as it is, and moved by the next save.
extension ArchiveStore: PreservationStore {
  /// How long a coordinator that has gone may still hold the slot, on its worker's thread.
  private static var handover: Duration { .seconds(1) }

  func take(waiting patience: Duration) throws(ProtectionError) {
    keepState()
    try open(waiting: patience)
  }

  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState {
    // Who reads a state goes on from it: as its one writer. Where nothing is and nothing can be made, that is no failure.
    do throws(ProtectionError) {
      try take(waiting: .zero)
    } catch  where error.code == .inUse && error.processIdentifier == ProcessInfo.processInfo.processIdentifier {
      try take(waiting: Self.handover)
    } catch  where error.isScarceRoom {
      do throws(ProtectionError) {
        _ = try openNewest()
      } catch let absence where absence.code == .notFound {
        throw absence
      }
      throw error
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
