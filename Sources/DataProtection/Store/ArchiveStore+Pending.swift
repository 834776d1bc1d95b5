public import FoundationEssentials
import Synchronization

extension ArchiveStore {
  /// Saves a pending generation while the device is locked, sealed one-way, beside those of other runs.
  ///
  /// It replaces only what this run has saved while locked, and what is `included`; what is older than that and not
  /// included is set aside. `.whole` needs that this run has opened or published the base, or found that there is none;
  /// otherwise it throws `.superseded`, and only the touched nodes may be saved. Throws `.locked` when 64 runs have
  /// saved while locked without an unlock: nobody can read what they saved, so nothing can make room. What is saved
  /// stays as it is.
  ///
  /// - Parameters:
  ///   - plaintext: The whole state, or the touched nodes since the beginning of this run.
  ///   - kind: Which of the two.
  ///   - schema: The archive schema of the content.
  ///   - included: Pending generations that were opened in this run and whose content is in this one.
  @discardableResult
  public func publishPending(
    _ plaintext: Data, kind: PendingArchive.Kind, schema: UInt32 = 0, including included: [PendingArchive] = []
  ) throws(ProtectionError) -> PublishReceipt {
    try withLock { state, session throws(ProtectionError) in
      guard kind == .touchedNodes || state.base != nil || state.foundNothing else {
        throw ProtectionError(
          .superseded, "The state that is saved was not read in this run; save only the touched nodes.")
      }
      let survey = try session.ensureLedger(try session.survey(slot))
      let own = state.ownPending.flatMap { survey.waiting.contains($0.generation) ? $0 : nil }
      guard own != nil || survey.waiting.count < ArchiveStore.pendingLimit else {
        throw ProtectionError(
          .locked, "Too many runs have saved while the device was locked; unlock it, so that they can be joined.")
      }
      var ledger = session.ledgerForWriting(survey)
      let numbers = Set(included.map(\.generation.rawValue))
      let others = survey.waiting.filter { $0 > numbers.max() ?? 0 && $0 != own?.generation }
      let preamble = PendingPreamble(
        kind: kind, base: pendingBase(state, survey), run: state.run, included: numbers.max() ?? 0, others: others,
        replaced: own?.replaced(knownTo: others) ?? [])
      var fields = SealedFields(
        kind: .archive, protection: .completeUnlessOpen, identity: survey.identity, generation: 0, schema: schema,
        flags: preamble.flags, identifier: ArchiveStore.randomIdentifier())
      let published = try session.publishGeneration(
        preamble.encoded + plaintext, &fields, after: ledger.highWater, survey
      ) {
        // Once it is taken over it keeps its commitment.
        if kind == .whole { state.follow($0) }
      }
      let generation = Generation(rawValue: fields.generation)
      guard published.isDurable else {
        if kind == .whole, let base = state.base { state.follow(base.record.commitment) }
        return PublishReceipt(generation: generation, bytesWritten: published.byteCount, durability: .unknown)
      }
      var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
      entry.pending = Ledger.Record(
        generation: fields.generation, commitment: published.commitment, protection: .completeUnlessOpen,
        wasPending: true)
      entry.pendingFloor = max(survey.pendingFloor, preamble.included)
      // The entry is new: what the ledger's mark ruled out before stays ruled out.
      if survey.entry == nil { entry.floor = max(entry.floor, survey.floor) }
      ledger.entries[survey.slot] = entry
      ledger.highWater = max(ledger.highWater, fields.generation)
      let ledgerByteCount = session.list(ledger, survey)
      if ledgerByteCount != nil {
        for number in survey.waiting where number <= preamble.included || number == own?.generation {
          let name = StoreName.generation(slot: survey.slot, number: number, isPending: true)
          // What could not be included is passed over, and nobody can read it now.
          if numbers.contains(number) || number == own?.generation {
            try? session.unlink(name)
          } else {
            session.setAside(name)
          }
        }
      }
      state.verified.insert(fields.generation)
      state.ownPending = OwnPending(generation: fields.generation, replaced: preamble.replaced)
      return PublishReceipt(
        generation: generation, bytesWritten: published.byteCount + (ledgerByteCount ?? 0), durability: .durable)
    }
  }

  /// So many runs may save while locked without an unlock between them.
  static let pendingLimit = 64

  /// What a pending generation is made on top of: what this run has read, or else what the ledger lists.
  private func pendingBase(_ state: ArchiveStoreState, _ survey: SlotSurvey) -> PendingPreamble.Base? {
    if let read = state.base {
      // What was read may have been sealed anew since, and can't be opened to see that.
      let base = store.resealings.withLock { $0[survey.slot]?.successor(of: read) } ?? read
      return PendingPreamble.Base(
        generation: base.record.generation, commitment: base.record.commitment,
        journal: base.ends.last.map(PendingPreamble.JournalMark.init), wasRead: true)
    }
    guard let current = survey.entry?.current else { return nil }
    return PendingPreamble.Base(
      generation: current.generation, commitment: current.commitment, journal: nil, wasRead: false)
  }

  /// Opens, whole, everything that was saved while locked and is in no generation yet.
  ///
  /// Throws `.locked` while it can't be read. One that is gone, damaged or was put back is a problem of its own.
  public func openPending() throws(ProtectionError) -> PendingArchives {
    try withLock { state, session throws(ProtectionError) in
      let survey = try survey(&state, session)
      let found = try session.findPending(survey, protection: state.protection)
      var result = PendingArchives(archives: [], problems: found.problems)
      for pending in found.pending {
        let bytes: Data
        do throws(ProtectionError) {
          bytes = try pending.content.read(0..<pending.content.byteCount)
        } catch  where !error.saysNothingAboutContent {
          result.problems.append(error)
          continue
        }
        state.verified.insert(pending.record.generation)
        result.archives.append(
          PendingArchive(
            generation: Generation(rawValue: pending.record.generation), kind: pending.preamble.kind,
            schema: pending.content.fields.schema,
            base: pending.preamble.base.map { Generation(rawValue: $0.generation) },
            isBaseUnchanged: try session.isUnchanged(pending, survey, protection: state.protection),
            isOwn: pending.preamble.run == state.run,
            content: Data(bytes.dropFirst(pending.content.fields.preambleByteCount)),
            commitment: Data(pending.record.commitment)))
      }
      return result
    }
  }

  /// Makes a whole pending generation the current one: the ledger's write is the only step.
  ///
  /// Later ones stay pending, on top of it. Earlier ones are set aside: it knew of them and does not include them.
  /// Throws `.superseded` when its base has changed or it is no longer pending; everything is kept then.
  @discardableResult
  public func promotePending(_ pending: PendingArchive) throws(ProtectionError) -> PublishReceipt {
    try withLock { state, session throws(ProtectionError) in
      state.knownTip = try store.raiseTip()
      let survey = try session.survey(slot)
      let found = try session.findPending(survey, protection: state.protection).pending
      guard pending.kind == .whole,
        let own = found.first(where: { Data($0.record.commitment) == pending.commitment })
      else {
        throw ProtectionError(.superseded, "That pending generation is not among those that are there now.")
      }
      guard try session.isUnchanged(own, survey, protection: state.protection) else {
        throw ProtectionError(.superseded, "What the pending generation was based on has changed; both are kept.")
      }
      let record = own.record
      let later = try session.pendingToKeep(survey, consuming: [record.generation])
      var ledger = session.ledgerForWriting(survey)
      var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
      entry.predecessor = try previousGeneration(&state, session, survey)
      entry.current = record
      entry.pending = later
      entry.pendingFloor = max(survey.pendingFloor, record.generation)
      entry.isUnverified = false
      ledger.entries[survey.slot] = entry
      ledger.highWater = max(ledger.highWater, record.generation)
      let written = try session.writeLedger(ledger)
      state.verified.insert(record.generation)
      state.adopt(
        written.isDurable
          ? ArchiveStoreState.Base(
            record: record, identifier: own.content.fields.identifier, byteCount: own.content.byteCount)
          : nil)
      if written.isDurable { session.prune(survey, entry, verified: state.verified) }
      return PublishReceipt(
        generation: pending.generation, bytesWritten: written.byteCount,
        durability: written.isDurable ? .durable : .unknown)
    }
  }

  /// Deletes a pending generation and those before it: the ledger first, then the files.
  public func discardPending(_ pending: PendingArchive) throws(ProtectionError) {
    try withLock { state, session throws(ProtectionError) in
      let survey = try session.survey(slot)
      let number = pending.generation.rawValue
      guard survey.entry?.current?.generation != number, survey.entry?.predecessor?.generation != number else {
        return
      }
      if survey.reading.ledger != nil {
        var ledger = session.ledgerForWriting(survey)
        var entry = ledger.entries[survey.slot] ?? Ledger.Entry()
        if let listed = entry.pending, listed.generation <= number { entry.pending = nil }
        entry.pendingFloor = max(entry.pendingFloor, number)
        ledger.entries[survey.slot] = entry
        guard try session.writeLedger(ledger).isDurable else {
          throw ProtectionError(.durabilityUnknown, "The pending generation may come back after a power cut.")
        }
      }
      for waiting in survey.waiting where waiting <= number {
        try session.unlink(.generation(slot: survey.slot, number: waiting, isPending: true))
      }
    }
  }
}
