public import FoundationEssentials

extension ArchiveStore {
  /// Saves a pending generation while the device is locked, sealed one-way; replaces only another pending one.
  ///
  /// `.whole` needs that this run has opened or published the base, or found that there is none; otherwise it
  /// throws `.superseded`, and only the touched nodes may be saved. What is saved stays as it is.
  @discardableResult
  public func publishPending(
    _ plaintext: Data, kind: PendingArchive.Kind, schema: UInt32 = 0
  ) throws(ProtectionError) -> PublishReceipt {
    try withLock { state, session throws(ProtectionError) in
      guard kind == .touchedNodes || state.base != nil || state.foundNothing else {
        throw ProtectionError(
          .superseded, "The state that is saved was not read in this run; save only the touched nodes.")
      }
      let survey = try session.ensureLedger(try session.survey(slot))
      var ledger = session.ledgerForWriting(survey.reading, names: survey.names)
      var fields = SealedFields(
        kind: .archive, protection: .completeUnlessOpen, identity: survey.identity, generation: 0, schema: schema,
        flags: SealedFields.pendingFlag, identifier: randomIdentifier())
      let preamble = PendingPreamble(kind: kind, base: pendingBase(state, survey))
      let published = try session.publishGeneration(
        preamble.encoded + plaintext, &fields, after: ledger.highWater, survey)
      let generation = Generation(rawValue: fields.generation)
      guard published.isDurable else {
        return PublishReceipt(generation: generation, bytesWritten: published.byteCount, durability: .unknown)
      }
      var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
      entry.pending = Ledger.Record(
        generation: fields.generation, commitment: published.commitment, protection: .completeUnlessOpen,
        wasPending: true)
      // The entry is new: what the ledger's mark ruled out before stays ruled out.
      if survey.entry == nil { entry.floor = max(entry.floor, survey.floor) }
      ledger.entries[survey.slot] = entry
      ledger.highWater = max(ledger.highWater, fields.generation)
      let ledgerByteCount = session.list(ledger, survey)
      if ledgerByteCount != nil, let replaced = survey.entry?.pending {
        try? session.unlink(.generation(slot: survey.slot, number: replaced.generation, isPending: true))
      }
      state.verified.insert(fields.generation)
      return PublishReceipt(
        generation: generation, bytesWritten: published.byteCount + (ledgerByteCount ?? 0), durability: .durable)
    }
  }

  /// What a pending generation is made on top of: what this run has read, or else what the ledger lists.
  private func pendingBase(_ state: ArchiveStoreState, _ survey: SlotSurvey) -> PendingPreamble.Base? {
    if let base = state.base {
      return PendingPreamble.Base(
        generation: base.record.generation, commitment: base.record.commitment,
        journal: base.ends.last.map(PendingPreamble.JournalMark.init), wasRead: true)
    }
    guard let current = survey.entry?.current else { return nil }
    return PendingPreamble.Base(
      generation: current.generation, commitment: current.commitment, journal: nil, wasRead: false)
  }

  /// Opens the pending generation, whole; `nil` when there is none.
  ///
  /// Throws `.locked` while it can't be read, `.missing` when the ledger lists one and it is gone.
  public func openPending() throws(ProtectionError) -> PendingArchive? {
    try withLock { state, session throws(ProtectionError) in
      let survey = try session.survey(slot)
      guard let (record, content) = try session.findPending(survey, protection: state.protection) else { return nil }
      let bytes = try content.read(0..<content.byteCount)
      let preamble = try PendingPreamble(bytes)
      state.verified.insert(record.generation)
      return PendingArchive(
        generation: Generation(rawValue: record.generation), kind: preamble.kind, schema: content.fields.schema,
        base: preamble.base.map { Generation(rawValue: $0.generation) },
        isBaseUnchanged: try session.isUnchanged(preamble.base, survey, protection: state.protection),
        content: Data(bytes.dropFirst(PendingPreamble.byteCount)), commitment: Data(record.commitment))
    }
  }

  /// Makes a whole pending generation the current one: the ledger's write is the only step.
  ///
  /// Throws `.superseded` when its base has changed or it is no longer the pending one; both are kept then.
  @discardableResult
  public func promotePending(_ pending: PendingArchive) throws(ProtectionError) -> PublishReceipt {
    try withLock { state, session throws(ProtectionError) in
      state.knownTip = try store.raiseTip()
      let survey = try session.survey(slot)
      guard pending.kind == .whole,
        let (record, content) = try session.findPending(survey, protection: state.protection),
        Data(record.commitment) == pending.commitment
      else {
        throw ProtectionError(.superseded, "That pending generation is not the one that is there now.")
      }
      let preamble = try PendingPreamble(try content.read(0..<PendingPreamble.byteCount))
      guard try session.isUnchanged(preamble.base, survey, protection: state.protection) else {
        throw ProtectionError(.superseded, "What the pending generation was based on has changed; both are kept.")
      }
      var ledger = session.ledgerForWriting(survey.reading, names: survey.names)
      var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
      entry.predecessor = try previousGeneration(&state, session, survey)
      entry.current = record
      entry.pending = nil
      entry.isUnverified = false
      ledger.entries[survey.slot] = entry
      ledger.highWater = max(ledger.highWater, record.generation)
      let written = try session.writeLedger(ledger)
      state.verified.insert(record.generation)
      state.adopt(
        written.isDurable
          ? ArchiveStoreState.Base(
            record: record, identifier: content.fields.identifier, byteCount: content.byteCount, ends: [],
            journalByteCount: 0, isAppendable: true)
          : nil)
      if written.isDurable { session.prune(survey, entry, verified: state.verified) }
      return PublishReceipt(
        generation: pending.generation, bytesWritten: written.byteCount,
        durability: written.isDurable ? .durable : .unknown)
    }
  }

  /// Deletes a pending generation: the ledger first, then the file.
  public func discardPending(_ pending: PendingArchive) throws(ProtectionError) {
    try withLock { state, session throws(ProtectionError) in
      let survey = try session.survey(slot)
      let number = pending.generation.rawValue
      guard survey.entry?.current?.generation != number, survey.entry?.predecessor?.generation != number else {
        return
      }
      if survey.reading.ledger != nil {
        var ledger = session.ledgerForWriting(survey.reading, names: survey.names)
        var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
        if entry.pending?.generation == number { entry.pending = nil }
        entry.pendingFloor = max(entry.pendingFloor, number)
        ledger.entries[survey.slot] = entry
        guard try session.writeLedger(ledger).isDurable else {
          throw ProtectionError(.durabilityUnknown, "The pending generation may come back after a power cut.")
        }
      }
      try session.unlink(.generation(slot: survey.slot, number: number, isPending: true))
    }
  }
}

extension StoreSession {
  /// The pending generation, opened: the one that the ledger lists, or one that a crash cut short of it.
  ///
  /// `nil` also when a newer generation, which a crash cut short of the ledger, already includes it.
  func findPending(
    _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> (Ledger.Record, any SealedContent)? {
    guard let found = try findUnconsumedPending(survey) else { return nil }
    if let newest = survey.generations.first, newest > survey.floor, newest > found.0.generation,
      let content = try? findNewest(survey, protection: protection).content,
      content.fields.flags & SealedFields.consumesPendingFlag != 0, content.fields.generation > found.0.generation
    {
      return nil
    }
    return found
  }

  private func findUnconsumedPending(
    _ survey: SlotSurvey
  ) throws(ProtectionError) -> (Ledger.Record, any SealedContent)? {
    let floor = max(
      survey.floor, survey.entry?.pending?.generation ?? 0, survey.entry?.pendingFloor ?? 0)
    var problem: ProtectionError?
    for number in survey.pending where number > floor {
      do throws(ProtectionError) {
        let content = try openPending(number, survey)
        return (
          Ledger.Record(
            generation: number, commitment: content.commitment, protection: .completeUnlessOpen, wasPending: true),
          content
        )
      } catch  where error.saysNothingAboutContent {
        throw error
      } catch {
        problem = problem ?? error
      }
    }
    guard let pending = survey.entry?.pending else {
      if let problem { throw problem }
      return nil
    }
    return (pending, try openListed(pending, survey))
  }

  /// The pending generation that a new entry goes on listing; what is listed and can't be read stays listed.
  func pendingToKeep(
    _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> Ledger.Record? {
    guard !survey.pending.isEmpty || survey.entry?.pending != nil else { return nil }
    do throws(ProtectionError) {
      return try findPending(survey, protection: protection)?.0
    } catch  where error.code == .io || error.code == .busy {
      throw error
    } catch {
      return survey.entry?.pending
    }
  }

  private func openPending(
    _ number: UInt64, _ survey: SlotSurvey
  ) throws(ProtectionError) -> any SealedContent {
    guard let file = try open(.generation(slot: survey.slot, number: number, isPending: true)) else {
      throw ProtectionError(.missing, "A pending generation went away while it was looked for.")
    }
    let content = try store.sealer.openArchive(
      file, protection: .completeUnlessOpen, identity: survey.identity, generation: number)
    guard content.fields.flags & SealedFields.pendingFlag != 0 else {
      throw ProtectionError(.corrupt, "A generation stands under the name of one saved while locked.")
    }
    return content
  }

  /// Whether a pending generation's base, frames included, is still what is current.
  func isUnchanged(
    _ base: PendingPreamble.Base?, _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> Bool {
    let found: FoundGeneration
    do throws(ProtectionError) {
      found = try findNewest(survey, protection: protection)
    } catch {
      if error.saysNothingAboutContent { throw error }
      return error.code == .notFound && base == nil
    }
    guard let base, found.standing == .current, found.record.generation == base.generation,
      found.record.commitment == base.commitment
    else { return false }
    let chain = try readJournals(of: found.content, survey, protection: protection)
    let mark = chain.ends.last.map(PendingPreamble.JournalMark.init)
    return base.wasRead && !chain.isBroken && mark == base.journal
  }
}
