import StateRestoration
import Testing

extension Bench {
  /// A launch on a locked device, with an edit and a save.
  @MainActor @discardableResult
  func launchLocked(
    _ root: any RestorableController, _ coordinator: RestorationCoordinator? = nil, edit: () -> Void
  ) async throws -> RestorationCoordinator {
    try await lock()
    let coordinator = coordinator ?? launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    await coordinator.endTurn()
    edit()
    _ = try await coordinator.preserve(root)
    return coordinator
  }

  /// A launch of a program that can make panels, fragile controllers and screens.
  @MainActor func launchMakingAll(_ isNewer: Bool = false) -> RestorationCoordinator {
    launch {
      $0.register(isNewer ? NewerPanel.self : Panel.self, as: "panel") { path, _ in
        Panel.made(path.last, isNewer: isNewer)
      }
      $0.register(FragileController.self, as: "brittle") { path, _ in FragileController(path.last!, tag: "brittle") }
      $0.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") }
    }
  }
}

/// A root with two screens, "a" and "b", that show a text.
@MainActor func twoScreens(_ text: String = "") -> Screen {
  Screen("root", children: [Screen("a", text: text), Screen("b", text: text)])
}

/// Screens above one, so many that it lies deeper than an archive has levels.
@MainActor func chain(above bottom: Screen) -> Screen {
  (0..<1100).reduce(bottom) { top, _ in Screen("n", children: [top]) }
}
