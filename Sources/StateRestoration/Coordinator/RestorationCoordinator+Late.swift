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
  /// controllers above it. A save that is being written is waited for where only that knows whether the object was edited.
  ///
  /// A crash in here is put down to the object, like one during restoring. State is given once: an object that had it
  /// and has left took it along. One that was edited keeps what it has
  /// (``RestorationReport/NotRestoredReason/touchedMeanwhile``), and the stored state waits beside that until the
  /// conflict is settled; a ``MergingObject`` joins both. Called while objects are given their state, it waits
  /// until all have theirs: the restoration's report tells.
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
    noteTouched()
    // Whatever becomes of it, what the program has changed since is seen.
    defer { if lateObjects == nil { lookAtNewcomers(.noticed) } }
    guard let index = storedPlace(at: late.path) else { return nil }
    let lead = turn.plan.lead(of: index)
    // The state of a model that a controller above no longer shows stays where it is.
    let parent = turn.plan.nodes[lead].parent.flatMap { turn.controller(at: $0) }
    let above = parent.flatMap { tree.node(of: $0) }?.chain.compactMap(\.controller) ?? []
    if above.contains(where: tree.showsAnotherModel) { return nil }
    if turn.wasRefused(late.object, at: lead) {
      return NodeReport(path: late.path, result: .notRestored(turn.mismatch(of: late.object, with: lead)))
    }
    guard !turn.isSpent(lead, for: late.object), !isHeld(lead, in: turn, butBy: late) else { return nil }
    return turn.interruptingNotes { giveState(to: late, from: turn, at: lead) }
  }

  /// Finds out which objects that came by themselves were edited since a capture has met them.
  private func noteTouched() {
    guard !tree.touched.isEmpty else { return }
    // A save that is being written has found some of them edited, and the table does not say so any more.
    if !isAsking { endHandedSave() }
    let nodes = tree.touched.filter { $0.isNewcomer && !$0.isRemoved }
    tree.touched = []
    guard !nodes.isEmpty else { return }
    let edited = worker.runNow { [keys = nodes.map(\.key)] session in keys.map { session.wasEdited($0) } }
    for (node, isEdited) in zip(nodes, edited) where isEdited { node.isNewcomer = false }
  }

  /// Whether a live object has a place: the late object itself, as it was given that, or another one that stands there.
  ///
  /// An object that is called otherwise by now holds its own row alone: that is noted in the turn.
  private func isHeld(_ lead: Int, in turn: RestoreTurn, butBy late: LateObject) -> Bool {
    turn.heldRows = []
    let rows = turn.plan.rows(ledBy: lead)
    for row in rows {
      guard let object = turn.object(at: row) else { continue }
      if object === late.object { return true }
      guard turn.isInstalled(object, at: row) else { continue }
      if identifier(of: object) == late.path.last { return true }
      if !turn.isOutgrown(row) { turn.heldRows.insert(row) }
    }
    if !turn.heldRows.isEmpty, rows.allSatisfy({ turn.heldRows.contains($0) || !turn.isOwn($0, late.object) }) {
      return true
    }
    guard let parent = turn.plan.nodes[lead].parent.flatMap({ turn.controller(at: $0) }),
      let above = tree.node(of: parent)
    else { return false }
    // One that was taken out in this turn has left, and one may call itself otherwise.
    return above.children.contains { child in
      guard child.identifier == late.path.last, let object = child.object, object !== late.object,
        identifier(of: object) == late.path.last
      else { return false }
      return parent.listedChildren.contains { $0 === object } || parent.listedViews.contains { $0 === object }
    }
  }

  private func identifier(of object: any RestorableObject) -> RestorationIdentifier? {
    (object as? any RestorableController)?.restoration.identifier
      ?? (object as? any RestorableView)?.restoration.identifier
  }

  /// Does with one subtree of the restored state what restoring does with all of it.
  private func giveState(to late: LateObject, from turn: RestoreTurn, at lead: Int) -> NodeReport? {
    func refused(_ reason: RestorationReport.NotRestoredReason) -> NodeReport {
      // The stored state stays until the object has something newer.
      tree.given.noteRefused(late.object)
      return NodeReport(path: late.path, result: .notRestored(reason))
    }
    guard !extensions.isTimedOut else { return refused(.timedOut) }
    let parent = turn.plan.nodes[lead].parent
    if let parent, turn.object(at: parent) == nil { return refused(.parentNotRestored) }
    guard turn.isInstalled(late.object, at: lead) else { return refused(.notInstalled) }
    if lateObjects == nil {
      if tree.node(of: late.object) == nil { turn.freePlace(of: late.object) }
      // One that a turn has found a row for is asked for no other.
      if let controller = late.object as? any RestorableController, turn.index(of: controller) != nil { return nil }
      turn.keepsLate = { [tree] object in tree.node(of: object).map { !tree.mayBeGiven($0) } ?? false }
      turn.hasRowNow = { [tree, worker] object, row in
        guard let key = tree.node(of: object)?.key else { return false }
        return worker.runNow { $0.table.row(of: key) == $0.table.currentRow(row) }
      }
    }
    defer { (turn.keepsLate, turn.hasRowNow, turn.heldRows) = (nil, nil, []) }
    let found = turn.makeObjects(for: late.object, at: lead)
    let range = found.map { $0..<turn.plan.nodes[$0].end } ?? lead..<lead
    turn.installChildren(in: range)
    turn.decode(in: range)
    turn.finishLate(range)
    // In the turn that restores, the capture at its end meets them.
    if lateObjects == nil {
      tree.givenLate += turn.shutOut.compactMap { $0.object.object.flatMap(tree.node(of:)) }
      turn.noteGifts(in: tree, range: range)
      if found == nil {
        turn.noteRefused(late.object, at: lead)
        tree.given.noteRefused(late.object)
      }
      for index in range {
        if let node = turn.object(at: index).flatMap({ tree.node(of: $0) }) { tree.givenLate.append(node) }
      }
      if let parent = parent.flatMap({ turn.object(at: $0) }) { parent.invalidateRestorableState() }
      turn.letGo(range)
    }
    hasNewOutcomes = true
    return turn.reports(in: range).first
      ?? NodeReport(
        path: late.path, result: .notRestored(turn.reason(lead) ?? turn.mismatch(of: late.object, with: lead)))
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
      let parent = turn.controller(at: above), parent.restoration.identifier == turn.plan.paths[above].last,
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
