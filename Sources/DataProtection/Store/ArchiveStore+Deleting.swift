import FoundationEssentials

extension ArchiveStore {
  /// Deletes everything that is kept for the slot, what was set aside included.
  ///
  /// Works while locked. The ledger goes first: a deletion that is cut short is finished at the next opening.
  public func deleteAll() throws(ProtectionError) {
    try withLock { state, session throws(ProtectionError) in
      let survey = try session.survey(slot)
      var isDecided = !survey.hasAnything
      // As long as nothing is decided, this run goes on from what it has read.
      defer {
        if isDecided {
          state.adopt(nil)
          state.foundNothing = true
        }
      }
      guard !isDecided else { return }
      state.knownTip = try store.raiseTip()
      try session.deleteSlot(survey) { isDecided = true }
    }
  }
}

extension StoreSession {
  /// Deletes all of a slot, durably; it is gone, sooner or later, from when it is decided.
  func deleteSlot(_ survey: SlotSurvey, whenDecided: () -> Void = {}) throws(ProtectionError) {
    guard survey.hasAnything else { return }
    var ledger = ledgerForWriting(survey)
    var entry = Ledger.Entry()
    entry.isDeleting = true
    entry.floor = ledger.highWater
    ledger.entries[survey.slot] = entry
    let isDurable = try writeLedger(ledger).isDurable
    whenDecided()
    guard isDurable else { throw mayComeBack }
    try finishDeletion(try unfinished(survey))
  }

  /// Deletes whatever the slot's entry doesn't list, durably, and then says so in the ledger.
  ///
  /// From then on its files are gone for good: whatever stands under their names later was put back.
  func finishDeletion(_ survey: SlotSurvey) throws(ProtectionError) {
    guard var ledger = survey.reading.ledger, var entry = survey.entry else { return }
    let kept = survey.keptByDeletion
    for name in survey.names where name.slot == survey.slot && !name.outlasts(deletionBut: kept) { try unlink(name) }
    guard synchronizeDirectory() else { throw mayComeBack }
    entry.isDeleting = false
    ledger.entries[survey.slot] = kept.isEmpty ? nil : entry
    guard try writeLedger(ledger).isDurable else { throw mayComeBack }
  }

  /// The slot as it is after the ledger has decided a deletion.
  func unfinished(_ survey: SlotSurvey) throws(ProtectionError) -> SlotSurvey {
    let reading = try readLedger()
    return SlotSurvey(
      identity: survey.identity, slot: survey.slot, reading: reading, names: try names(),
      entry: reading.ledger?.entries[survey.slot])
  }

  private var mayComeBack: ProtectionError {
    ProtectionError(
      .durabilityUnknown, "What was deleted may come back after a power cut; delete it again.")
  }
}

extension SlotSurvey {
  /// The generations that a deletion which was decided leaves: everything but these goes.
  var keptByDeletion: Set<UInt64> {
    let kept = Set([entry?.current, entry?.pending].compactMap { $0?.generation })
    return kept.isEmpty ? kept : kept.union(waiting)
  }
}

extension StoreName {
  /// Whether the file stays when a slot is deleted but for some generations.
  func outlasts(deletionBut kept: Set<UInt64>) -> Bool {
    switch self {
    case .generation(_, let number, _), .journal(_, let number, _): kept.contains(number)
    case .marker: !kept.isEmpty
    default: false
    }
  }
}
