import RestorationArchive

/// Objects that have come since the state was loaded, or since it was saved.
extension RestorationRun {
  /// Has those of a range keep what they have whose own state has taken the place of what is stored.
  func keepWhatIsNewer(in range: Range<Int>, _ tree: CaptureTree) {
    for index in range {
      guard let object = object(at: index), tree.hasTakenPlace(object, at: plan.paths[index]) else { continue }
      touched[plan.paths[index]] = LiveObjects.Living(object: object)
    }
  }

  /// Has containers that were there give up the children that are not in the state: they have come since it was preserved.
  ///
  /// Not those that it has somewhere else, from where they may have moved.
  func removeNewcomers() {
    let elsewhere = Set(
      plan.nodes.indices.lazy.filter { !self.outcomes.isRestored($0) }.compactMap { self.plan.paths[$0].last })
    for index in plan.placed where outcomes.isRestored(index) && (existing[index] || plan.nodes[index].parent == nil) {
      guard let container = object(at: index) as? any RestorationContainer else { continue }
      noteBeginning(of: index)
      let stored = Set(plan.children(of: index).compactMap { plan.paths[$0].last })
      let newcomers = container.restorationChildren.filter { child in
        guard let identifier = child.restorationIdentifier, !identifier.isEmpty else { return false }
        return !stored.contains(identifier) && !elsewhere.contains(identifier)
      }
      if !newcomers.isEmpty { container.removeChildren(newcomers) }
    }
  }
}
