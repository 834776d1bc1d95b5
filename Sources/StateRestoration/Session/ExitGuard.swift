/// Has unsaved changes when the program calls `exit`.
@MainActor protocol SavedAtExit: AnyObject {
  /// Saves them at once; nothing once the state was let go.
  func saveBeforeExit()
}

/// Saves what open sessions have not saved yet when the program calls `exit` on the main actor.
@MainActor enum ExitGuard {
  private struct Entry { weak let session: (any SavedAtExit)? }

  private static var entries: [Entry] = []
  private static var isInstalled = false

  /// Guards a session for as long as it lives and is open.
  static func add(_ session: any SavedAtExit) {
    entries.removeAll { $0.session == nil }
    entries.append(Entry(session: session))
    guard !isInstalled else { return }
    isInstalled = true
    HostProcess.atExit(saveBeforeExit)
  }

  fileprivate static func saveAll() {
    for entry in entries { entry.session?.saveBeforeExit() }
  }
}

/// Called by `exit`, on whatever thread that was called.
private func saveBeforeExit() {
  // Only the main actor may capture: elsewhere it may be in the middle of something.
  guard HostProcess.isOnMainActor else { return }
  MainActor.assumeIsolated { ExitGuard.saveAll() }
}

extension RestorationSession: SavedAtExit {
  func saveBeforeExit() {
    if isOpen { coordinator.preserveBeforeExit(root) }
  }
}

extension RestorationCoordinator {
  /// Saves the last changes at once, while the main actor stands still: the process is about to end.
  ///
  /// Waits for a save in progress. Nothing happens during a restoration, whose state is on disk.
  func preserveBeforeExit(_ root: any RestorableController) {
    // An object that ends the program while a save asks it can't be asked again.
    guard standing == .live || standing == .locked, operations.current == nil || operations.current == .saving,
      !tree.isCapturing
    else { return }
    let context = configuration.context
    guard let application = takeApplicationState(context: context) else { return }
    let batch = capture(root, scope: .all, context: context, application: application)
    let loader = loader()
    let failure = worker.runNow { session -> String? in
      do {
        _ = try session.save(batch, context: context, loader: loader)
        return nil
      } catch {
        return "\(error)"
      }
    }
    if let failure { log.log(.error, "the last change could not be saved: \(failure)") }
  }
}
