internal import RestorationArchive

extension RestorationCoordinator {
  /// Settles the conflict of an object for which several states are stored: older ones lie beside the one that it has.
  ///
  /// That happens when the user has edited an object that could not read its state: while the device was locked, in an
  /// older version of the program, or after a crash. The report names such objects with
  /// ``RestorationReport/Remark/superseded(_:)``. The older states stay until the object leaves the hierarchy, or until
  /// the program settles the conflict:
  ///
  /// ```swift
  /// for node in report.nodes where node.remarks.contains(where: \.isConflict) {
  ///   restorer.settleConflict(of: editor) { older in
  ///     editor.draft += "\n" + older.compactMap { try? $0.decode(String.self, forKey: "draft") }.joined()
  ///   }
  /// }
  /// ```
  ///
  /// What the body sets is saved like any edit. The older states go with the next save, unless the body throws.
  ///
  /// - Parameters:
  ///   - object: The object, in the hierarchy.
  ///   - body: Reads the older states, the oldest first; the decoders are good until it returns.
  /// - Returns: False when the object has no conflict that this run's restoration knows of; the body is not called then.
  @discardableResult
  public func settleConflict(
    of object: any RestorableObject, _ body: ([RestorationDecoder]) throws -> Void = { _ in }
  ) rethrows -> Bool {
    try settleConflict(of: object, unless: { false }, body)
  }

  /// Settles a conflict, unless older states have to stay, as some could not be read.
  func settleConflict(
    of object: any RestorableObject, unless stays: () -> Bool, _ body: ([RestorationDecoder]) throws -> Void
  ) rethrows -> Bool {
    // The table learns of a late object's state at the end of that object's turn, or here.
    if lateObjects == nil, !isAsking { endThisTurn() }
    guard let turn = restored, let older = turn.superseded(of: object) else { return false }
    // In a hook of the turn that gives it, no capture has met the object with what it was given.
    let isMet = turn.isGiftNoted(of: object)
    let key = isMet ? tree.node(of: object)?.key : nil
    if isMet, key == nil { return false }
    let coders = older.map { turn.makeDecoder(of: $0) }
    defer { for coder in coders { coder.finish() } }
    try body(coders)
    if stays() { return false }
    let settled = turn.settle(object)
    if let key { worker.post { try? $0.table.settle(key, settled) } }
    changesWereNoticed()
    return true
  }
}

extension RestorationCoordinator {
  /// Settles the conflict of an object whose whole state is one value, with the older states as values, migrated where they are
  /// older; see ``settleConflict(of:_:)``.
  ///
  /// ```swift
  /// restorer.settleConflict(of: editor, withStates: { older in
  ///   editor.restorableState.draft += older.map(\.draft).joined()
  /// })
  /// ```
  ///
  /// A state that can't be decoded is not among them, and stays stored.
  @discardableResult
  public func settleConflict<Object: StatefulObject>(
    of object: Object, withStates body: ([Object.RestorableState]) throws -> Void
  ) rethrows -> Bool {
    var isWhole = true
    let isSettled = try settleConflict(of: object, unless: { !isWhole }) { coders in
      var states: [Object.RestorableState] = []
      let version = ClassPlan.plan(for: type(of: object)).version(of: object)
      for coder in coders {
        if let state = try? ValueFacet<Object, Object.RestorableState>().decoded(coder, version, for: object) {
          states.append(state)
        } else {
          isWhole = false
        }
      }
      try body(states)
    }
    return isSettled
  }
}

extension RestorationReport.Remark {
  /// Whether it tells of older states that wait until the program settles the conflict.
  public var isConflict: Bool { if case .superseded = self { true } else { false } }
}

extension RestoreTurn {
  /// The older records that an object could have been given, the oldest first; nil when there are none.
  func superseded(of object: any RestorableObject) -> [RestorePlan.RecordPlace]? {
    guard let index = row(of: object), case .records(let gift) = progress[index].gift, !gift.superseded.isEmpty else {
      return nil
    }
    return gift.superseded.compactMap { recordPlaces[$0] }.sorted { plan.save(of: $0) < plan.save(of: $1) }
  }

  /// Whether the tree was told what an object was given.
  func isGiftNoted(of object: any RestorableObject) -> Bool { row(of: object).map { progress[$0].isSpent } ?? false }

  /// Says that the older records that an object could have been given go.
  ///
  /// As long as no capture has met the object, they go with that.
  ///
  /// - Returns: These records.
  func settle(_ object: any RestorableObject) -> [NodeID] {
    guard let index = row(of: object), case .records(var gift) = progress[index].gift else { return [] }
    let settled = gift.superseded
    if !progress[index].isSpent { gift.first += settled }
    gift.superseded = []
    progress[index].gift = .records(gift)
    progress[index].remarks.removeAll(where: \.isConflict)
    return settled
  }

  private func row(of object: any RestorableObject) -> Int? {
    if let controller = object as? any RestorableController, let index = index(of: controller) { return index }
    return plan.nodes.indices.first { self.object(at: $0) === object }
  }
}
