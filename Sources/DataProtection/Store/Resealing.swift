/// A generation that took the place of another with the same content, and is known to have.
///
/// Whoever had read the one before has read this one too, without opening it.
struct Resealing {
  /// What was sealed anew.
  let source: Ledger.Record
  /// Where the journals ended that were sealed anew with it.
  let sourceEnd: PendingPreamble.JournalMark?
  /// What took its place.
  let result: ArchiveStoreState.Base

  /// What has taken the place of a base; nil when something was saved between it and the resealing.
  func successor(of base: ArchiveStoreState.Base) -> ArchiveStoreState.Base? {
    let isSource = base.record.generation == source.generation && base.record.commitment == source.commitment
    return isSource && base.ends.last.map(PendingPreamble.JournalMark.init) == sourceEnd ? result : nil
  }
}
