public import FoundationEssentials

/// The sealed generations of one slot.
///
/// Every call is synchronous, blocks on the disk, may come from any thread, and must not come from the main actor.
/// Whatever fails, what was saved and acknowledged before is still there, whole.
public final class ArchiveStore: Sendable {
  /// Whose archive it is.
  public let slot: ArchiveSlot
  /// The class new generations get, and existing ones must have.
  public var protection: ProtectionClass { fatalError("not built yet") }

  init(slot: ArchiveSlot) {
    self.slot = slot
  }

  /// Opens the newest generation with the frames appended to it.
  ///
  /// When the newest one is damaged or gone, the ledger's predecessor stands in, and `standing` says so. Throws one
  /// of `notFound` (nothing was ever saved), `missing`, `locked`, `corrupt`, `wrongIdentity`, `wrongClass`,
  /// `otherDevice`, `keysMissing`, `rolledBack`, `unsupportedVersion`, `busy`, `io`. Nothing on disk is changed.
  public func openNewest() throws(ProtectionError) -> OpenedArchive {
    fatalError("not built yet")
  }

  /// Opens the generation before the newest one: only the one that the ledger names as predecessor.
  public func openPredecessor() throws(ProtectionError) -> OpenedArchive {
    fatalError("not built yet")
  }

  /// Saves a whole new generation, and prunes to the newest two that this program has verified.
  ///
  /// If it throws, the old generation is what the next launch finds. `consuming` names a pending generation whose
  /// content is merged into this one: it goes in the same step.
  @discardableResult
  public func publish(
    _ plaintext: Data, schema: UInt32 = 0, consuming pending: PendingArchive? = nil
  ) throws(ProtectionError) -> PublishReceipt {
    fatalError("not built yet")
  }

  /// Appends a frame to the newest generation's journal: one write and one sync.
  ///
  /// Throws `.superseded` when there is nothing to append to (nothing was opened or published in this run, another
  /// process has gone ahead, the journal is frozen): publish a whole generation then.
  @discardableResult
  public func append(_ frame: Data) throws(ProtectionError) -> AppendReceipt {
    fatalError("not built yet")
  }

  /// Ends the journal, before the state is captured for a whole generation: appending is `.superseded` until then.
  public func freezeJournal() {
    fatalError("not built yet")
  }

  /// Whether the journal has grown so much that a whole generation is due (a quarter of the base).
  public var isCompactionDue: Bool { fatalError("not built yet") }

  /// Saves a pending generation while the device is locked, sealed one-way; replaces only another pending one.
  ///
  /// `.whole` needs that this run has opened or published the base, or found that there is none.
  @discardableResult
  public func publishPending(
    _ plaintext: Data, kind: PendingArchive.Kind, schema: UInt32 = 0
  ) throws(ProtectionError) -> PublishReceipt {
    fatalError("not built yet")
  }

  /// Opens the pending generation, whole; `nil` when there is none.
  public func openPending() throws(ProtectionError) -> PendingArchive? {
    fatalError("not built yet")
  }

  /// Makes a whole pending generation the current one.
  ///
  /// Throws `.superseded` when its base has changed.
  @discardableResult
  public func promotePending(_ pending: PendingArchive) throws(ProtectionError) -> PublishReceipt {
    fatalError("not built yet")
  }

  /// Deletes a pending generation.
  public func discardPending(_ pending: PendingArchive) throws(ProtectionError) {
    fatalError("not built yet")
  }

  /// Changes the class: the newest generation and its frames are sealed anew, then everything older is deleted.
  public func setProtection(_ protection: ProtectionClass) throws(ProtectionError) {
    fatalError("not built yet")
  }

  /// Deletes everything that is kept for the slot, what was set aside included.
  ///
  /// Works while locked.
  public func deleteAll() throws(ProtectionError) {
    fatalError("not built yet")
  }

  /// Every file of the slot, with what became of reading it whole.
  ///
  /// Nothing on disk is changed.
  public func listMaterial() throws(ProtectionError) -> [ArchiveMaterial] {
    fatalError("not built yet")
  }

  /// What the crash marker says about the last attempt to restore this archive; `nil` when there is no marker.
  public func interruptedAttempt(for archive: OpenedArchive) throws(ProtectionError) -> InterruptedAttempt? {
    fatalError("not built yet")
  }

  /// Marks that restoring begins; the mark is durable when this returns.
  public func beginAttempt(for archive: OpenedArchive) throws(ProtectionError) -> RestorationAttempt {
    fatalError("not built yet")
  }
}
