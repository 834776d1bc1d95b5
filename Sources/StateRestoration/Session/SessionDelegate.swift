/// What a session answers for its program: yes to both questions, and its hierarchies.
@MainActor final class SessionDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  /// The top of the hierarchy of a program with one.
  weak var rootController: (any RestorableController)?

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
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
