internal import DataProtection
internal import FoundationEssentials
public import RestorationArchive

extension RestorationCoordinator {
  /// Gives a controller that turned up after restoring its state, at once, with everything preserved below it.
  ///
  /// For screens that are made on demand, such as a tab that is shown for the first time. The state is given only if
  /// class and model identifier match, its own and those of the controllers above it, so that the draft of one note can't
  /// land in the editor of another. Install the controller in its parent first; the next save then knows that the state is
  /// in use. State that is not given, because it can't be read, say, or because the controller is not installed yet, is kept when
  /// newer state takes its place.
  ///
  /// A crash in here is put down to the controller, like one during restoring: its state is left out at the next launch, and
  /// kept.
  ///
  /// What was preserved at the last launch is given once. An object that had it, was captured and is gone has taken it along:
  /// another one at its path gets nothing, as what the program knew at its launch is older than what the user did since.
  /// For the same reason an object that a save has met before it was registered, also one by itself, keeps what it has
  /// (``NotRestoredReason/touchedMeanwhile``): that has taken the place of what was preserved. Install and register in one turn.
  ///
  /// Called by a factory or a decoding method, while objects are still given their state, it waits until all have theirs: the
  /// restoration's report tells what became of it.
  ///
  /// - Parameters:
  ///   - controller: The controller that has turned up.
  ///   - path: The controller's place, from the root.
  /// - Returns: What became of it; a node that restoring died at before is left out here too. Nil when nothing was restored in
  ///   this run, when nothing was preserved at the path, when that is in use or was, while objects are given their state, and
  ///   while everything is being discarded.
  @discardableResult
  public func register(_ controller: any RestorableController, at path: RestorationPath) -> NodeReport? {
    turnUp(Arrival(object: controller, path: path))
  }

  /// An object that has turned up, and where.
  struct Arrival {
    let object: any RestorableObject
    let path: RestorationPath
  }

  /// Gives a shared object that was registered after restoring its state.
  func sharedObjectWasRegistered(as identifier: RestorationIdentifier) {
    guard let object = registry.sharedObject(identifier) else { return }
    // While the state is loaded, it will get its turn like the others.
    if phase != .loading { _ = turnUp(Arrival(object: object, path: [ReservedNode.shared, identifier])) }
    changesWereNoticed()
  }

  /// Gives an object that has turned up its state, or has it wait until every other object has its own.
  private func turnUp(_ arrival: Arrival) -> NodeReport? {
    // What is being deleted is nobody's any more.
    guard occupation != .discarding else { return nil }
    guard phase == .restoring, restored == nil else { return giveState(to: arrival) }
    arrivals.append(arrival)
    return nil
  }

  /// Gives those their state who turned up while other objects were given theirs.
  func giveArrivalsState() {
    while !arrivals.isEmpty { _ = giveState(to: arrivals.removeFirst()) }
  }

  /// Does with one subtree of what was restored what restoring does with all of it.
  private func giveState(to arrival: Arrival) -> NodeReport? {
    guard let run = restored, let met = run.index(at: arrival.path) else { return nil }
    return run.interruptingNotes { giveState(to: arrival, from: run, met: met) }
  }

  private func giveState(to arrival: Arrival, from run: RestorationRun, met: Int) -> NodeReport? {
    let (object, path) = (arrival.object, arrival.path)
    let index = run.place(of: object, insteadOf: met)
    guard !run.isForgotten(index) || run.isKept(for: object, at: index) else { return nil }
    // What it is not given stays until it has something newer.
    let claim = run.makeClaim(object, at: index, keepsStored: true, isLate: true)
    // What is kept for it is nobody else's, whoever had what is in the place.
    let isKept = run.isKept(for: object, at: index)
    if !isKept {
      guard run.object(at: index) == nil else { return nil }
      guard !run.isSpent(index, in: tree) else {
        // The state of a shared object outlives it; any other's leaves with it.
        if run.plan.nodes[index].kind == .shared { tree.claim([claim]) }
        return tree.hasTakenPlace(object, at: path)
          ? NodeReport(path: path, result: .notRestored(.touchedMeanwhile)) : nil
      }
    }
    guard !extensions.isTimedOut else {
      tree.claim(run.tooLate(claim, at: index))
      return NodeReport(path: path, result: .notRestored(.timedOut))
    }
    guard run.isAtHome(object, at: index) else {
      return NodeReport(path: path, result: .notRestored(.parentNotRestored))
    }
    // What restoring said is of no use any more is gone from the disk with the next save.
    if !isKept, let reason = run.obstacle(at: index), reason.retires {
      return NodeReport(path: path, result: .notRestored(reason))
    }
    // What restoring died at is given no sooner to who turns up later.
    if !isKept, run.isLeftOut(index) {
      tree.claim(run.tooLate(claim, at: index))
      return NodeReport(path: path, result: .notRestored(.leftOutAfterCrash))
    }
    if !isKept {
      run.takeBackUnmet(in: run.range(of: index), tree)
      run.forgetOutcomes(in: run.range(of: index))
    }
    let former = run.standIns
    if let controller = object as? any RestorableController, run.plan.nodes[index].kind == .controller {
      run.makeObjects(at: index, object: controller, origin: .registration)
    } else {
      run.makeObjects(in: run.range(of: index))
    }
    run.installChildren(in: run.range(of: index))
    let ranges = run.ranges(of: index, since: former)
    for range in ranges.dropFirst() { run.installChildren(in: range) }
    if !isKept { for range in ranges { run.keepWhatIsNewer(in: range, tree) } }
    for range in ranges { run.decode(in: range) }
    for range in ranges { run.finishLate(range) }
    // A parent that can't be observed has to be asked for it.
    if let parent = run.parent(of: index) { invalidateRestorableState(of: parent) }
    for index in ranges.joined() { if let object = run.object(at: index) { invalidateRestorableState(of: object) } }
    for range in ranges { tree.claim(run.lateClaims(in: range)) }
    if run.isStranger(index) {
      tree.claim(run.tooLate(claim, at: index))
    } else {
      for range in ranges { run.claimBare(range, in: tree, isLate: true) }
    }
    for range in ranges {
      run.noteTaking(in: range, after: tree.captureNumber)
      run.letGo(range)
    }
    hasNewOutcomes = true
    return run.reports(in: ranges[0]).first
  }

  /// Removes preserved state that no object uses, with everything below it, from the next save on.
  ///
  /// An object that turns up at the path later is not given it any more. What had made room there for another class or model
  /// comes back to the place.
  ///
  /// - Returns: False when nothing is carried over at the path, or a live object owns it or something below it.
  @discardableResult
  public func forget(_ path: RestorationPath) async -> Bool {
    await waitUntilFree()
    let index = restored?.index(at: path)
    if let index, let node = restored?.plan.nodes[index].id, tree.isClaimed(node) { return false }
    let forgotten = await worker.run { (try? $0.forget(path)) ?? false }
    if forgotten {
      if let index { restored?.forget(index) }
      changesWereNoticed()
    }
    return forgotten
  }
}
