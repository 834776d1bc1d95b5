import FileSystem

/// What is saved in a slot at one moment: two are the same as long as nobody has saved anything there between them.
///
/// It comes from names, the ledger and the lengths of journals, so that it tells as much of what is locked or damaged.
/// No number that anybody has seen is used twice.
package struct ArchiveStamp: Hashable, Sendable {
  /// The whole generations by number, newest first, those that count no more as well.
  let generations: [UInt64]
  /// The generations that were saved while locked and are in no other, oldest first.
  let pending: [UInt64]
  /// Where each journal ends.
  let journalEnds: [Int]

  /// Describes what is saved.
  package init(generations: [UInt64], pending: [UInt64], journalEnds: [Int]) {
    self.generations = generations
    self.pending = pending
    self.journalEnds = journalEnds
  }
}

extension ArchiveStore {
  /// What is saved now, for ``publish(_:schema:consuming:unlessChangedSince:)``; needs no key of a class.
  ///
  /// Take it before what it is to vouch for is read.
  package func stamp() throws(ProtectionError) -> ArchiveStamp {
    try withLock { _, session throws(ProtectionError) in try session.stamp(try session.survey(slot)) }
  }
}

extension StoreSession {
  /// Throws `.superseded` when something has been saved in the slot since the stamp was taken.
  func requireUnchanged(since seen: ArchiveStamp, _ survey: SlotSurvey) throws(ProtectionError) {
    guard try stamp(survey) == seen else {
      throw ProtectionError(.superseded, "Another program has saved this archive meanwhile; read it again.")
    }
  }

  /// What is saved in a slot.
  func stamp(_ survey: SlotSurvey) throws(ProtectionError) -> ArchiveStamp {
    var journals: [(generation: UInt64, index: UInt32)] = []
    for case .journal(survey.slot, let number, let index) in survey.names { journals.append((number, index)) }
    journals.sort { ($0.generation, $0.index) < ($1.generation, $1.index) }
    var ends: [Int] = []
    for journal in journals {
      ends.append(try end(of: .journal(slot: survey.slot, number: journal.generation, index: journal.index)))
    }
    return ArchiveStamp(generations: survey.generations, pending: survey.waiting, journalEnds: ends)
  }

  /// Where what was written into a journal ends; zero for what was put in the place of one.
  private func end(of journal: StoreName) throws(ProtectionError) -> Int {
    do throws(ProtectionError) {
      guard let file = try open(journal), file.byteCount <= JournalFrames.fileLimit else { return 0 }
      return countUpToLastNonZero(try file.read(0..<file.byteCount)[...])
    } catch  where error.code == .corrupt {
      return 0
    }
  }
}
