extension RestorationCoordinator {
  private struct Living { weak let coordinator: RestorationCoordinator? }

  private static var living: [Living] = []

  /// Has scopes find this coordinator for as long as it lives.
  func becomeFindable() {
    Self.living.removeAll { $0.coordinator == nil }
    Self.living.append(Living(coordinator: self))
  }

  /// The coordinator that preserves an object; nil when none has met it.
  static func preserving(_ object: any RestorableObject) -> RestorationCoordinator? {
    living.lazy.compactMap(\.coordinator).first { $0.tree.node(of: object) != nil }
  }

  /// Whether something is stored at a path that no object has had in this run.
  func waits(for path: RestorationPath) -> Bool {
    guard let restored, let index = restored.index(at: path) else { return false }
    return restored.object(at: index) == nil && !restored.isSpent(index)
  }

  /// Meets new objects in this turn already: their later changes are edits.
  func meetNow() {
    guard let root else { return }
    let batch = capture(root, scope: .noticed, context: configuration.context)
    worker.post { $0.take(batch) }
  }
}
