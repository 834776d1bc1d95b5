import StateRestoration

extension Panel {
  /// A panel that the launches of ``Bench/launchMakingPanels(isNewer:failing:freshFor:)`` make again.
  static func made(_ identifier: RestorationIdentifier?, value: Int = 0, isNewer: Bool = false) -> Panel {
    let panel = isNewer ? NewerPanel(identifier, value: value) : Panel(identifier, value: value)
    panel.tag = "panel"
    return panel
  }
}

extension Bench {
  /// A launch of a program that makes its panels, or of a later one.
  func launchMakingPanels(
    isNewer: Bool = false, failing: RestorationIdentifier? = nil, freshFor limit: Duration? = nil
  ) -> RestorationCoordinator {
    launch { registry in
      let type = isNewer ? NewerPanel.self : Panel.self
      registry.register(type, as: "panel", freshFor: limit) { path, _ in
        let panel = Panel.made(path.last, isNewer: isNewer)
        panel.failsDecoding = failing != nil && path.last == failing
        return panel
      }
    }
  }
}
