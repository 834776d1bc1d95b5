internal import RestorationArchive

extension RestorationRun {
  /// Gives containers their children, parents first, in the range of nodes.
  func installChildren(in range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices where plan.nodes[index].childCount > 0 {
      guard let container = object(at: index) as? any RestorationContainer else { continue }
      let children = plan.children(of: index).map { standIns[$0] ?? $0 }.filter {
        plan.nodes[$0].kind == .controller && !plan.nodes[$0].flags.contains(.byHand)
      }
      guard !children.isEmpty else { continue }
      // What restoring died at and is asked for by name comes back, with what was beside it.
      let isAskedFor = children.contains { plan.nodes[$0].flags.contains(.leftOut) && outcomes.isRestored($0) }
      let restored = children.map { child in
        let flags = plan.nodes[child].flags
        let role = flags.contains(.hasRole) ? withDecoder(for: child) { try? $0.role() } : nil
        if role == .presented { keepPresented(child, in: container) }
        return RestoredChild(
          path: plan.paths[child], role: role, controller: objects.controller(at: child), existed: existing[child],
          wasCarriedOver: flags.contains(.carriedOver) && !isAskedFor && child < plan.placed.upperBound)
      }
      noteBeginning(of: index)
      container.installRestoredChildren(restored)
      findViews(of: index)
    }
    rejectUninstalled(in: range ?? plan.nodes.indices)
  }

  /// Keeps a dialog that the user has presented while the device was locked, whatever was made in its place: somebody is
  /// about to answer it.
  private func keepPresented(_ index: Int, in container: any RestorationContainer) {
    guard let presented = touched[plan.paths[index]]?.object as? any RestorableController,
      presented !== objects.controller(at: index), container.restorationChildren.contains(where: { $0 === presented })
    else { return }
    let range = index..<plan.nodes[index].end
    for index in range {
      childTables[index] = nil
      viewTables[index] = nil
    }
    forgetOutcomes(in: range)
    existing[index] = true
    guard admit(presented, at: index, origin: .existing) else { return }
    makeObjects(in: range.dropFirst())
  }

  /// A made object that no container took dies after restoring: its state is not given away.
  private func rejectUninstalled(in range: Range<Int>) {
    childTables = [:]
    viewTables = [:]
    var positions: [Int: [ObjectIdentifier: Int]] = [:]
    var children: [Int: [any RestorableController]] = [:]
    for index in range where outcomes.isRestored(index) {
      let node = plan.nodes[index]
      if !uninstalled.isEmpty, let parent = node.parent, uninstalled[parent] != nil {
        leaveUninstalled(index, .parentNotRestored)
        continue
      }
      guard !existing[index] else { continue }
      guard node.kind == .controller, !node.flags.contains(.byHand), let parent = node.parent,
        let made = object(at: index), let owner = objects.controller(at: parent)
      else {
        if let parent = node.parent, !outcomes.isRestored(parent), node.kind == .controller {
          leaveUninstalled(index, .parentNotRestored)
        }
        continue
      }
      let siblings = children[parent] ?? owner.restorationChildren
      children[parent] = siblings
      // Mostly the one after the last that was looked for, also when they turn up one by one.
      if let next = nextInstalled[parent], next < siblings.count, siblings[next] === made {
        nextInstalled[parent] = next + 1
        continue
      }
      if positions[parent] == nil {
        positions[parent] = Dictionary(
          siblings.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      }
      if let position = positions[parent]?[ObjectIdentifier(made)] {
        nextInstalled[parent] = position + 1
      } else {
        leaveUninstalled(index, .notInstalled)
      }
    }
  }

  /// A node's object is in no hierarchy; whoever owns it may install it after all.
  private func leaveUninstalled(_ index: Int, _ reason: NotRestoredReason) {
    let object = object(at: index)
    fail(index, reason)
    uninstalled[index] = .init(object: object)
  }
}
