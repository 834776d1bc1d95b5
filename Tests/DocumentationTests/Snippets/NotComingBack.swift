import StateRestoration

struct NotComingBackSnippets {
  // snippet: Log
  func configuration(logging note: @escaping @Sendable (String) -> Void) -> RestorationConfiguration {
    var configuration = RestorationConfiguration()
    configuration.log = RestorationLog { level, message in
      if level >= .warning { note(message()) }
    }
    return configuration
  }
  // snippet end

  // snippet: Report
  @MainActor func explain(_ report: RestorationReport) {
    for node in report.notRestored {
      guard let reason = node.notRestoredReason else { continue }
      switch reason {
      case .unknownClass(let tag): print("\(node.path): register a class as “\(tag)”.")
      case .newerVersion(let stored, let known): print("\(node.path): version \(stored), we know \(known).")
      default: print("\(node.path): \(reason)")
      }
    }
  }
  // snippet end

  // snippet: Forget
  @MainActor func giveUp(on path: RestorationPath, of restorer: RestorationCoordinator) async {
    _ = await restorer.forget(path)
  }
  // snippet end

  // snippet: SetAside
  @MainActor func offerOldState(of restorer: RestorationCoordinator, to window: WindowController) async throws {
    let states = try await restorer.setAsideStates()  // oldest first
    guard let state = states.last(where: \.isReadable) else { return }
    print("There is another state: \(state)")  // ask the user here
    try await restorer.restore(into: window, from: .setAside(state.id))
  }
  // snippet end

  // snippet: Invalidate
  final class ClockController: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "clock"
    var restorableState = 0

    func tick() {
      restorableState += 1
      invalidateRestorableState()
    }
  }
  // snippet end
}

// snippet: Recovery
@MainActor final class AppDelegate {
  private var savedBy: RestorationArchive.ApplicationVersion?
}

// In an extension of its own: there the compiler warns of a method that nearly has the name or the type of one of these.
extension AppDelegate: RestorationCoordinatorDelegate {
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
    savedBy = coder.context.applicationVersion
    return true
  }

  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    for finding in outcome.receipt?.findings ?? [] { print(finding) }
  }

  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    print("Your changes are not saved yet: \(error)")
  }

  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool {
    // Another version of the program saved the state, and this one has mended the editor.
    savedBy != coordinator.configuration.applicationVersion && path == ["window", "editor"]
  }
}
// snippet end
