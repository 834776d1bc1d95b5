import StateRestoration

struct NotComingBackSnippets {
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
    for state in try await restorer.setAsideStates() where state.isReadable {
      print("There is another state: \(state)")
      try await restorer.restore(into: window, from: .setAside(state.id))
      break
    }
  }
  // snippet end

  // snippet: Invalidate
  final class ClockController: StatefulController {
    let restorationIdentifier: RestorationIdentifier? = "clock"
    var restorableState = 0

    func tick() {
      restorableState += 1
      invalidateRestorableState()
    }
  }
  // snippet end
}
