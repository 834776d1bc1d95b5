import Foundation
import StateRestoration

/// What the program tells the framework: that it wants its state kept, and how its controllers are made again.
@MainActor
final class DemoRestoration: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
  weak var application: DemoApplication?
  private let root: RootController
  private let preserves: Bool
  /// Called when the terminal is to be taken or given back.
  var onWindow: @MainActor (_ isShown: Bool) -> Void = { _ in }

  init(root: RootController, preserves: Bool) {
    self.root = root
    self.preserves = preserves
  }

  /// Registers the controllers that do not exist at launch.
  func register(with registry: RestorationRegistry) {
    let root = root
    registry.register(NoteListController.self, as: NoteListController.tag) { _, coder in
      guard let folder = try? coder.decodeIfPresent(String.self, forKey: "folder") else { return nil }
      return root.notes.remakeList(of: folder)
    }
    registry.register(EditorController.self, as: EditorController.tag) { _, coder in
      guard let note = try? coder.decodeIfPresent(ModelIdentifier.self, forKey: "note") else { return nil }
      return root.notes.remakeEditor(of: note)
    }
    registry.register(RenameController.self, as: RenameController.tag) { _, coder in
      guard let note = try? coder.decodeIfPresent(ModelIdentifier.self, forKey: "note") else { return nil }
      return root.notes.makeRename(of: note)
    }
    registry.register(JotController.self, as: JotController.tag) { path, _ in
      path.last.map(JotController.init)
    }
  }

  // MARK: - The coordinator's questions

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { preserves }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision {
    // Somebody who kills a terminal program, even twice, wants its state back all the same.
    .tryAgain
  }

  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool { true }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    application?.didRestore(report)
  }

  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    application?.didPreserve(outcome)
  }

  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    application?.say(Explanation.line(for: error))
  }

  // MARK: - The life cycle

  var rootController: (any RestorableController)? { root }

  var topVisibleController: (any RestorableController)? { root.selected }

  func showWindow() { onWindow(true) }

  func hideWindow() {
    // Before sleep the state is still `inactive`: nobody takes the terminal, so the lock page stays on it.
    if application?.application.lifecycle.state == .inactive { application?.showLockScreen() } else { onWindow(false) }
  }

  func makeSnapshot() -> Data? { (application?.makeSnapshot()).map { Data($0.utf8) } }

  func showSnapshot(_ snapshot: Data) { application?.show(snapshot: String(decoding: snapshot, as: UTF8.self)) }

  func removeSnapshot() { application?.show(snapshot: nil) }

  func didRestore(_ report: RestorationReport) { application?.didRestore(report) }

  func didFailToRestore(_ error: RestorationError) { application?.say("not restored: \(error)") }

  func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) {
    switch result {
    case .success(let outcome): application?.didPreserve(outcome)
    case .failure(let error): application?.say(Explanation.line(for: error))
    }
  }
}
