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
  /// Call it after the device's `unlock`, where the program has to know that its objects have their state: late restoring
  /// begins by itself, a moment after the unlock.
  ///
  /// - Returns: The report of the last restoration: of the late one, if there was one. One that says `locked` still waits: the
  ///   device is locked, the program is suspended, or its delegate has answered `wait`.
  @discardableResult
  public func finishLateRestoration() async -> RestorationReport? {
    // A restoration that was in progress at the unlock leaves the late one to a second look.
    for _ in 0..<2 {
      await endOperations()
      guard standing == .locked else { return lastReport }
      await followUnlock()
    }
    await endOperations()
    return lastReport
  }

  /// Returns when the operations that were asked for before are over.
  func endOperations() async { await operations.run(.saving) {} }
}
