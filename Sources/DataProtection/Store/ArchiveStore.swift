import FoundationEssentials
import Synchronization

/// The sealed generations of one slot.
///
/// Every call is synchronous, blocks on the disk, may come from any thread, and must not come from the main actor.
/// Whatever fails, what was saved and acknowledged before is still there, whole. `Docs/Durability.md` says why.
public final class ArchiveStore: Sendable {
  /// Whose archive it is.
  public let slot: ArchiveSlot
  let store: StoreDirectory
  let state: Mutex<ArchiveStoreState>

  /// The class that new generations get, and existing ones must have.
  public var protection: ProtectionClass { state.withLock { $0.protection } }

  init(_ store: StoreDirectory, slot: ArchiveSlot, protection: ProtectionClass) {
    self.store = store
    self.slot = slot
    state = Mutex(ArchiveStoreState(protection: protection, run: ArchiveStore.randomIdentifier()))
  }

  /// Runs the body with the state and the store's lock.
  func withLock<R>(
    _ body: (inout ArchiveStoreState, borrowing StoreSession) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    var outcome: Result<R, ProtectionError>?
    state.withLock { state in
      do throws(ProtectionError) {
        outcome = .success(
          try store.withLock { session throws(ProtectionError) in try body(&state, session) })
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome!.get()
  }

  // MARK: Opening

  /// Opens the newest generation with the frames appended to it.
  ///
  /// When the newest one is damaged or gone, the ledger's predecessor stands in, and `standing` says so. Throws one
  /// of `notFound` (nothing was ever saved), `missing`, `locked`, `corrupt`, `wrongIdentity`, `wrongClass`,
  /// `otherDevice`, `keysMissing`, `rolledBack`, `unsupportedVersion`, `busy`, `io`. No archive is changed.
  ///
  /// - Parameter checkingFrames: Whether every frame is opened now, so that damage in the middle of a journal ends it
  ///   there; without it only the last one is, and each other one when it is read.
  public func openNewest(checkingFrames: Bool = false) throws(ProtectionError) -> OpenedArchive {
    try withLock { state, session throws(ProtectionError) in
      let survey = try survey(&state, session)
      let found: FoundGeneration
      do throws(ProtectionError) {
        found = try session.findNewest(survey, protection: state.protection)
      } catch {
        // What could not be reached now is still what this run has read before.
        guard !error.saysNothingAboutContent else { throw error }
        state.adopt(nil)
        state.foundNothing = error.code == .notFound
        throw error
      }
      let chain = try session.readJournals(
        of: found.content, survey, protection: state.protection, checksAll: checkingFrames)
      state.adopt(
        ArchiveStoreState.Base(
          record: found.record, identifier: found.content.fields.identifier, byteCount: found.content.byteCount,
          ends: chain.ends, journalByteCount: chain.byteCount,
          isAppendable: found.standing == .current && !chain.isBroken && chain.lastTail == 0))
      return try OpenedArchive(found, chain)
    }
  }

  /// Opens the generation before the newest one: only the one that the ledger names as predecessor.
  ///
  /// Throws `.notFound` when there is none. Saving goes on from the newest generation all the same.
  public func openPredecessor() throws(ProtectionError) -> OpenedArchive {
    try withLock { state, session throws(ProtectionError) in
      let survey = try survey(&state, session)
      var found = try session.findPredecessor(survey, protection: state.protection)
      if let current = survey.entry?.current, survey.generations.contains(where: { $0 > current.generation }),
        let newest = try? session.findNewest(survey, protection: state.protection),
        newest.record.generation > current.generation
      {
        // A crash cut the newest one short of the ledger: the one before it is the one that the ledger lists.
        found = FoundGeneration(
          record: current, standing: found.standing, content: try session.openListed(current, survey))
      }
      return try OpenedArchive(
        found, try session.readJournals(of: found.content, survey, protection: state.protection))
    }
  }
}

extension OpenedArchive {
  /// An archive from what was found on disk.
  convenience init(_ found: FoundGeneration, _ chain: JournalChain) throws(ProtectionError) {
    let fields = found.content.fields
    var content: any ArchiveContent = found.content
    if fields.isPending {
      guard found.content.byteCount >= PendingPreamble.byteCount else {
        throw ProtectionError(.corrupt, "A generation saved while locked has no readable beginning.")
      }
      content = ContentAfterPreamble(content: found.content)
    }
    self.init(
      generation: Generation(rawValue: fields.generation), standing: found.standing, protection: fields.protection,
      schema: fields.schema, journals: chain,
      commitment: Data(found.content.commitment), content: content)
  }
}
