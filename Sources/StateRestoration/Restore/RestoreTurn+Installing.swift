internal import RestorationArchive

extension RestoreTurn {
  /// Gives containers their children, parents first, in the range of nodes.
  func installChildren(in range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices where plan.nodes[index].end > index + 1 {
      guard let container = object(at: index) as? any RestorationContainer else { continue }
      let children = plan.children(of: index).map { chosen[$0] ?? $0 }.filter {
        let node = plan.nodes[$0]
        return node.kind == .controller && !node.flags.contains(.byHand) && (!node.isAbsent || object(at: $0) != nil)
      }
      guard !children.isEmpty else { continue }
      // A child that was quarantined and is asked for now comes back with those beside it.
      let asked = children.filter { isMarkedQuarantined($0) && progress[$0].isRestored }
      let isAskedFor = !asked.isEmpty
      let restored = children.map { child in
        let flags = plan.nodes[child].flags
        return RestoredChild(
          path: plan.paths[child], role: plan.details(of: child).role, controller: progress[child].controller,
          wasCarriedOver: flags.contains(.carriedOver) && !isAskedFor && !flags.contains(.absent),
          isAskedFor: asked.contains(child))
      }
      noteBeginning(of: index)
      container.installRestoredChildren(restored)
      findViews(of: index)
    }
    rejectUninstalled(in: range ?? plan.nodes.indices)
  }

  /// Refuses the state of objects that their containers did not take, so that it stays stored.
  ///
  /// Objects that restoring has made die afterwards.
  private func rejectUninstalled(in range: Range<Int>) {
    lookups.childTables = [:]
    lookups.viewTables = [:]
    var positions: [Int: [ObjectIdentifier: Int]] = [:]
    var children: [Int: [any RestorableController]] = [:]
    for index in range where object(at: index) != nil {
      let node = plan.nodes[index]
      if let parent = node.parent, progress[parent].object == nil {
        fail(index, .parentNotRestored)
        continue
      }
      guard node.kind == .controller, !node.flags.contains(.byHand), let parent = node.parent,
        let made = object(at: index), let owner = progress[parent].controller,
        !progress[index].existed || owner is any RestorationContainer
      else { continue }
      let siblings = children[parent] ?? owner.restorationChildren
      children[parent] = siblings
      // Mostly the one after the last that was looked for, also when they come one by one.
      if let next = lookups.nextInstalled[parent], next < siblings.count, siblings[next] === made {
        lookups.nextInstalled[parent] = next + 1
        continue
      }
      if positions[parent] == nil {
        positions[parent] = Dictionary(
          siblings.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      }
      if let position = positions[parent]?[ObjectIdentifier(made)] {
        lookups.nextInstalled[parent] = position + 1
      } else {
        uninstalled.append(.init(object: made))
        fail(index, .notInstalled)
      }
    }
  }
}
