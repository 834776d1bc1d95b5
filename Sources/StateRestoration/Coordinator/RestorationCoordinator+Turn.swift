internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

extension RestorationCoordinator {
  /// Restores a loaded state, in one turn of the main actor, and hands it on to the next save.
  ///
  /// - Parameters:
  ///   - loaded: The state.
  ///   - root: The controller at the top of the hierarchy.
  ///   - edits: The objects that were edited while the device was locked: theirs is newer.
  ///   - isSameRoot: Whether the edits are of this hierarchy.
  ///   - retriesLeftOut: Whether nodes that were left out after a crash are tried again.
  func restore(
    _ loaded: LoadedState, into root: any RestorableController, keeping edits: Edits, _ isSameRoot: Bool,
    retriesLeftOut: Bool
  ) async -> RestorationReport {
    let isPart = !loaded.lockedClasses.isEmpty
    var report = RestorationReport(
      outcome: loaded.hasLockedState ? .partlyRestored : .restored, reason: loaded.reason, source: loaded.source)
    report.remarks = loaded.remarks
    if let outcome = refusal(of: loaded) {
      report.outcome = outcome
      return await refuse(loaded, report)
    }
    let former = (attempt, attemptNames)
    await beginAttempt(at: loaded, &report)
    var (loaded, edits) = (loaded, edits)
    for _ in 0..<Self.looksAtMost where isSameRoot && waitsForUnlock && !changes.isEmpty {
      guard await lookAgain(&loaded, &edits) else { break }
    }
    let clock = ContinuousClock()
    let start = clock.now
    edits.find(in: loaded)
    let turn = makeTurn(for: loaded, keeping: edits, retriesLeftOut: retriesLeftOut)
    turn.selectApplication()
    turn.noteApplication()
    guard extent > .pristine || loaded.isRequest, mayRestore(applicationRecord(turn), loaded.plan.context) else {
      report.outcome = .declined
      if delegate == nil { report.remarks.append(.noDelegate) }
      endAttempt()
      if loaded.isRequest { resumeAttempt(former) }
      return await refuse(loaded, report)
    }
    log.log(.debug, "restoring generation \(loaded.state.generation.rawValue)")
    // Until everything is decoded there is nothing to give to late objects.
    restored = nil
    lateObjects = []
    turn.makeObjects(root: root)
    turn.failRetired()
    turn.findOtherNames()
    turn.installChildren()
    turn.decode()
    restored = turn
    giveLateObjectsState()
    turn.noteApplication()
    let given = decodeApplicationState(turn, edits, &report)
    turn.finish()
    turn.noteEnd()
    lateObjects = nil
    let batch = meet(turn, root, given, edits)
    if !batch.leftGifts.isEmpty { turn.rejectLeft(batch.leftGifts.map(\.row), from: tree) }
    report.nodes = turn.reports()
    report.mainActorDuration = clock.now - start
    (standing, isPartlyLocked) = (.live, isPart)
    await settle(turn, loaded, batch)
    turn.letGo()
    if turn.rejectUnheld() {
      report.nodes = turn.reports()
      tree.noteUnheld()
    }
    warn(of: report)
    if extensions.count == 0 { endAttempt() }
    // What the program makes in the same turn of the state that is still locked is no edit of the user's.
    if isPart { lookAtNewcomers(.all) }
    return report
  }

  private func warn(of report: RestorationReport) {
    // Those below a row follow it.
    var retired: RestorationPath?
    var unread: [[String]: (path: RestorationPath, others: Int)] = [:]
    for node in report.nodes {
      switch node.notRestoredReason {
      case .classRetired?: retired = node.path
      // It comes back by itself, and the report counts it.
      case .locked?: break
      case .parentNotRestored? where retired.map { node.path.components.starts(with: $0.components) } == true: break
      case let reason?: log.log(.warning, "\(node.path): \(reason)")
      case nil:
        for case .unreadKeys(let keys) in node.remarks {
          unread[keys, default: (node.path, -1)].others += 1
        }
      }
    }
    for (keys, (path, others)) in unread.sorted(by: { $0.value.path.description < $1.value.path.description }) {
      log.log(.warning, unreadText(keys, path, others))
    }
  }

  /// Says that stored values have no reader; once for all objects that have the same.
  func unreadText(_ keys: [String], _ path: RestorationPath, _ others: Int) -> String {
    let names = keys.map { "“\($0)”" }.joined(separator: ", ")
    let places = others == 0 ? "\(path)" : "\(path) and \(ReportText.count(others, "other"))"
    let objects = keys.count == 1 ? "it" : "them"
    return "\(places): nobody reads \(names), and the next edit drops \(objects): where a field was renamed, raise "
      + "stateVersion and migrate it, or name the former key with formerly:"
  }

  /// What changes all the time on a locked device counts as edited after so many looks.
  private static var looksAtMost: Int { 3 }

  /// Takes the edits once more, because something has changed since: whether that was an edit only its values tell.
  ///
  /// - Returns: False if the state is another than the newest, or can't be loaded again: whatever has changed counts as edited.
  private func lookAgain(_ loaded: inout LoadedState, _ edits: inout Edits) async -> Bool {
    guard loaded.choice == .newest else { return false }
    let newer = await takeEdits()
    guard case .success(var again) = await load(edits: newer.archive) else { return false }
    // The marker tells of this attempt by now.
    (again.crash, again.history) = (loaded.crash, loaded.history)
    (again.remarks, again.reason) = (loaded.remarks, loaded.reason)
    (loaded, edits) = (again, newer)
    return true
  }

  private func makeTurn(for loaded: LoadedState, keeping edits: Edits, retriesLeftOut: Bool) -> RestoreTurn {
    var request = RestoreRequest(
      registry: registry, log: log, now: configuration.context, note: { [weak self] in self?.note(node: $0) },
      delegate: delegate, edits: edits)
    request.extent = loaded.isRequest ? .restore : extent
    tree.extent = request.extent
    // Edits since the last look are newer, too.
    for key in changes.drain() where waitsForUnlock {
      if let node = tree.node(key) { request.edits.add(node) }
    }
    request.decodesInReverse = configuration.decodesInReverse
    request.retries = { [weak self] path in
      guard let self else { return false }
      return retriesLeftOut || delegate?.coordinator(self, shouldRetryNodeAt: path) == true
    }
    request.damagedParts = loaded.damagedParts
    if !retriesLeftOut {
      let name = loaded.crash.crashNode ?? lockedCrashNode
      request.crashNode = name.map(loaded.names.node(named:))
      lockedCrashNode = nil
      if let node = request.crashNode, loaded.isAway(node) { (request.crashNode, lockedCrashNode) = (nil, name) }
    }
    return RestoreTurn(plan: loaded.plan, request)
  }

  /// Meets every object of the hierarchy: with what it was given, all others as they are at the end of this turn.
  ///
  /// - Parameter application: What the app-level state was given.
  private func meet(
    _ turn: RestoreTurn, _ root: any RestorableController, _ application: CaptureBatch.Given, _ edits: Edits
  ) -> CaptureBatch {
    let context = configuration.context
    tree.reset()
    turn.noteGifts(in: tree)
    edits.noteReadable(in: tree)
    var state: ApplicationState?
    if turn.plan.application != nil {
      tree.given.noteApplication(application, isEdit: edits.hasApplication)
      state = takeApplicationState(context: context)
    }
    // A death in the code of an object that is asked for its values is that object's.
    tree.noteReading = { [weak self] in self?.noteReading($0) }
    defer {
      tree.noteReading = nil
      noteReading(nil)
    }
    return capture(root, scope: .all, context: context, application: state, isMeeting: true)
  }

  private func noteReading(_ row: NodeID?) {
    if !hasAnnouncedEnd { attempt?.note(node: row.map { attemptNames.name(of: $0.rawValue) }) }
  }

  /// Age and versions of the whole, before anybody is asked.
  private func refusal(of loaded: LoadedState) -> RestorationReport.Outcome? {
    let context = loaded.plan.context
    if context.schemaVersion > configuration.schemaVersion { return .newerVersion }
    guard let limit = configuration.maximumAge else { return nil }
    let expiry = Freshness.expiry(of: nil, in: context, limit: limit, now: configuration.context)
    return expiry == nil ? nil : .expired
  }

  /// Restores nothing; the refused state is set aside by the next save, or everything goes on as before when it was asked for.
  private func refuse(_ loaded: LoadedState, _ report: RestorationReport) async -> RestorationReport {
    guard !loaded.isRequest else { return report }
    await beginAnew(retiring: loaded.superseded)
    return report
  }

  private func mayRestore(_ application: any StateRecord, _ context: RestorationArchive.Context) -> Bool {
    guard let delegate else { return false }
    let decoder = RestorationDecoder(.init(application, at: []), context: context)
    defer { decoder.finish() }
    return delegate.shouldRestoreApplicationState(with: decoder)
  }

  /// Hands the state to the worker as what the next save continues.
  private func settle(
    _ turn: RestoreTurn, _ loaded: LoadedState, _ batch: CaptureBatch
  ) async {
    let retired = turn.retireRows()
    let (acquitted, reopened) = (turn.acquittedRecords, turn.reopenedRows)
    let crashNode = turn.request.crashNode
    let context = configuration.context
    let loader = loader()
    let begin = { @Sendable (session: inout PreservationSession) -> Bool in
      var isReplaced = false
      do {
        try session.begin(continuing: loaded)
        if let crashNode { isReplaced = try session.quarantine(crashNode, of: loaded, loader: loader) }
        try session.table.drop(retired)
        try session.table.acquit(acquitted)
        for row in reopened { try session.table.open(row) }
      } catch {
        session.begin(.empty, retiring: [loaded.state.generation], context: context)
        return false
      }
      session.take(batch)
      return isReplaced
    }
    // The mark of the node that restoring died at is on disk before anything goes on; a save waits for the rest by itself.
    guard crashNode != nil else { return worker.postpone { _ = begin(&$0) } }
    if await worker.run(begin) { await moveAttempt() }
  }

  // MARK: - The attempt

  /// Marks that code of the program runs with a state.
  private func beginAttempt(at loaded: LoadedState, _ report: inout RestorationReport) async {
    endAttempt()
    (attempt, attemptNames, hasAnnouncedEnd) = (nil, loaded.names, false)
    // Nodes saved while locked that lie on no generation have no marker.
    guard loaded.state.generation.rawValue > 0 else { return }
    do {
      attempt = try await worker.run { session throws(ProtectionError) in
        try session.store.beginAttempt(at: loaded.state, isRequest: loaded.isRequest)
      }
    } catch {
      report.remarks.append(.markerIgnored("no marker could be made: \(error)"))
    }
  }

  /// Goes on with the attempt at the state that is in use, after another one was refused.
  private func resumeAttempt(_ former: (attempt: (any RestorationAttempting)?, names: NodeNames)) {
    (attempt, attemptNames) = former
    if isRestorationExtended { former.attempt?.note(node: nil) }
  }

  /// Notes which node's code runs; once restoring is over, a late object's end is the attempt's.
  private func note(node: UInt32?) {
    guard !hasAnnouncedEnd else { return }
    if node == nil, lateObjects == nil, standing == .live, !isRestorationExtended {
      endAttempt()
    } else {
      attempt?.note(node: node.map(attemptNames.name(of:)))
    }
  }

  /// Says that no code of the program runs with the state any more.
  func endAttempt() {
    if !hasAnnouncedEnd { attempt?.end() }
  }

  /// Whether objects may come late, so that a new generation has to guard them.
  var needsAttempt: Bool {
    restored != nil && (restored?.hasUnclaimed == true || isRestorationExtended) && !hasAnnouncedEnd
  }

  /// Has late objects guarded by the generation that is on disk in the place of the restored one.
  func moveAttempt() async {
    guard needsAttempt else { return }
    let isOpen = isRestorationExtended
    if let moved = await worker.run({ $0.moveAttempt(isOpen: isOpen) }) { adopt(moved, wasOpen: isOpen) }
  }

  /// Does as ``moveAttempt()``, without waiting for it.
  func beginMovingAttempt() {
    guard needsAttempt else { return }
    let isOpen = isRestorationExtended
    worker.post { [weak self, turns] session in
      guard let moved = session.moveAttempt(isOpen: isOpen) else { return }
      turns.perform { self?.adopt(moved, wasOpen: isOpen) }
    }
  }

  /// Goes on with a mark that the worker has made, as it would be if it had been made now.
  func adopt(_ moved: any RestorationAttempting, wasOpen: Bool) {
    (attempt, attemptNames) = (moved, NodeNames())
    if hasAnnouncedEnd {
      moved.pause()
    } else if wasOpen != isRestorationExtended {
      if wasOpen { moved.end() } else { moved.note(node: nil) }
    }
  }
}
