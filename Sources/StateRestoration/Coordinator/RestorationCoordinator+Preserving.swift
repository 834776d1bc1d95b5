internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension RestorationCoordinator {
  /// Preserves the hierarchy below a controller; returns when the disk has confirmed the state, or failed to
  /// (``PreservationReceipt/Durability``).
  ///
  /// Values are copied at once, on the main actor; everything else happens elsewhere. One save runs at a time:
  /// requests during a save are folded into one more, and all of them get its outcome. When nothing has changed,
  /// nothing is written and the file system is not called. During restoring it waits for the end of the turn.
  ///
  /// Every hierarchy that is asked for is saved, in order, in the place of the one before; automatic saves are of the
  /// last.
  ///
  /// Restore first. A save before that replaces the state of every object that is there already; what no object has is
  /// carried over, and the state as it was is set aside, which the receipt says.
  ///
  /// One rule for everything that can go wrong: it throws when the disk or the device failed (no space, busy, an error of
  /// the disk, the device locked in the middle), and returns an outcome for everything else. If it throws, what was
  /// preserved before is still there, nothing of what was captured is forgotten, and the next save starts again from
  /// memory; with automatic preservation that save comes by itself after the interval, or after a second if that is
  /// longer, and again until one succeeds.
  /// The same holds after a receipt whose durability is unknown.
  public func preserve(_ root: any RestorableController) async throws(RestorationError) -> PreservationOutcome {
    self.root = root
    // Alive until it is saved, though somebody else's save has to end first and the caller may hold it no longer.
    defer { withExtendedLifetime(root) {} }
    return try await preserve(root, scope: .all)
  }

  /// Saves a hierarchy, that which was asked for last if none is given; during a save joins the last of those that follow
  /// it, if that is of the same hierarchy.
  func preserve(
    _ root: (any RestorableController)? = nil, scope: CaptureTree.Scope
  ) async throws(RestorationError) -> PreservationOutcome {
    // In the order of asking, whatever order those who wait are woken in.
    if isSaving || occupation != nil {
      return try await withCheckedContinuation { request in
        let root = root ?? self.root
        if let last = foldedSaves.indices.last, foldedSaves[last].root === root {
          foldedSaves[last].requests.append(request)
        } else {
          foldedSaves.append(FoldedSave(root: root, requests: [request]))
        }
      }.get()
    }
    isSaving = true
    defer { saveDidEnd() }
    return try await save(root, scope: scope)
  }

  /// Starts the next of the saves that requests during the last one were folded into.
  private func saveDidEnd() {
    isSaving = false
    startFoldedSave()
  }

  /// Starts the first of the saves that wait, unless one runs that will.
  func startFoldedSave() {
    guard !isSaving, !foldedSaves.isEmpty else { return }
    let folded = foldedSaves.removeFirst()
    isSaving = true
    Task { @MainActor in
      // What was loaded to be restored goes on from the disk as it was: nothing is written in between.
      await waitUntilFree()
      let result: Result<PreservationOutcome, RestorationError>
      do throws(RestorationError) {
        result = .success(try await save(folded.root, scope: .all))
      } catch {
        result = .failure(error)
      }
      for request in folded.requests { request.resume(returning: result) }
      saveDidEnd()
    }
  }

  private func save(
    _ root: (any RestorableController)?, scope: CaptureTree.Scope
  ) async throws(RestorationError) -> PreservationOutcome {
    guard phase != .discarded else { return .deferred(.discarded) }
    guard let root = root ?? self.root else { return .unchanged(lastReceipt) }
    let clock = ContinuousClock()
    let start = clock.now
    let context = configuration.context
    guard let application = takeApplicationState(context: context) else {
      if delegate == nil {
        log.log(
          .warning, "nothing is preserved: there is no delegate to say yes; the coordinator holds it weakly: keep it")
      } else {
        log.log(.info, "preserving was declined")
      }
      return .declined
    }
    log.log(.debug, "capturing")
    // What was read before this save is not the newest any more.
    prepared = nil
    let discardCount = discardCount
    var batch = capture(root, scope: scope, context: context)
    enter(application, into: &batch)
    let captureDuration = clock.now - start
    let captured = batch
    let loader = loader()
    let (result, hasLooked) = await worker.run { lineage in
      (Result { try lineage.save(captured, context: context, loader: loader) }, lineage.base != .unknown)
    }
    switch result {
    case .success(let saved):
      captureAgain(saved)
      restored?.takenOver.formUnion(saved.takenOver)
      if captured.endsKeptApplication, !saved.isApplicationUnencoded { keptApplication = nil }
      if saved.isWaiting { return .deferred(.locked) }
      if phase == .idle { phase = .ready }
      guard let written = saved.written else {
        // Who asks is told that what was restored is what there is.
        if scope == .all, savedStamps.isEmpty, let state = restoredSubject?.state {
          savedStamps[state.generation] = state.frames.count
          savedRoot = root
        }
        return .unchanged(unchangedReceipt(captured.findings + saved.findings, savedAt: context.timeSaved))
      }
      hasPendingSave = written.kind == .pendingWhole || written.kind == .pendingChange
      if written.kind == .whole || written.kind == .pendingWhole { await restoredStateWasReplaced(by: written.kind) }
      let receipt = PreservationReceipt(
        generation: written.receipt.generation.rawValue, kind: written.kind,
        durability: written.receipt.durability == .durable ? .durable : .unknown, savedAt: context.timeSaved,
        capturedNodes: captured.capturedCount, changedNodes: saved.changedNodes,
        carriedOverNodes: saved.carriedOverNodes, bytesWritten: written.receipt.bytesWritten,
        captureDuration: captureDuration, duration: clock.now - start,
        findings: captured.findings + saved.findings + written.findings)
      // A receipt for what was discarded meanwhile is nobody's last one.
      if discardCount == self.discardCount {
        lastReceipt = receipt
        if written.kind == .whole || written.kind == .change {
          savedStamps[written.receipt.generation] = written.changeCount
          // Only the newest and the one before it can be restored.
          if savedStamps.count > 2, let oldest = savedStamps.keys.min(by: { $0.rawValue < $1.rawValue }) {
            savedStamps[oldest] = nil
          }
          savedRoot = root
        }
      }
      if receipt.durability == .unknown { retryAutomatically() }
      log.log(.info, "preserved generation \(receipt.generation), \(receipt.bytesWritten) bytes")
      warn(of: receipt.findings)
      return .preserved(receipt)
    case .failure(let error):
      // What the lineage has not taken over is captured again.
      if !hasLooked || (error is ArchiveError && phase != .deferred) { tree.reset() }
      retryAutomatically()
      log.log(.error, "preserving failed: \(error)")
      throw RestorationError(
        .preservationFailed, "The state could not be saved; what was preserved before is still there.", cause: error)
    }
  }

  /// Has what could not be encoded asked again at the next save, whether or not it is known to have changed.
  private func captureAgain(_ saved: Lineage.Saved) {
    for key in saved.unencoded where key < tree.nodes.count { tree.nodes[key].map(tree.mark) }
    for key in saved.postponed where key < tree.nodes.count { tree.nodes[key]?.keepsStored = true }
  }

  /// What a save that had nothing to write gives out: the last receipt, with what it has found itself; nil when there is neither.
  private func unchangedReceipt(_ findings: [PreservationFinding], savedAt: Date) -> PreservationReceipt? {
    warn(of: findings)
    var receipt = lastReceipt
    if receipt == nil, !findings.isEmpty {
      receipt = PreservationReceipt(
        generation: restoredSubject?.state?.generation.rawValue ?? 0, kind: .unchanged, savedAt: savedAt)
    }
    receipt?.findings = findings
    return receipt
  }

  func warn(of findings: [PreservationFinding]) {
    for finding in findings { log.log(.warning, finding.description) }
  }

  /// Copies what has changed; the first capture after a restoration looks at everything.
  func capture(
    _ root: any RestorableController, scope: CaptureTree.Scope, context: RestorationContext
  ) -> CaptureBatch {
    tree.context = context
    return tree.capture(roots: [root], scope: scope)
  }

  func loader() -> StateLoader {
    StateLoader(store: store, limits: limits, configuration: configuration)
  }
}

extension RestorationError.Code {
  /// A save failed; what was preserved before is still there.
  public static let preservationFailed = RestorationError.Code("preservationFailed")
  /// Restoring was asked for while another restoration was running.
  public static let restorationInProgress = RestorationError.Code("restorationInProgress")
  /// What is on disk could not be deleted; see the cause.
  public static let discardFailed = RestorationError.Code("discardFailed")
}
