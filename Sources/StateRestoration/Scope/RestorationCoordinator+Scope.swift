extension RestorationCoordinator {
  private struct Living { weak let coordinator: RestorationCoordinator? }

  private static var living: [Living] = []

  /// All that live.
  static var all: some Sequence<RestorationCoordinator> { living.lazy.compactMap(\.coordinator) }

  /// Has scopes find this coordinator for as long as it lives.
  func becomeFindable() {
    Self.living.removeAll { $0.coordinator == nil }
    Self.living.append(Living(coordinator: self))
    HostProcess.markMainActor()
  }

  /// Has the scopes of a hierarchy that no capture has met yet tell what became of the stored state.
  func joinScopes() {
    var seen: Set<ObjectIdentifier> = []
    var stack = [root].compactMap(\.self)
    while let next = stack.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      (next as? RestorationScope)?.join(access)
      stack += next.listedChildren
    }
  }

  /// The coordinator that preserves an object; nil when none has met it.
  static func preserving(_ object: any RestorableObject) -> RestorationCoordinator? {
    living.lazy.compactMap(\.coordinator).first { $0.currentPath(of: object) != nil }
  }

  /// Where an object is in the hierarchy; nil if it is not there.
  func currentPath(of object: any RestorableObject) -> RestorationPath? {
    if let node = tree.node(of: object) { return node.currentPath }
    // No capture has met the hierarchy as long as its hooks run, or when the stored state could not be reached.
    let isFinishing = restored != nil && lateObjects != nil
    guard isFinishing || (restored == nil && lastReport?.outcome == .unavailable), let root,
      let name = root.restoration.identifier
    else { return nil }
    var seen: Set<ObjectIdentifier> = []
    var stack: [(controller: any RestorableController, path: RestorationPath)] = [(root, [name])]
    while let (next, path) = stack.popLast() {
      if next === object { return path }
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      stack += next.listedChildren.compactMap { child in
        child.restoration.identifier.map { (child, path.appending($0)) }
      }
    }
    return nil
  }

  /// Says in the log and in the report that a reader was not given the whole stored value.
  func note(_ loss: ScopeSlot.Loss, of entry: ScopeEntry) {
    guard let path = tree.node(of: entry)?.currentPath else { return }
    switch loss {
    case .value(let error, _): log.log(.warning, "\(path): \(error.message)")
    case .fields(let names): log.log(.warning, unreadText(names, path, 0))
    case .none: break
    }
    guard let restored, let index = restored.index(of: entry) else { return }
    switch loss {
    case .value(let error, let isOlderGiven):
      restored.noteLateRejection(ScopeEntry.unreadable(error), isOlderGiven: isOlderGiven, at: index)
    case .fields(let names): restored.note(.unreadKeys(names), at: index)
    case .none: restored.noteLateSuccess(at: index)
    }
    hasNewOutcomes = true
  }

  /// Whether a value is stored at a path that no object has had in this run.
  func hasUnreadValue(at path: RestorationPath) -> Bool {
    guard let restored, let index = storedPlace(at: path), restored.object(at: index) == nil,
      !restored.isSpent(index)
    else { return false }
    return restored.plan.rows(ledBy: index).contains { !restored.plan.records(of: $0).isEmpty }
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
      return turns.perform { [weak self] in self?.forgetAll(at: path) }
    }
    if let restored, let index = storedPlace(at: path) {
      restored.spend(index)
      // In the turn that restores, the capture at its end removes it.
      if lateObjects != nil {
        return tree.given.noteForgotten(restored.plan.rows(ledBy: index).map { restored.plan.nodes[$0].id })
      }
    }
    worker.post { try? $0.table.removeAll(at: path) }
    changesWereNoticed()
  }
}
