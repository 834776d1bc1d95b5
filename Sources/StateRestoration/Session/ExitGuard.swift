/// Has unsaved changes when the program calls `exit`.
@MainActor protocol SavedAtExit: AnyObject {
  /// Saves them at once; nothing once the state was let go.
  ///
  /// - Parameter isEnd: Whether the program ends then; otherwise it may go on.
  func saveNow(isEnd: Bool)
}

/// Saves what open sessions have not saved yet when the program calls `exit` on the main actor, or a signal ends it.
@MainActor enum ExitGuard {
  private struct Entry { weak let session: (any SavedAtExit)? }

  private static var entries: [Entry] = []
  private static var isInstalled = false
  /// The process that has the sessions; a child that it forks has neither their threads nor their keys.
  fileprivate static var owner: Int32 = 0

  /// Guards a session for as long as it lives and is open.
  static func add(_ session: any SavedAtExit) {
    entries.removeAll { $0.session == nil }
    entries.append(Entry(session: session))
    guard !isInstalled else { return }
    isInstalled = true
    owner = HostProcess.identifier
    HostProcess.atExit(saveBeforeExit)
  }

  /// Saves all sessions that are open.
  static func saveAll(isEnd: Bool) {
    for entry in entries { entry.session?.saveNow(isEnd: isEnd) }
  }
}

/// Called by `exit`, on whatever thread that was called.
private func saveBeforeExit() {
  // Only the main actor may capture: elsewhere it may be in the middle of something.
  guard HostProcess.isOnMainActor else { return }
  MainActor.assumeIsolated {
    if ExitGuard.owner == HostProcess.identifier { ExitGuard.saveAll(isEnd: true) }
  }
}

extension RestorationSession: SavedAtExit {
  func saveNow(isEnd: Bool) {
    if isOpen { coordinator.preserveBeforeExit(root, isEnd: isEnd) }
  }
}

extension RestorationCoordinator {
  /// Saves the last changes at once, while the main actor stands still: the process is about to end or to stop.
  ///
  /// Waits for a save in progress. Nothing happens during a restoration, whose state is on disk.
  func preserveBeforeExit(_ root: any RestorableController, isEnd: Bool = true) {
    // An object that ends the program while a save asks it can't be asked again.
    guard !isAsking else { return }
    defer { if isEnd { announceEnd() } }
    guard standing == .live || standing == .locked else { return }
    do throws(RestorationError) {
      _ = try preserveNow(root)
    } catch  where error.code == .restorationInProgress {
      // What is restored is on disk.
    } catch {
      log.log(.error, "the last change could not be saved: \(error)")
    }
  }
}
