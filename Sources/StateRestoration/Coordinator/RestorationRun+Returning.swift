internal import RestorationArchive

extension RestorationRun {
  /// Gives a controller what was kept when another class's or model's state took its place, with everything below it.
  ///
  /// - Returns: False when nothing is kept for it.
  func bringBack(
    to controller: any RestorableController, at index: Int, _ origin: NodeReport.Origin
  ) -> Bool {
    guard let top = keptSubtree(for: controller, at: index) else { return false }
    let range = index..<plan.nodes[index].end
    let returning = top..<plan.nodes[top].end
    existing[top] = existing[index]
    // What was given stays given.
    for index in range where !outcomes.isRestored(index) { clear(index) }
    superseded.formUnion(range)
    standIns[index] = top
    for index in range { paths[plan.paths[index]] = nil }
    for index in returning { paths[plan.paths[index]] = index }
    objects.hold(controller, at: top)
    outcomes.restore(top, origin)
    outcomes.add(.broughtBack, at: top)
    noteTag(at: top)
    log.log(.info, "\(plan.paths[top]) was brought back from the kept states")
    for index in returning.dropFirst() { meet(index) }
    return true
  }

  /// Gives the controller that is in a place what is kept for it, when the state there goes as its own rules say.
  func bringBackInsteadOfRetired(to controller: any RestorableController, at index: Int) {
    guard mismatch(of: controller, at: index) != nil else { return }
    existing[index] = true
    existing[index] = bringBack(to: controller, at: index, .existing)
  }

  /// The node of an object that turns up where another one has been given what was kept for it: the place, when what
  /// stands in is not its own either.
  func place(of object: any RestorableObject, insteadOf top: Int) -> Int {
    guard let index = standIns.first(where: { $1 == top })?.key, let controller = object as? any RestorableController,
      mismatch(of: controller, at: top) != nil
    else { return top }
    withdraw(top, from: index)
    return index
  }

  /// Takes back what was brought back in a range of nodes and that no capture met: those who had it have died, and it is
  /// the next ones'.
  func takeBackUnmet(in range: Range<Int>, _ tree: CaptureTree) {
    for (index, top) in standIns
    where range.contains(index) && object(at: top) == nil && !isSpent(top, in: tree) {
      withdraw(top, from: index)
      forgetOutcomes(in: top..<plan.nodes[top].end)
    }
  }

  /// Gives a place back to what was stored in it.
  private func withdraw(_ top: Int, from index: Int) {
    for index in top..<plan.nodes[top].end { paths[plan.paths[index]] = nil }
    for index in index..<plan.nodes[index].end {
      superseded.remove(index)
      paths[plan.paths[index]] = index
    }
    standIns[index] = nil
  }

  /// Whether an object that turns up would be given what is kept for it, instead of what has its place.
  func isKept(for object: any RestorableObject, at index: Int) -> Bool {
    guard let controller = object as? any RestorableController, mismatch(of: controller, at: index) != nil else {
      return false
    }
    return keptSubtree(for: controller, at: index) != nil
  }

  /// The newest of what is kept for a controller that is of another class or model than what has its place now; nil when
  /// there is none that can be read.
  private func keptSubtree(for controller: any RestorableController, at index: Int) -> Int? {
    guard givesKept else { return nil }
    return ownTops(of: controller, at: index).last { obstacle(at: $0) == nil }
  }

  /// The versions of what is kept for a controller and is not brought back, because restoring died at it or elsewhere.
  func waitingVersions(for controller: any RestorableController, at index: Int) -> [StateVersion] {
    ownTops(of: controller, at: index).compactMap { top in
      let hasDied = leftOut.contains(top) || plan.nodes[top].flags.contains(.leftOut)
      return hasDied || !givesKept ? plan.nodes[top].version : nil
    }
  }

  /// What is kept for a controller that is of another class or model than what has its place now, oldest first.
  private func ownTops(of controller: any RestorableController, at index: Int) -> [Int] {
    guard let all = plan.kept[index], !superseded.contains(index) else { return [] }
    let known = ObjectBinding(controller).version
    return all.compactMap(\.top).filter { top in
      !outcomes.isRestored(top) && plan.nodes[top].version <= known && isOwn(top, of: controller, insteadOf: index)
        && plan.details(of: top).damage == nil
    }
  }

  /// Whether kept state is positively a controller's, and not only nobody else's.
  private func isOwn(_ top: Int, of controller: any RestorableController, insteadOf index: Int) -> Bool {
    guard mismatch(of: controller, at: top) == nil else { return false }
    if let model = plan.details(of: top).model, model == controller.restorationModelIdentifier { return true }
    return plan.tag(of: top).map { $0 != plan.tag(of: index) } ?? false
  }

  /// The nodes that were given to objects, or refused them: of the place, or of what was brought back to it.
  func range(of index: Int) -> Range<Int> {
    let top = standIns[index] ?? index
    return top..<plan.nodes[top].end
  }

  /// The same, and those of what was brought back below it since.
  func ranges(of index: Int, since former: [Int: Int]) -> [Range<Int>] {
    let range = range(of: index)
    let tops = standIns.filter { range.contains($0) && former[$0] != $1 }.values.sorted()
    return [range] + tops.map { $0..<plan.nodes[$0].end }
  }
}

extension NotRestoredReason {
  /// Whether the state goes with the next save, as it is too old or its model is gone.
  var retires: Bool {
    switch self {
    case .expired, .modelGone: true
    default: false
    }
  }
}
