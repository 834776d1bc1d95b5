import StateRestoration

extension PreservationOutcome {
  /// Whose state this save says it left out over the budget.
  var leftOut: [RestorationPath] {
    receipt?.findings.compactMap { if case .shed(let path, _) = $0 { path } else { nil } } ?? []
  }
}
