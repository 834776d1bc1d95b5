public import FoundationEssentials

extension ArchiveStore {
  /// Saves a whole new generation, and prunes to the newest two that this program has verified.
  ///
  /// If it throws, the old generation is what the next launch finds. `consuming` names the pending generations whose
  /// content is merged into this one: they go in the same step. What is pending beside them stays, unless it is older
  /// than one of them: then it is set aside.
  ///
  /// Throws `.locked` when the class's key is not there, `.wrongClass` when what is saved has another class,
  /// `.busy` and `.io`.
  @discardableResult
  public func publish(
    _ plaintext: Data, schema: UInt32 = 0, consuming pending: [PendingArchive] = []
  ) throws(ProtectionError) -> PublishReceipt {
    try publish(plaintext, schema: schema, consuming: pending, unlessChangedSince: nil)
  }

  /// Saves a whole new generation, if nobody has saved anything in the slot since the stamp was taken.
  ///
  /// Throws `.superseded` when somebody has; nothing is changed then. Nobody can come between the look at this and the
  /// saving.
  @discardableResult
  package func publish(
    _ plaintext: Data, schema: UInt32 = 0, consuming pending: [PendingArchive] = [],
    unlessChangedSince seen: ArchiveStamp?
  ) throws(ProtectionError) -> PublishReceipt {
    try withLock { state, session throws(ProtectionError) in
      if let seen { try session.requireUnchanged(since: seen, try session.survey(slot)) }
      let survey = try session.ensureLedger(try session.survey(slot))
      // Before anything is written: a peer that appends meanwhile looks again before it acknowledges.
      state.knownTip = try store.raiseTip()
      let previous = try previousGeneration(&state, session, survey)
      let consumed = Set(pending.map(\.generation.rawValue))
      let kept = try session.pendingToKeep(survey, consuming: consumed)
      var ledger = session.ledgerForWriting(survey)
      var fields = SealedFields(
        kind: .archive, protection: state.protection, identity: survey.identity, generation: 0, schema: schema,
        flags: survey.areAll(consumed) ? SealedFields.consumesPendingFlag : 0,
        identifier: ArchiveStore.randomIdentifier())
      let published = try session.publishGeneration(plaintext, &fields, after: ledger.highWater, survey) {
        state.follow($0)
      }
      let record = Ledger.Record(
        generation: fields.generation, commitment: published.commitment, protection: fields.protection,
        wasPending: false)
      state.verified.insert(fields.generation)
      guard published.isDurable else {
        // The number is burnt, and nobody goes on from this file; the caller saves again.
        if let base = state.base { state.follow(base.record.commitment) }
        state.adopt(nil)
        return PublishReceipt(
          generation: Generation(rawValue: fields.generation), bytesWritten: published.byteCount, durability: .unknown)
      }
      var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
      entry.current = record
      entry.predecessor = previous
      entry.isUnverified = false
      entry.isDeleting = false
      entry.pending = kept
      entry.pendingFloor = max(survey.pendingFloor, consumed.max() ?? 0)
      ledger.entries[survey.slot] = entry
      ledger.highWater = max(ledger.highWater, fields.generation)
      let ledgerByteCount = session.list(ledger, survey)
      if ledgerByteCount != nil {
        session.prune(survey, entry, verified: state.verified, consumed: consumed)
      }
      state.adopt(
        ArchiveStoreState.Base(
          record: record, identifier: fields.identifier, byteCount: plaintext.count))
      return PublishReceipt(
        generation: Generation(rawValue: fields.generation), bytesWritten: published.byteCount + (ledgerByteCount ?? 0),
        durability: .durable)
    }
  }

  /// The generation that becomes the predecessor: the newest one that this program has verified, to the last byte.
  ///
  /// What can't be verified now (because it is locked, say) keeps its place in the ledger: it is no worse than it was.
  func previousGeneration(
    _ state: inout ArchiveStoreState, _ session: borrowing StoreSession, _ survey: SlotSurvey
  ) throws(ProtectionError) -> Ledger.Record? {
    if let current = survey.entry?.current, current.protection != state.protection, !current.wasPending {
      throw ProtectionError(
        .wrongClass,
        "What is saved has class \(current.protection); change it with setProtection, or save with that class.")
    }
    do throws(ProtectionError) {
      let found = try session.findNewest(survey, protection: state.protection)
      do throws(ProtectionError) {
        try verify(found, &state)
        return found.record
      } catch  where error.code == .corrupt {
        // Opened well, but a chunk in the middle is damaged: the predecessor keeps its place.
        return try verifiedPredecessor(&state, session, survey)
      }
    } catch {
      switch error.code {
      case .notFound, .rolledBack: return nil
      case .corrupt, .missing, .wrongIdentity, .wrongClass, .otherDevice:
        return try verifiedPredecessor(&state, session, survey)
      case .locked, .unsupportedVersion, .keysMissing: return survey.entry?.current
      default: throw error
      }
    }
  }

  private func verifiedPredecessor(
    _ state: inout ArchiveStoreState, _ session: borrowing StoreSession, _ survey: SlotSurvey
  ) throws(ProtectionError) -> Ledger.Record? {
    do throws(ProtectionError) {
      let found = try session.findPredecessor(survey, protection: state.protection)
      try verify(found, &state)
      return found.record
    } catch  where !error.saysNothingAboutContent {
      return nil
    }
  }

  /// Reads a generation to the last byte, once in a run.
  private func verify(_ found: FoundGeneration, _ state: inout ArchiveStoreState) throws(ProtectionError) {
    guard !state.verified.contains(found.record.generation) else { return }
    _ = try found.content.read(0..<found.content.byteCount)
    state.verified.insert(found.record.generation)
  }
}

extension ArchiveStore {
  /// Sixteen random bytes that name an archive or a journal; not secret.
  static func randomIdentifier() -> [UInt8] {
    // Two calls of the system instead of one for each byte: a store asks for one whenever it is opened.
    var generator = SystemRandomNumberGenerator()
    return unsafe withUnsafeBytes(of: (generator.next(), generator.next())) { unsafe [UInt8]($0) }
  }
}
