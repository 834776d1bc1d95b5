internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

extension RestorationCoordinator {
  /// Preserves the hierarchy that was restored or saved last; see ``preserve(_:)``.
  ///
  /// Declined with `noRoot` when there was none in this run, or its root has died.
  public func preserve() async throws(RestorationError) -> PreservationOutcome {
    guard let root else { return declined(.noRoot) }
    return try await preserve(root)
  }

  /// Preserves the hierarchy below a controller; returns when the disk has confirmed the state, or failed to.
  ///
  /// Values are copied at once, on the main actor; everything else happens elsewhere. One save runs at a time: requests for
  /// the same hierarchy during a save are folded into one more. When nothing has changed, nothing is written. Restore first:
  /// what a save before that writes lies beside the stored states, which nobody has read.
  ///
  /// It throws when the disk or the device failed, and returns an outcome for everything else. If it throws, the state
  /// preserved before is still there, and the next save starts again from memory; with automatic preservation that save
  /// comes by itself. The same holds after a receipt whose durability is unknown.
  public func preserve(_ root: any RestorableController) async throws(RestorationError) -> PreservationOutcome {
    self.root = root
    // Alive until it is saved, though another save has to end first and the caller may hold it no longer.
    defer { withExtendedLifetime(root) {} }
    return try await preserve(root, scope: .all)
  }

  /// Saves a hierarchy, the last one if none is given; behind another operation it joins the last save that
  /// waits, if that is of the same hierarchy.
  func preserve(
    _ root: (any RestorableController)? = nil, scope: LiveTree.Scope
  ) async throws(RestorationError) -> PreservationOutcome {
    if operations.beginNow(.saving) {
      defer { operations.end() }
      return try await save(root, scope: scope)
    }
    let root = root ?? self.root
    if let waitingSave, waitingSave.root === root { return try await waitingSave.outcome.value.get() }
    let outcome = Task { [weak root] () -> Result<PreservationOutcome, RestorationError> in
      await operations.begin(.saving)
      defer { operations.end() }
      if waitingSave?.root === root { waitingSave = nil }
      do throws(RestorationError) {
        return .success(try await save(root, scope: .all))
      } catch {
        return .failure(error)
      }
    }
    waitingSave = WaitingSave(root: root, outcome: outcome)
    return try await outcome.value.get()
  }

  private func save(
    _ root: (any RestorableController)?, scope: LiveTree.Scope
  ) async throws(RestorationError) -> PreservationOutcome {
    switch handOver(root, scope: scope) {
    case .over(let outcome): return outcome
    case .handed(let save):
      await worker.run { save.write(&$0) }
      takeNote(of: save)
      return try save.outcome!.get()
    }
  }

  // MARK: - The steps of a save

  /// What the first step of a save comes to.
  enum HandedOver {
    /// There is nothing to write, for this reason.
    case over(PreservationOutcome)
    /// The values are copied: the worker has to write them, and then somebody takes note of that.
    case handed(HandedSave)
  }

  /// Copies what a save writes.
  func handOver(_ root: (any RestorableController)?, scope: LiveTree.Scope) -> HandedOver {
    guard standing != .discarded else { return .over(.deferred(.discarded)) }
    guard let root = root ?? self.root else { return .over(.unchanged(lastReceipt)) }
    let clock = ContinuousClock()
    let start = clock.now
    let context = configuration.context
    guard let application = takeApplicationState(context: context) else {
      return .over(declined(delegate == nil ? .noDelegate : .answeredNo))
    }
    log.log(.debug, "capturing")
    // The state read before this save is not the newest any more.
    prepared = nil
    let batch = capture(root, scope: scope, context: context, application: application)
    let save = HandedSave(
      batch: batch, captureNumber: tree.walk.number, context: context, loader: loader(), scope: scope, start: start,
      captureDuration: clock.now - start, attempt: (needsAttempt, isRestorationExtended))
    handedSave = save
    return .handed(save)
  }

  /// Takes note of how the worker has written a save, unless that was done.
  func takeNote(of save: HandedSave) {
    guard save.outcome == nil, let written = save.written else { return }
    if handedSave === save { handedSave = nil }
    do throws(RestorationError) {
      save.outcome = .success(try outcome(of: save, written))
    } catch {
      save.outcome = .failure(error)
    }
  }

  private func outcome(
    of save: HandedSave, _ written: HandedSave.Written
  ) throws(RestorationError) -> PreservationOutcome {
    switch written.result {
    case .success(let saved):
      for key in saved.unencoded { tree.node(key).map(tree.mark) }
      for key in saved.edited { tree.node(key)?.isNewcomer = false }
      tree.touched.removeAll { $0.lastRead <= save.captureNumber }
      tree.unplaced = saved.unplaced
      if standing == .new { standing = written.base == .locked ? .locked : .live }
      if saved.isWaiting { return .deferred(.locked) }
      let findings =
        save.batch.findings + tree.takeOneTimeFindings() + saved.findings
        + unannounced(saved.changedKeys.subtracting(saved.announcedBefore), save.batch, save.scope)
      guard let onDisk = saved.written else {
        return .unchanged(unchangedReceipt(findings, savedAt: save.context.timeSaved))
      }
      if let moved = written.movedAttempt { adopt(moved, wasOpen: save.attempt.isOpen) }
      if onDisk.kind == .pendingWhole { unlock.attemptLags = true }
      let receipt = PreservationOutcome.Receipt(
        generation: onDisk.receipt.generation.rawValue, kind: onDisk.kind,
        durability: onDisk.receipt.durability == .durable ? .durable : .unknown, savedAt: save.context.timeSaved,
        capturedNodes: save.batch.capturedCount, changedNodes: saved.changedKeys.count,
        carriedOverNodes: saved.carriedOverNodes, bytesWritten: onDisk.receipt.bytesWritten,
        captureDuration: save.captureDuration, duration: ContinuousClock().now - save.start,
        findings: findings + onDisk.findings)
      lastReceipt = receipt
      if unlock.isOwed {
        unlock.isOwed = false
        turns.perform { [weak self] in self?.beginFollowingUnlock() }
      }
      if receipt.durability == .unknown { retryAutomatically() }
      log.log(.info, "preserved generation \(receipt.generation), \(receipt.bytesWritten) bytes")
      warn(of: receipt.findings)
      return .preserved(receipt)
    case .failure(let error):
      // What the table has not taken over is captured again.
      if written.base == .unknown || error is ArchiveError { tree.reset() }
      retryAutomatically()
      log.log(.error, "preserving failed: \(error)")
      throw RestorationError(
        .preservationFailed, "The state could not be saved; what was preserved before is still there.", cause: error)
    }
  }

  private func declined(_ refusal: PreservationOutcome.Refusal) -> PreservationOutcome {
    let outcome = PreservationOutcome.declined(refusal)
    log.log(refusal == .answeredNo ? .info : .warning, outcome.description)
    return outcome
  }

  /// Names the objects that an automatic save would have missed: they had changed when a save asked everybody.
  private func unannounced(
    _ changed: Set<CaptureBatch.Key>, _ batch: CaptureBatch, _ scope: LiveTree.Scope
  ) -> [PreservationOutcome.Finding] {
    guard scope == .all, case .onChange = preservesAutomatically, standing == .live, configuration.askingInterval == nil
    else { return [] }
    let excused = batch.announced.union(batch.placements.map(\.key))
    return changed.subtracting(excused).sorted().compactMap { key in
      tree.node(key).map { .unannouncedChange(path: $0.path) }
    }
  }

  /// What a save that had nothing to write gives out: the last receipt, with what it has found itself; nil when there is neither.
  private func unchangedReceipt(_ findings: [PreservationOutcome.Finding], savedAt: Date) -> PreservationOutcome
    .Receipt?
  {
    warn(of: findings)
    var receipt = lastReceipt
    if receipt == nil, !findings.isEmpty {
      receipt = PreservationOutcome.Receipt(
        generation: restored == nil ? 0 : lastReport?.source?.generation ?? 0, kind: .unchanged, savedAt: savedAt)
    }
    receipt?.findings = findings
    return receipt
  }

  func warn(of findings: [PreservationOutcome.Finding]) {
    for finding in findings { log.log(.warning, finding.description) }
  }

  /// Copies the changes.
  ///
  /// - Parameter isMeeting: Whether new objects are met as they are at the end of this turn.
  func capture(
    _ root: any RestorableController, scope: LiveTree.Scope, context: RestorationArchive.Context,
    application: ApplicationState? = nil, isMeeting: Bool = false
  ) -> CaptureBatch {
    let batch = tree.capture(
      roots: [root], scope: scope, context: context, application: application, isMeeting: isMeeting)
    spendLeft()
    noteModels()
    if let restored {
      restored.noteLeft(tree.walk.leftGiven)
      for case let controller? in tree.walk.cameAnew.keys.map({ tree.node($0)?.controller }) {
        restored.noteOutgrown(by: controller)
      }
    }
    return batch
  }

  /// Gives nobody what was stored for objects that came by themselves and have left: the save takes it out.
  private func spendLeft() {
    defer { tree.leftByThemselves = [] }
    guard !tree.leftByThemselves.isEmpty, let restored, restored.hasUnclaimed else { return }
    for left in tree.leftByThemselves {
      guard let index = storedPlace(below: left.parent, isTop: left.isTop, left.path) else { continue }
      let identity = registry.current(left.identity)
      for row in restored.plan.rows(ledBy: index) where restored.plan.identity(of: row) == identity {
        restored.spend(row..<restored.plan.nodes[row].end)
      }
    }
  }

  /// Tells the restored state which models stand in its places now.
  private func noteModels() {
    guard !tree.walk.named.isEmpty, let restored, restored.hasUnclaimed else { return }
    for node in tree.walk.named where !node.isRemoved && !node.isDuplicate {
      // Its row is the only one of its place.
      if restored.plan.isPlain, node.givenNode != nil { continue }
      guard let object = node.object,
        let lead = storedPlace(below: node.parent?.controller, isTop: node.parent == nil, node.path)
      else { continue }
      restored.noteModel(of: object, ledBy: lead)
    }
  }

  /// The place in the restored state of an object whose parent is known; nil when there is none.
  private func storedPlace(
    below parent: (any RestorableController)?, isTop: Bool, _ path: @autoclosure () -> RestorationPath
  ) -> Int? {
    guard let parent else { return isTop ? restored?.index(at: path()) : nil }
    return path().last.flatMap { storedPlace(of: [$0], below: parent) }
  }

  func loader() -> StateLoader {
    StateLoader(
      store: store, configuration: configuration, classes: registry.classTable, context: configuration.context)
  }
}

extension RestorationError.Code {
  /// A save failed; the earlier state is still there.
  public static let preservationFailed = RestorationError.Code("preservationFailed")
  /// Restoring was asked for while another restoration was running.
  public static let restorationInProgress = RestorationError.Code("restorationInProgress")
  /// The stored state could not be deleted; see the cause.
  package static let discardFailed = RestorationError.Code("discardFailed")
}
