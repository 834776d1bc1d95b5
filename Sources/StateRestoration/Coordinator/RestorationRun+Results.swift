internal import RestorationArchive

extension RestorationRun {
  /// Live objects that have their state, with the nodes it came from; also those whose newer state the user made.
  var claims: [CaptureTree.Claim] {
    plan.nodes.indices.compactMap { index -> CaptureTree.Claim? in
      guard let object = object(at: index) else { return nil }
      return CaptureTree.Claim(object: object, node: plan.nodes[index].id, keepsStored: keepsStored(index))
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
}
