/// What a session answers for its program: yes to both questions.
@MainActor final class SessionDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  weak var root: (any RestorableController)?
  private var waiting: [CheckedContinuation<Void, Never>] = []

  var rootController: (any RestorableController)? { root }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Waits for the restoration that follows an unlock.
  func nextLateReport() async { await withCheckedContinuation { waiting.append($0) } }
}
