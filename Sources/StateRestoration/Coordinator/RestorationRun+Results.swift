internal import RestorationArchive

extension RestorationRun {
  /// Live objects that have their state, with the nodes it came from; also those whose newer state the user made.
  ///
  /// Live objects below a node that was left out are among them: their stored state stays until they have newer state.
  var claims: [CaptureTree.Claim] {
    var standing: [Int: any RestorableController] = [:]
    var children: [Int: ChildTable<any RestorableController>] = [:]
    return plan.nodes.indices.compactMap { index -> CaptureTree.Claim? in
      let node = plan.nodes[index]
      if let object = object(at: index) {
        let kept = reinstated[index]?.id
        return CaptureTree.Claim(object: object, node: kept ?? node.id, keepsStored: keepsStored(index))
      }
      switch outcomes[index]?.notRestoredReason {
      case .leftOutAfterCrash?, .parentNotRestored?: break
      default: return nil
      }
      guard node.kind == .controller, let identifier = node.path.last else { return nil }
      var found: (any RestorableController)?
      if let parent = node.parent {
        guard let above = standing[parent] ?? object(at: parent) as? any RestorableController else { return nil }
        if children[parent] == nil { children[parent] = ChildTable(childrenOf: above) }
        found = children[parent]?.child(identifier)
      } else {
        found = root?.restorationIdentifier == identifier ? root : nil
      }
      guard let found else { return nil }
      standing[index] = found
      return CaptureTree.Claim(object: found, node: node.id, keepsStored: true)
    }
  }

  /// Whether the stored state was refused for a reason that keeps it until the object has something newer.
  private func keepsStored(_ index: Int) -> Bool {
    switch outcomes[index]?.notRestoredReason {
    case .newerVersion?, .migrationFailed?, .decodingFailed?, .damaged?: true
    default: false
    }
  }

  /// Nodes whose own rules say that they are of no use any more: too old, or without their model.
  var droppedNodes: [NodeID] {
    plan.nodes.indices.compactMap { index in
      switch outcomes[index]?.notRestoredReason {
      case .expired?, .modelGone?: plan.nodes[index].id
      default: nil
      }
    }
  }

  /// Nodes that were left out for the first time in this run.
  var leftOutNodes: [NodeID] {
    plan.nodes.indices.compactMap { index in
      let node = plan.nodes[index]
      return leftOut.contains(index) && !node.attributes.flags.contains(.leftOut) ? node.id : nil
    }
  }

  /// Nodes that had been left out and came back.
  var retriedNodes: [NodeID] {
    plan.nodes.indices.compactMap { index in
      let node = plan.nodes[index]
      return node.attributes.flags.contains(.leftOut) && outcomes[index]?.isRestored == true ? node.id : nil
    }
  }

  /// Forgets what became of a range of nodes, before they are met again.
  func forgetOutcomes(in range: Range<Int>) {
    for index in range { clear(index) }
  }

  /// State that came back from where it was kept, and the nodes whose state gave way to it.
  var reinstatements: [(kept: NodeID, node: NodeID)] {
    reinstated.map { ($1.id, plan.nodes[$0].id) }.sorted { $0.kept.rawValue < $1.kept.rawValue }
  }
}
