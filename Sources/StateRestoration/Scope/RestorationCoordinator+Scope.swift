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
    living.lazy.compactMap(\.coordinator).first { $0.tree.node(of: object) != nil || $0.waits(for: object) }
  }

  /// Whether an object is in a hierarchy that no capture has met, as the stored state could not be reached.
  private func waits(for object: any RestorableObject) -> Bool {
    guard restored == nil, lastReport?.outcome == .unavailable, let root else { return false }
    var seen: Set<ObjectIdentifier> = []
    var stack: [any RestorableController] = [root]
    while let next = stack.popLast() {
      if next === object { return true }
      if seen.insert(ObjectIdentifier(next)).inserted { stack += next.restorationChildren }
    }
    return false
  }

  /// Whether a value is stored at a path that no object has had in this run.
  func hasUnreadValue(at path: RestorationPath) -> Bool {
    guard let restored, let index = storedPlace(at: path), restored.object(at: index) == nil,
      !restored.isSpent(index)
    else { return false }
    return restored.plan.variants(ledBy: index).contains { variant in
      restored.plan.nodes[variant].byteCount > 0 || restored.plan.nodes[variant].flags.contains(.shed)
    }
  }

  /// Whether a value is stored at a path below state that no object was given.
  func withholdsValue(at path: RestorationPath) -> Bool {
    guard let restored, storedPlace(at: path) == nil, let index = restored.index(at: path), !restored.isSpent(index),
      let parent = restored.plan.nodes[index].parent
    else { return false }
    return restored.object(at: parent) == nil
  }

  /// Removes everything at a path from the next save on; the objects that have something there have left in this turn.
  func forgetAll(at path: RestorationPath) {
    // The capture in progress may have met these objects already.
    guard !tree.isCapturing else {
      Task { forgetAll(at: path) }
      return
    }
    if let index = storedPlace(at: path) { restored?.spend(index) }
    worker.post { try? $0.draft.removeAll(at: path) }
    changesWereNoticed()
  }
}
