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
    lookups.forgetChildTables()
    lookups.viewTables = [:]
    var positions: [Int: [ObjectIdentifier: Int]] = [:]
    var families: [Int: Family] = [:]
    // Siblings mostly stand one behind the other: what is known of their parent is at hand.
    var last = Family(parent: -1, isContainer: false)
    for index in range where progress[index].hasObject {
      let node = plan.nodes[index]
      guard let parent = node.parent else { continue }
      guard progress[parent].hasObject else {
        fail(index, .parentNotRestored)
        continue
      }
      guard node.kind == .controller, !node.flags.contains(.byHand) else { continue }
      if last.parent != parent {
        guard let owner = progress[parent].controller else { continue }
        if last.parent >= 0 { families[last.parent] = last }
        last = families[parent] ?? Family(parent: parent, isContainer: owner is any RestorationContainer)
      }
      guard !progress[index].existed || last.isContainer, let made = object(at: index) else { continue }
      if last.siblings == nil { last.siblings = progress[parent].controller?.listedChildren }
      let siblings = last.siblings ?? []
      // Mostly the one after the last that was looked for, also when they come one by one.
      if last.next < 0 { last.next = lookups.nextInstalled[parent] ?? 0 }
      if last.next < siblings.count, siblings[last.next] === made {
        last.next += 1
        continue
      }
      if positions[parent] == nil {
        positions[parent] = Dictionary(
          siblings.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      }
      if let position = positions[parent]?[ObjectIdentifier(made)] {
        last.next = position + 1
      } else {
        uninstalled.append(.init(object: made))
        fail(index, .notInstalled)
      }
    }
    if last.parent >= 0 { families[last.parent] = last }
    for family in families.values where family.next >= 0 { lookups.nextInstalled[family.parent] = family.next }
  }

  /// A controller and its children, while its rows are looked through.
  private struct Family {
    let parent: Int
    let isContainer: Bool
    var siblings: [any RestorableController]?
    /// The place after the child that was found last; -1 while none was looked for.
    var next = -1
  }
}
