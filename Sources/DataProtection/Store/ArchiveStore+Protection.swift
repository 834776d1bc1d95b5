import FoundationEssentials

extension ArchiveStore {
  /// Changes the class: the newest generation and its frames are sealed anew, then everything older is deleted.
  ///
  /// Allowed exactly when the archive can be read now and the new class can be created now; otherwise `.locked`,
  /// and nothing has changed. With nothing saved, only what is saved later gets the class. When only an older
  /// generation can be read, throws what is wrong with the newest one: publish first, so that nothing passes for it.
  public func setProtection(_ protection: ProtectionClass) throws(ProtectionError) {
    try withLock { state, session throws(ProtectionError) in
      guard protection != state.protection else { return }
      let survey = try session.survey(slot)
      let found: FoundGeneration
      do throws(ProtectionError) {
        found = try session.findNewest(survey, protection: state.protection)
      } catch  where error.code == .notFound {
        state.protection = protection
        return
      }
      if case .olderGeneration(let reason) = found.standing {
        throw ProtectionError(
          reason ?? .corrupt, "Only an older archive is left; save the whole state before the class is changed.")
      }
      // Before the journals are read: a frame that a peer acknowledges after this is one that is read here.
      state.knownTip = try store.raiseTip()
      let chain = try session.readJournals(of: found.content, survey, protection: state.protection)
      let base = try session.reseal(found, chain, survey, as: protection)
      state.protection = protection
      state.verified = [base.record.generation]
      state.adopt(base)
    }
  }
}

extension StoreSession {
  /// Seals a generation and its frames under another class, and deletes everything older.
  ///
  /// The journal gets its name, durably, before the generation does: a generation without its frames never shows.
  func reseal(
    _ found: FoundGeneration, _ chain: JournalChain, _ survey: SlotSurvey, as protection: ProtectionClass
  ) throws(ProtectionError) -> ArchiveStoreState.Base {
    var plaintext = try found.content.read(0..<found.content.byteCount)
    var fields = found.content.fields
    if fields.isPending {
      plaintext = Data(plaintext.dropFirst(fields.preambleByteCount))
    }
    // What was saved while locked since is not in it, whatever it included when it was sealed first.
    fields.flags = 0
    fields.protection = protection
    fields.identifier = ArchiveStore.randomIdentifier()
    var ledger = ledgerForWriting(survey)
    fields.generation = try nextNumber(after: ledger.highWater, survey)
    let sealed = try store.sealer.seal(plaintext, fields)
    let record = Ledger.Record(
      generation: fields.generation, commitment: sealed.commitment, protection: protection, wasPending: false)
    var base = ArchiveStoreState.Base(
      record: record, identifier: fields.identifier, byteCount: plaintext.count)
    let journal = StoreName.journal(slot: survey.slot, number: fields.generation, index: 0)
    let frames = try chain.readFrames()
    if let first = frames.first {
      let made = try createJournal(
        first, rest: frames.dropFirst(), base: base, identity: survey.identity, protection: protection,
        identifier: ArchiveStore.randomIdentifier())
      base.ends = [made.writer.end]
      base.journalByteCount = made.byteCount
      guard synchronizeDirectory() else {
        try? unlink(journal)
        throw notChanged
      }
    }
    let name = StoreName.generation(slot: survey.slot, number: fields.generation, isPending: false)
    do throws(ProtectionError) {
      _ = try create(name, sealed.bytes)
    } catch {
      // No copy stays under a class that the archive didn't get.
      try? unlink(journal)
      throw error
    }
    guard synchronizeDirectory() else {
      try? unlink(name)
      try? unlink(journal)
      throw mayBeChanged
    }
    var entry = Ledger.Entry()
    entry.current = record
    entry.pending = survey.entry?.pending
    entry.pendingFloor = survey.pendingFloor
    entry.isDeleting = true
    // What nobody could vouch for before is no surer for being sealed anew.
    entry.isUnverified = survey.isUnverifiable
    ledger.entries[survey.slot] = entry
    ledger.highWater = fields.generation
    let isListed: Bool
    do throws(ProtectionError) {
      isListed = try writeLedger(ledger).isDurable
    } catch {
      try? unlink(name)
      try? unlink(journal)
      throw error
    }
    guard isListed else {
      throw mayBeChanged
    }
    // A crash from here on leaves the rest to the next opening.
    try finishDeletion(try unfinished(survey))
    return base
  }

  private var mayBeChanged: ProtectionError {
    ProtectionError(
      .durabilityUnknown, "The class may or may not be changed after a power cut; change it again.")
  }

  private var notChanged: ProtectionError {
    ProtectionError(.io, "The class could not be changed; the archive is as it was.")
  }
}
