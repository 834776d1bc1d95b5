internal import RestorationArchive

extension RestoreTurn {
  /// Gives containers their children, parents first, in the range of nodes.
  func installChildren(in range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices where plan.nodes[index].end > index + 1 {
      guard let container = object(at: index) as? any RestorationContainer else { continue }
      var children = plan.children(of: index).map { chosen[$0] ?? $0 }.filter {
        let node = plan.nodes[$0]
        return node.kind == .controller && !node.flags.contains(.byHand) && (!node.isAbsent || object(at: $0) != nil)
      }
      removeLockedViews(from: &children, of: index)
      guard !children.isEmpty else { continue }
      // A child that was quarantined and is asked for now comes back with those beside it.
      let asked = children.filter { isMarkedQuarantined($0) && progress[$0].isRestored }
      let isAskedFor = !asked.isEmpty
      let restored = children.map { child in
        let flags = plan.nodes[child].flags
        return RestoredChild(
          path: plan.paths[child], role: role(of: child), controller: controller(at: child) ?? shutOutController(child),
          wasCarriedOver: flags.contains(.carriedOver) && !isAskedFor && !flags.contains(.absent),
          isAskedFor: asked.contains(child), isLocked: plan.nodes[child].isHole)
      }
      noteBeginning(of: index)
      container.installRestoredChildren(restored)
      findViews(of: index)
    }
    rejectUninstalled(in: range ?? plan.nodes.indices)
  }

  /// Takes the rows out of those of controllers that are views', as far as can be told.
  ///
  /// Nothing is known of a row that can't be read. But the owner has its views, and they stand behind its controllers.
  private func removeLockedViews(from children: inout [Int], of owner: Int) {
    guard children.contains(where: { plan.nodes[$0].isHole }), let controller = controller(at: owner) else { return }
    let found = Set(plan.children(of: owner).compactMap { object(at: chosen[$0] ?? $0).map(ObjectIdentifier.init) })
    noteBeginning(of: owner)
    var count = controller.listedViews.count {
      $0.restoration.protection != nil && !found.contains(ObjectIdentifier($0))
    }
    for position in children.indices.reversed() where count > 0 && plan.nodes[children[position]].isHole {
      children.remove(at: position)
      count -= 1
    }
  }

  /// The role of a row's object: at an unlock that of the row in which it has written, where it is given what another one has; and
  /// that which it has, where it had its state before.
  private func role(of row: Int) -> RestorationArchive.Role? {
    guard let object = object(at: row) else { return plan.details(of: row).role }
    if request.edits.isReadable(object) { return request.edits.role(of: object) }
    let own = request.edits.record(of: object).flatMap { recordPlaces[$0]?.row }
    return plan.details(of: own ?? row).role
  }

  /// The controller that a closed row fits: it is given nothing of that, and stands in its place.
  private func shutOutController(_ row: Int) -> (any RestorableController)? {
    guard !shutOut.isEmpty else { return nil }
    let lead = plan.lead(of: row)
    return shutOut.first { plan.lead(of: $0.row) == lead }?.object.object as? any RestorableController
  }

  /// Refuses the state of objects that their containers did not take, so that it stays stored.
  ///
  /// Objects that restoring has made die afterwards.
  private func rejectUninstalled(in range: Range<Int>) {
    lookups.forgetChildTables()
    lookups.viewTables = [:]
    // Those of the row at hand and of the rows above it, the nearest last: rows come parents first.
    var families: [Family] = []
    for index in range where hasObject(at: index) {
      let node = plan.nodes[index]
      guard let parent = node.parent else { continue }
      guard hasObject(at: parent) else {
        fail(index, .parentNotRestored)
        continue
      }
      guard node.kind == .controller, !node.flags.contains(.byHand) else { continue }
      if families.last?.parent != parent {
        while let last = families.last, plan.nodes[last.parent].end <= index { close(families.removeLast()) }
        if families.last?.parent != parent {
          guard let owner = controller(at: parent) else { continue }
          families.append(Family(parent: parent, isContainer: owner is any RestorationContainer))
        }
      }
      let last = families.count - 1
      guard !progress[index].existed || families[last].isContainer, let made = object(at: index) else { continue }
      if families[last].siblings == nil { noteBeginning(of: parent) }
      let siblings = families[last].siblings ?? controller(at: parent)?.listedChildren ?? []
      families[last].siblings = siblings
      // Mostly the one after the last that was looked for, also when they come one by one.
      if families[last].next < 0 { families[last].next = lookups.nextInstalled(of: parent) }
      let next = families[last].next
      if next < siblings.count, siblings[next] === made {
        families[last].next = next + 1
      } else if let position = families[last].position(of: made) {
        families[last].next = position + 1
      } else {
        uninstalled.append(.init(object: made))
        fail(index, .notInstalled)
      }
    }
    for family in families { close(family) }
  }

  private func close(_ family: Family) {
    if family.next >= 0 { lookups.setNextInstalled(family.next, of: family.parent, among: plan.nodes.count) }
  }

  /// A controller and its children, while its rows are looked through.
  private struct Family {
    let parent: Int
    let isContainer: Bool
    var siblings: [any RestorableController]?
    /// The place after the child that was found last; -1 while none was looked for.
    var next = -1
    private var positions: [ObjectIdentifier: Int]?

    init(parent: Int, isContainer: Bool) { (self.parent, self.isContainer) = (parent, isContainer) }

    /// The place of a child that is out of order.
    mutating func position(of child: any RestorableObject) -> Int? {
      let known =
        positions
        ?? Dictionary(
          (siblings ?? []).enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      positions = known
      return known[ObjectIdentifier(child)]
    }
  }
}
