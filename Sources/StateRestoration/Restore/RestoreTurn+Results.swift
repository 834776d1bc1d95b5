internal import RestorationArchive

extension RestoreTurn {
  /// Tells a tree what live objects were given, before the capture at the end of the turn.
  func noteGifts(in tree: LiveTree, range: Range<Int>? = nil) {
    let isLate = range != nil
    let range = range ?? plan.nodes.indices
    for case let object? in uninstalled.map(\.object) { tree.given.noteRefused(object) }
    uninstalled = []
    for (shut, row) in shutOut {
      if let object = shut.object {
        let id = plan.nodes[row].id
        noteUnread(row)
        tree.given.note(
          object, isLate ? .late(id) : .unread(id), of: plan.details(of: row).model.map { _ in plan.identity(of: row) },
          outlives: true)
      }
    }
    shutOut = []
    tree.given.reserve(range.count)
    for index in range {
      guard let object = object(at: index), !plan.nodes[index].isApplication else { continue }
      if !isLate, isEdited(object) { tree.given.noteEdit(object) }
      if let controller = controller(at: index), controller.restoration.identifier != plan.paths[index].last {
        tree.given.noteRenamed(object)
      }
      var given = given(at: index)
      let row = plan.nodes[index].id
      if given == .unread(row) { noteUnread(index) }
      // Also what a migration has made of no record.
      if isLate, given == .unread(row) || (given.node == row && plan.records(of: index).isEmpty) { given = .late(row) }
      tree.given.note(
        object, given, of: plan.details(of: index).model.map { _ in plan.identity(of: index) },
        outlives: plan.nodes[index].kind == .shared || plan.nodes[index].flags.contains(.byHand))
      if given.gift != nil || plan.records(of: index).isEmpty { progress[index].isSpent = true }
    }
    if !isLate { noteUnfound(in: tree) }
  }

  /// Objects that have written something, and for which there is no row where they are now, bring that in which they wrote.
  private func noteUnfound(in tree: LiveTree) {
    let writers = request.edits.writers
    guard !writers.isEmpty else { return }
    let found = Set(plan.nodes.indices.compactMap { object(at: $0).map { ObjectIdentifier($0) } })
    for case let object? in writers.map(\.object) where !found.contains(ObjectIdentifier(object)) {
      guard let number = request.edits.record(of: object), let record = recordPlaces[number],
        !hasObject(at: record.row), isOwn(record.row, object)
      else { continue }
      if isEdited(object) { tree.given.noteEdit(object) }
      tree.given.note(
        object, .record(CaptureBatch.Gift(row: plan.nodes[record.row].id, record: number)),
        of: plan.details(of: record.row).model.map { _ in plan.identity(of: record.row) }, outlives: true)
      progress[record.row].isSpent = true
    }
  }

  /// What a row's object has of its records.
  func given(at index: Int) -> CaptureBatch.Given {
    let row = plan.nodes[index].id
    switch progress[index].gift {
    case .own:
      if !progress[index].isChanged { return .own(row) }
      return .record(CaptureBatch.Gift(row: row, record: row, isChanged: true))
    case .records(var gift):
      gift.isChanged = progress[index].isChanged
      return .record(gift)
    case .nothing:
      // Without a record there is nothing to lose.
      if plan.records(of: index).isEmpty { return .own(row) }
      return .unread(row)
    }
  }

  /// Takes the rows out of the state that are of no use any more, too old or without their model: no object is given them, or
  /// those below them, from now on.
  ///
  /// - Returns: These rows, which the next save leaves away.
  func retireRows() -> [NodeID] {
    plan.nodes.indices.compactMap { index in
      guard progress[index].reason?.deletesState == true else { return nil }
      spend(index..<plan.nodes[index].end)
      return plan.nodes[index].id
    }
  }

  /// The quarantined records that were given and did well.
  var acquittedRecords: [NodeID] {
    plan.nodes.indices.compactMap { index in
      guard progress[index].isRestored else { return nil }
      switch progress[index].gift {
      case .records(let gift):
        guard let record = gift.record else { return nil }
        return recordPlaces[record].map { plan.flags(of: $0).contains(.quarantined) } == true ? record : nil
      case .own, .nothing:
        return plan.nodes[index].flags.contains(.quarantined) ? plan.nodes[index].id : nil
      }
    }
  }

  /// The closed rows that were asked for once more, and have objects now.
  var reopenedRows: [NodeID] {
    plan.nodes.indices.compactMap { index in
      plan.nodes[index].flags.contains(.closed) && hasObject(at: index) ? plan.nodes[index].id : nil
    }
  }

  /// Says of rows whose objects have left in the turn that they have none.
  func rejectLeft(_ rows: [NodeID], from tree: LiveTree) {
    let rows = Set(rows)
    for index in plan.nodes.indices where progress[index].isRestored && rows.contains(plan.nodes[index].id) {
      guard object(at: index).map({ tree.node(of: $0) == nil }) ?? true else { continue }
      progress[index].reject(.notInstalled)
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
    guard let owner = controller(at: parent) else { return false }
    if plan.nodes[index].kind == .view { return owner.listedViews.contains { $0 === object } }
    let children = owner.listedChildren
    // Mostly the one after the last that was looked for, or the one before it.
    let next = lookups.nextInstalled(of: parent)
    let beside = [next, next - 2].first { children.indices.contains($0) && children[$0] === object }
    guard let position = beside ?? children.firstIndex(where: { $0 === object }) else { return false }
    lookups.setNextInstalled(position, of: parent, among: plan.nodes.count)
    return true
  }
}

/// The row, and the record, at which restoring died the last time.
package struct PlaceOfDeath: Hashable, Sendable {
  /// One row on the way to it.
  package struct Step: Hashable, Sendable {
    package var identifier: String
    /// Today's tag of its class, or the name of its type.
    package var tag: String?
    package var model: String?
  }

  /// The rows from the top to that at which it died.
  package var steps: [Step]
  /// The position of the record among those of the row, the oldest first; nil when it has none.
  package var record: Int?
}

extension RestorationCoordinator {
  /// Where restoring died before it was restored this time; nil when it did not, or when nobody knows.
  package var placeOfDeath: PlaceOfDeath? { restored?.placeOfDeath }
}

extension RestoreTurn {
  fileprivate var placeOfDeath: PlaceOfDeath? {
    guard let node = request.crashNode, let place = recordPlaces[node] else { return nil }
    let rows = sequence(first: place.row) { [plan] in plan.nodes[$0].parent }
    let steps = rows.map { row in
      PlaceOfDeath.Step(
        identifier: plan.paths[row].last?.rawValue ?? "", tag: plan.tag(of: row)?.rawValue,
        model: plan.details(of: row).model?.rawValue)
    }
    let records = plan.records(of: place.row).sorted { plan.save(of: $0) < plan.save(of: $1) }
    return PlaceOfDeath(steps: steps.reversed(), record: records.firstIndex { plan.id(of: $0) == node })
  }
}

extension RestorationReport.NotRestoredReason {
  /// Whether the state is deleted, as it is too old, or its model or class is gone.
  var deletesState: Bool {
    switch self {
    case .expired, .modelGone, .classRetired: true
    default: false
    }
  }
}
