internal import RestorationArchive

extension RestoreTurn {
  /// Tells a tree which live objects were given which nodes, before the capture at the end of the turn.
  ///
  /// Objects that could not read their own state are blank over it.
  func noteOwners(in tree: LiveTree, range: Range<Int>? = nil) {
    let range = range ?? plan.nodes.indices
    for case let object? in uninstalled.map(\.object) { tree.given.noteRefused(object) }
    uninstalled = []
    tree.given.reserve(range.count)
    for index in range {
      guard let object = object(at: index), !plan.nodes[index].isApplication else { continue }
      let given = given(at: index)
      tree.given.note(
        object, given, of: plan.details(of: index).model.map { _ in plan.identity(of: index) },
        outlives: plan.nodes[index].kind == .shared || plan.nodes[index].flags.contains(.byHand))
      if given.node != nil { progress[index].isSpent = true }
    }
  }

  /// What a node's object has of its stored state.
  private func given(at index: Int) -> CaptureBatch.Given {
    let node = plan.nodes[index].id
    // Without a record there is nothing to lose; and an edit made while locked is newer.
    let isOwn =
      progress[index].isRestored || progress[index].reason == .shed || progress[index].reason == .touchedMeanwhile
    guard isOwn else { return .over(node) }
    return progress[index].awaitsTarget ? .referrer(node) : .owner(node)
  }

  /// Notes that an object has joined the stored state and its own.
  func noteJoined(_ index: Int) {
    if !progress[index].isRestored { progress[index].restore(.existing) }
    progress[index].remarks.append(.joined)
    request.log.log(.info, "\(plan.paths[index]): joined the stored state and the typed one")
  }

  /// Takes the nodes out of the state that are of no use any more, too old or without their model: no object is given them, or
  /// the nodes below them, from now on.
  ///
  /// - Returns: These nodes, which the next save leaves away.
  func retireNodes() -> [NodeID] {
    plan.nodes.indices.compactMap { index in
      guard progress[index].reason?.deletesState == true else { return nil }
      spend(index..<plan.nodes[index].end)
      return plan.nodes[index].id
    }
  }

  /// Nodes that had been left out and came back.
  var retriedNodes: [NodeID] {
    plan.nodes.indices.compactMap { index in
      let node = plan.nodes[index]
      return node.flags.contains(.leftOut) && progress[index].isRestored ? node.id : nil
    }
  }

  /// Finds the objects that only references name and that nobody has kept; what they had is carried over.
  ///
  /// - Returns: Whether there are such.
  func rejectUnheld() -> Bool {
    var isAny = false
    for top in plan.nodes.indices where plan.nodes[top].flags.contains(.byHand) {
      guard progress[top].isRestored, object(at: top) == nil else { continue }
      for index in top..<plan.nodes[top].end where progress[index].isRestored && object(at: index) == nil {
        fail(index, index == top ? .notInstalled : .parentNotRestored)
        isAny = true
      }
    }
    return isAny
  }

  /// Whether a late object is in the hierarchy where its state was: its parent has its own state, and lists it.
  func isInstalled(_ object: any RestorableObject, at index: Int) -> Bool {
    guard let parent = plan.nodes[index].parent else { return true }
    guard let owner = progress[parent].controller else { return false }
    if plan.nodes[index].kind == .view { return owner.restorationViews.contains { $0 === object } }
    let children = owner.restorationChildren
    // Mostly the one after the last that was looked for, or the one before it.
    let next = lookups.nextInstalled[parent] ?? 0
    let beside = [next, next - 2].first { children.indices.contains($0) && children[$0] === object }
    guard let position = beside ?? children.firstIndex(where: { $0 === object }) else { return false }
    lookups.nextInstalled[parent] = position
    return true
  }
}

extension NotRestoredReason {
  /// Whether the state is deleted, as it is too old or its model is gone.
  var deletesState: Bool {
    switch self {
    case .expired, .modelGone: true
    default: false
    }
  }
}
