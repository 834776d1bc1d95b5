/// What a session answers for its program: yes to both questions, and its hierarchies.
@MainActor final class SessionDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  /// The top of the hierarchy of a program with one.
  weak var rootController: (any RestorableController)?
  /// Makes the root of a window that was open.
  var makeRoot: (SceneSession) -> (any RestorableController)? = { _ in nil }
  /// Called when protected data is available again.
  var onUnlock: () -> Void = {}
  /// Called when the program ends.
  var onEnd: () -> Void = {}
  /// Why the last restoring failed as a whole.
  private(set) var failure: RestorationError?

  func makeRoot(for session: SceneSession) -> (any RestorableController)? { makeRoot(session) }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func protectedDataDidBecomeAvailable() { onUnlock() }

  func willTerminate() { onEnd() }

  func didFailToRestore(_ error: RestorationError) { failure = error }
}

extension RestorationCoordinator {
  /// Does what an unlock has left to do, and returns when the hierarchy has its state; at once if nothing is left.
  ///
  /// It returns too when the state can't be read, or the program is suspended.
  func finishLateRestoration() async {
    // A restoration that was in progress at the unlock leaves the late one to a second look.
    for _ in 0..<2 {
      await endOperations()
      guard standing == .locked else { return }
      await followUnlock()
    }
    await endOperations()
  }

  /// Returns when the operations that were asked for before are over.
  func endOperations() async { await operations.run(.saving) {} }
}
