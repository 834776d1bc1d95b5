import Synchronization

extension ArchiveStore {
  /// From now on reads what is saved under the class that it was saved with, whatever class is wanted now.
  ///
  /// For a program whose newer version wants another class: ``protection`` is then the recorded class after each look,
  /// and ``setProtection(_:)`` moves what is saved. The ledger is authentic, so nobody can make this store accept a
  /// weaker class than the program once chose itself.
  package func followRecordedProtection() { state.withLock { $0.followsRecordedProtection = true } }

  /// Looks at the slot, and takes over the class that is recorded for it, if that was asked for.
  func survey(
    _ state: inout ArchiveStoreState, _ session: borrowing StoreSession
  ) throws(ProtectionError) -> SlotSurvey {
    let survey = try session.survey(slot)
    if state.followsRecordedProtection, let recorded = session.recordedProtection(survey) {
      state.protection = recorded
    }
    return survey
  }
}

extension StoreSession {
  /// The class of what is saved; `nil` when nothing tells.
  ///
  /// A generation that was saved while locked has the class of such generations for good: its journals tell the other.
  func recordedProtection(_ survey: SlotSurvey) -> ProtectionClass? {
    guard let current = survey.entry?.current else { return nil }
    guard current.wasPending else { return current.protection }
    let journal = StoreName.journal(slot: survey.slot, number: current.generation, index: 0)
    guard survey.names.contains(journal), let file = try? open(journal),
      let head = try? file.read(0..<min(SealedFileHeader.maximumByteCount, file.byteCount))
    else { return survey.entry?.predecessor.flatMap { $0.wasPending ? nil : $0.protection } }
    return try? store.sealer.claimedProtection(head[...])
  }
}
