internal import RestorationArchive

extension RestorationRun {
  /// Tells a tree of the live objects that have their state and of the nodes it came from; also of those whose newer
  /// state the user made.
  ///
  /// Live objects below a node that was left out are among them: their stored state stays until they have newer state.
  func claim(in tree: CaptureTree) {
    tree.claims.reserveCapacity(plan.nodes.count)
    for index in plan.nodes.indices {
      if let object = object(at: index) {
        let kept = reinstated.isEmpty ? nil : reinstated[index]?.id
        var claim = makeClaim(object, at: index, keepsStored: keepsStored(index), isLate: isLate(index), kept: kept)
        claim.isShared = plan.nodes[index].kind == .shared
        if claim.keepsStored || claim.isLate {
          tree.claim([claim])
        } else {
          tree.claims[ObjectIdentifier(object)] = claim
        }
      } else if let claim = uninstalledClaim(index) {
        tree.claim([claim])
      }
    }
    claimBare(plan.nodes.indices, in: tree, isLate: false)
  }

  /// Tells a tree of the live objects in the places of nodes that were refused or left out, and of those below them: what is
  /// stored there stays until they have newer state.
  func claimBare(_ range: Range<Int>, in tree: CaptureTree, isLate: Bool) {
    guard outcomes.hasRejected else { return }
    var standing: [Int: any RestorableController] = [:]
    var bare: [Int] = []
    var children: [Int: ChildTable<any RestorableController>] = [:]
    for index in range where object(at: index) == nil && uninstalled[index]?.object == nil {
      switch outcomes.reason(index) {
      case .leftOutAfterCrash?, .parentNotRestored?, .classMismatch?, .modelMismatch?: break
      default: continue
      }
      let node = plan.nodes[index]
      guard let identifier = plan.paths[index].last else { continue }
      var found: (any RestorableObject)?
      if node.kind == .shared {
        found = registry.sharedObject(identifier)
      } else if let parent = node.parent {
        guard let above = standing[parent] ?? objects.controller(at: parent) else { continue }
        found = find(index, below: above, &children)
      } else {
        found = root?.restorationIdentifier == identifier ? root : nil
      }
      guard let found else { continue }
      if let controller = found as? any RestorableController { standing[index] = controller }
      var claim = makeClaim(found, at: index, keepsStored: true, isLate: isLate)
      // Of what was left out nobody has asked before.
      claim.isStranger = isStranger(index) || mismatch(of: found, at: index) != nil
      claim.isByPath = claim.isStranger || outcomes.reason(index) == .parentNotRestored
      claim.isShared = node.kind == .shared
      leaveOut(&claim, at: index)
      tree.claim([claim])
      if isStranger(index) || (claim.isLeftOut && !claim.staysLeftOut) { bare.append(index) }
    }
    for index in bare { standing[index].map(tree.noteRefused) }
  }

  /// The live view or child of a controller that has a node's identifier.
  private func find(
    _ index: Int, below above: any RestorableController, _ children: inout [Int: ChildTable<any RestorableController>]
  ) -> (any RestorableObject)? {
    guard let parent = plan.nodes[index].parent, let identifier = plan.paths[index].last else { return nil }
    if plan.nodes[index].kind == .view {
      return above.restorationViews.first { $0.restorationIdentifier == identifier }
    }
    let table = children[parent] ?? ChildTable(childrenOf: above)
    children[parent] = table
    return table.child(identifier)
  }

  /// Says in a claim that restoring died at the node.
  private func leaveOut(_ claim: inout CaptureTree.Claim, at index: Int) {
    claim.isLeftOut = leftOut.contains(index) || plan.nodes[index].flags.contains(.leftOut)
    claim.staysLeftOut = claim.isLeftOut && diedAgain(at: index)
  }

  /// Whether restoring has died at what is kept for a place, too: to try what is below it by itself once more could go on like
  /// this at every second launch.
  private func diedAgain(at index: Int) -> Bool {
    plan.kept[index]?.contains { $0.top == nil && $0.attributes.flags.contains(.leftOut) } ?? false
  }

  /// Objects that have turned up and the nodes of their state, which is kept until they have newer state if they could not
  /// read it or nobody had installed them.
  func lateClaims(in range: Range<Int>) -> [CaptureTree.Claim] {
    range.compactMap { index in
      guard let object = object(at: index) else { return uninstalledClaim(index) }
      guard outcomes.isRestored(index) || keepsStored(index) else { return nil }
      var claim = makeClaim(object, at: index, keepsStored: keepsStored(index), isLate: true)
      claim.isByPath = reinstated[index] != nil
      return claim
    }
  }

  /// An object that came too late and the live objects below it, whose stored state is kept until they have newer state.
  func tooLate(_ claim: CaptureTree.Claim, at top: Int) -> [CaptureTree.Claim] {
    guard let object = claim.object else { return [] }
    var claim = claim
    claim.isStranger = mismatch(of: object, at: top) != nil
    claim.isByPath = claim.isStranger || !isBelowItsOwn(object, at: top)
    leaveOut(&claim, at: top)
    guard let controller = object as? any RestorableController else { return [claim] }
    var claims = [claim]
    var standing = [top: controller]
    var children: [Int: ChildTable<any RestorableController>] = [:]
    for index in plan.nodes.indices[(top + 1)..<plan.nodes[top].end] {
      guard let above = plan.nodes[index].parent.flatMap({ standing[$0] }),
        let found = find(index, below: above, &children)
      else { continue }
      if let controller = found as? any RestorableController { standing[index] = controller }
      var claim = makeClaim(found, at: index, keepsStored: true, isLate: true)
      claim.isStranger = mismatch(of: found, at: index) != nil
      claim.isByPath = true
      leaveOut(&claim, at: index)
      claims.append(claim)
    }
    return claims
  }

  /// Finds the objects that only references name and that nobody has kept; what they had is carried over.
  ///
  /// - Returns: Their nodes and those below them.
  func leaveUnheld() -> Set<NodeID> {
    var nodes: Set<NodeID> = []
    for top in plan.nodes.indices where plan.nodes[top].flags.contains(.byHand) {
      guard outcomes.isRestored(top), object(at: top) == nil else { continue }
      for index in top..<plan.nodes[top].end where outcomes.isRestored(index) && object(at: index) == nil {
        fail(index, index == top ? .notInstalled : .parentNotRestored)
        nodes.insert(plan.nodes[index].id)
      }
    }
    return nodes
  }

  /// An object that no container took, whose stored state is kept until it is installed after all and has newer state.
  ///
  /// Whose that state is was never asked if nobody is known to be above it: then the object only borrows the place.
  private func uninstalledClaim(_ index: Int) -> CaptureTree.Claim? {
    guard !uninstalled.isEmpty, let object = uninstalled[index]?.object else { return nil }
    let isByPath = outcomes.reason(index) == .parentNotRestored
    let place = isByPath ? standIns.first { $1 == index }?.key : nil
    var claim = makeClaim(object, at: place ?? index, keepsStored: true, isLate: true)
    claim.isStranger = place != nil
    claim.isByPath = isByPath
    return claim
  }

  /// What an object has to do with a node, or with what is kept for the node's place.
  func makeClaim(
    _ object: any RestorableObject, at index: Int, keepsStored: Bool, isLate: Bool = false, kept: NodeID? = nil
  ) -> CaptureTree.Claim {
    let node = plan.nodes[index]
    return CaptureTree.Claim(
      object: object, node: kept ?? node.id, identifier: plan.paths[index].last,
      parent: node.parent.map { plan.nodes[$0].id }, keepsStored: keepsStored, isLate: isLate)
  }

  /// Whether the state was refused because it is another class's or model's.
  func isStranger(_ index: Int) -> Bool {
    switch outcomes.reason(index) {
    case .classMismatch?, .modelMismatch?: true
    default: false
    }
  }

  /// Whether the stored state was refused for a reason that keeps it until the object has something newer, or refers to what
  /// may come back.
  private func keepsStored(_ index: Int) -> Bool {
    if awaitingTargets.contains(index) { return true }
    switch outcomes.reason(index) {
    case .newerVersion?, .migrationFailed?, .decodingFailed?, .damaged?: return true
    default: return false
    }
  }

  /// Nodes whose own rules say that they are of no use any more: too old, or without their model.
  var droppedNodes: [NodeID] {
    guard outcomes.hasRejected else { return [] }
    return plan.nodes.indices.compactMap { outcomes.reason($0)?.retires == true ? plan.nodes[$0].id : nil }
  }

  /// Nodes that were left out for the first time in this run, and what is kept for a place and was.
  var leftOutNodes: [NodeID] {
    let kept = (plan.kept.values.joined() + [plan.keptApplication].compactMap(\.self)).filter {
      culprits.contains($0.id) && !$0.attributes.flags.contains(.leftOut)
    }
    guard !leftOut.isEmpty else { return kept.map(\.id) }
    return plan.nodes.indices.compactMap { index in
      let node = plan.nodes[index]
      return leftOut.contains(index) && !node.flags.contains(.leftOut) ? node.id : nil
    }
  }

  /// Nodes that had been left out and came back.
  var retriedNodes: [NodeID] {
    plan.nodes.indices.compactMap { index in
      let node = plan.nodes[index]
      return node.flags.contains(.leftOut) && outcomes.isRestored(index) ? node.id : nil
    }
  }

  /// State that came back from where it was kept, and the nodes whose state gave way to it.
  var reinstatements: [(kept: NodeID, node: NodeID)] {
    reinstated.map { ($1.id, plan.nodes[$0].id) }.sorted { $0.kept.rawValue < $1.kept.rawValue }
  }
}

extension RestorationRun {
  /// Whether an object that has turned up for a node lies below what its state was preserved below: the same objects, or
  /// others of the same class and model that have taken their places.
  func isAtHome(_ object: any RestorableObject, at index: Int) -> Bool {
    var ancestors: [Int] = []
    var next = plan.nodes[index].parent
    while let parent = next {
      ancestors.append(parent)
      next = plan.nodes[parent].parent
    }
    // Who has the object itself as a child is above it, also while others stand in the places further up.
    let isBelowKnown = ancestors.first.map { lists(object, below: $0) } ?? false
    var above: (any RestorableController)?
    for ancestor in ancestors.reversed() where outcomes.isRestored(ancestor) {
      let known = objects.controller(at: ancestor)
      if let container = above, !isBelowKnown || known == nil {
        // Another may stand in the place of one that has left the hierarchy and lives on.
        above = container.restorationChildren.first { $0.restorationIdentifier == plan.paths[ancestor].last } ?? known
      } else {
        above = known
      }
      guard let above, mismatch(of: above, at: ancestor) == nil else { return false }
    }
    return true
  }

  /// Whether what is stored above an object that has turned up is known to be that of the objects above it.
  private func isBelowItsOwn(_ object: any RestorableObject, at index: Int) -> Bool {
    guard plan.nodes[index].parent.map({ outcomes.isRestored($0) }) ?? true else { return false }
    return isAtHome(object, at: index)
  }

  /// Whether the object of a node has another as a child.
  private func lists(_ object: any RestorableObject, below parent: Int) -> Bool {
    guard let children = objects.controller(at: parent)?.restorationChildren else { return false }
    // Mostly the one after the last that was looked for.
    if let next = nextInstalled[parent], next < children.count, children[next] === object { return true }
    return children.contains { $0 === object }
  }
}
