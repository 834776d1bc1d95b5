internal import DataProtection
internal import FoundationShim

/// An object that comes after restoring, and its path.
struct LateObject {
  let object: any RestorableObject
  let path: RestorationPath
}

extension RestorationCoordinator {
  /// Gives a controller or a view that was made after restoring its state, at once, with everything preserved below it.
  ///
  /// For screens that are made on demand, such as a tab that is shown for the first time. Install the object in its parent
  /// first, and call this in the same turn. The state is given only if class and model fit, its own and those of the
  /// controllers above it.
  ///
  /// A crash in here is put down to the object, like one during restoring. State is given once: an object that had it and
  /// has left took it along, and an object that a save has met keeps its own (``NotRestoredReason/touchedMeanwhile``). Called
  /// while objects are given their state, it waits until all have theirs: the restoration's report tells.
  ///
  /// - Parameters:
  ///   - object: The controller or view.
  ///   - path: Its place now, from the root.
  /// - Returns: What became of it. Nil when nothing was restored in this run, when nothing was preserved at the path, when that
  ///   is in use or was, when the restoration has deleted it, while objects are given their state, and while everything is being
  ///   discarded.
  @discardableResult
  public func restore(_ object: any RestorableObject, at path: RestorationPath) -> RestorationReport.Node? {
    adopt(LateObject(object: object, path: path))
  }

  /// Gives a late shared object its state.
  func sharedObjectWasRegistered(as identifier: RestorationIdentifier) {
    guard let object = registry.sharedObject(identifier) else { return }
    // The state of the one before outlives it, and is newer than what this run has read.
    if lateObjects == nil, tree.node(of: object) == nil, tree.metShared.contains(identifier) {
      tree.given.noteRefused(object)
    }
    _ = adopt(LateObject(object: object, path: [ReservedNode.shared, identifier]))
    changesWereNoticed()
  }

  /// Gives a late object its state, or has it wait until every other object has its own.
  private func adopt(_ late: LateObject) -> NodeReport? {
    guard operations.current != .discarding else { return nil }
    guard restored == nil, lateObjects != nil else { return giveState(to: late) }
    lateObjects?.append(late)
    return nil
  }

  /// Gives their state to late objects that came while other objects were given theirs.
  func giveLateObjectsState() {
    while let late = lateObjects?.first {
      lateObjects?.removeFirst()
      _ = giveState(to: late)
    }
  }

  private func giveState(to late: LateObject) -> NodeReport? {
    guard let turn = restored else { return nil }
    guard let index = storedPlace(at: late.path) else {
      // The stored state belongs below another object, and stays until this one has something newer.
      if lateObjects == nil, tree.node(of: late.object) == nil, turn.index(at: late.path) != nil {
        tree.given.noteRefused(late.object)
      }
      return nil
    }
    guard turn.object(at: index) == nil else { return nil }
    if lateObjects == nil, let node = tree.node(of: late.object), !tree.mayBeGiven(node) {
      return NodeReport(path: late.path, result: .notRestored(.touchedMeanwhile))
    }
    guard !turn.isSpent(index, for: late.object), !isHeld(index, in: turn, butBy: late) else { return nil }
    return turn.interruptingNotes { giveState(to: late, from: turn, at: index) }
  }

  /// Whether another live object stands in a place: nobody else finds its row.
  private func isHeld(_ index: Int, in turn: RestoreTurn, butBy late: LateObject) -> Bool {
    guard let parent = turn.plan.nodes[index].parent.flatMap({ turn.object(at: $0) }), let above = tree.node(of: parent)
    else { return false }
    return above.children.contains { child in
      child.identifier == late.path.last && child.object != nil && child.object !== late.object
    }
  }

  /// Does with one subtree of the restored state what restoring does with all of it.
  private func giveState(to late: LateObject, from turn: RestoreTurn, at index: Int) -> NodeReport? {
    func refused(_ reason: NotRestoredReason) -> NodeReport {
      // The stored state stays until the object has something newer.
      tree.given.noteRefused(late.object)
      lookAtNewcomers(.noticed)
      return NodeReport(path: late.path, result: .notRestored(reason))
    }
    guard !extensions.isTimedOut else { return refused(.timedOut) }
    if let parent = turn.plan.nodes[index].parent, turn.object(at: parent) == nil { return refused(.parentNotRestored) }
    guard turn.isInstalled(late.object, at: index) else { return refused(.notInstalled) }
    if lateObjects == nil { turn.freePlace(of: late.object) }
    turn.makeObjects(for: late.object, at: index)
    let top = turn.chosen[index] ?? index
    let range = top..<turn.plan.nodes[top].end
    turn.installChildren(in: range)
    turn.decode(in: range)
    turn.finishLate(range)
    // In the turn that restores, the capture at its end meets them.
    if lateObjects == nil {
      turn.noteGifts(in: tree, range: range)
      if turn.object(at: top) == nil { tree.given.noteRefused(late.object) }
      if let node = tree.node(of: late.object) { tree.givenLate.append(node) }
      if let parent = turn.plan.nodes[index].parent.flatMap({ turn.object(at: $0) }) {
        parent.invalidateRestorableState()
      }
      // Together with all that are registered in this turn.
      lookAtNewcomers(.noticed)
      turn.letGo(range)
    }
    hasNewOutcomes = true
    return turn.reports(in: range).first ?? turn.reports(in: index..<index + 1).first
  }

  /// Removes preserved state that no object has, with everything below it, from the next save on.
  ///
  /// These are all variants of the place but the one of a live object, those that could not be read included. One below which
  /// a live object has state stays.
  ///
  /// - Returns: False when there is nothing to remove.
  @discardableResult
  public func forget(_ path: RestorationPath) async -> Bool {
    // A late object may have it that no capture has met yet.
    await endTurn()
    let forgotten = await operations.run(.forgetting) {
      // The path is that of now: objects may have been renamed or moved since the last capture.
      if standing == .live, let root {
        let batch = capture(root, scope: .all, context: configuration.context)
        await worker.run { $0.take(batch) }
      }
      return await worker.run { (try? $0.table.forget(path)) ?? false }
    }
    guard forgotten else { return false }
    if let index = storedPlace(at: path) { restored?.spend(index) }
    changesWereNoticed()
    return true
  }

  // MARK: - Places

  /// The place in the restored state to which a path leads now; nil when there is none.
  ///
  /// Objects may have moved since, with what they were given: what the nearest one above was given counts.
  func storedPlace(at path: RestorationPath) -> Int? {
    guard let turn = restored else { return nil }
    guard path.components.count > 1, let root, path.components.first == root.restoration.identifier else {
      return turn.index(at: path)
    }
    // Mostly nothing has moved.
    if let index = turn.index(at: path), let above = turn.plan.nodes[index].parent,
      let parent = turn.progress[above].controller, parent.restoration.identifier == turn.plan.paths[above].last,
      let name = path.last, (tree.node(of: parent)?.path ?? turn.plan.paths[above]) == path.parent
    {
      return storedPlace(of: [name], below: parent)
    }
    var (next, names) = (root, path.components.dropFirst())
    while names.count > 1,
      let child = next.listedChildren.first(where: { $0.restoration.identifier == names.first })
    {
      (next, names) = (child, names.dropFirst())
    }
    return storedPlace(of: names, below: next)
  }

  /// The place in the restored state that a name, or more, leads to from a live controller; nil when there is none.
  func storedPlace(
    of names: some Sequence<RestorationIdentifier>, below controller: any RestorableController
  ) -> Int? {
    let above = tree.node(of: controller)?.chain.dropFirst().compactMap(\.controller) ?? []
    return restored?.index(below: controller, names, ancestors: above)
  }
}
