package import DataProtection
package import FoundationEssentials

/// What the coordinator needs of the place where one scene's generations are kept.
///
/// A narrow border, so that the engine's tests can put a store in memory in its place. Every call blocks, may come
/// from any thread, and must not come from the main actor.
package protocol PreservationStore: Sendable {
  /// Opens the newest generation with the changes appended to it.
  func openNewest() throws(ProtectionError) -> StoredState
  /// Opens the generation before the newest one.
  func openPredecessor() throws(ProtectionError) -> StoredState
  /// What is saved now, to be told apart from what is saved later; reads nothing of it.
  func stamp() throws(ProtectionError) -> ArchiveStamp
  /// Writes a whole new generation; `pending` names what was saved while locked and is merged into this one.
  ///
  /// With a stamp it writes only if nobody has saved anything here since: `.superseded` otherwise.
  func publish(
    _ plaintext: Data, consuming pending: [StoredPending], unlessChangedSince seen: ArchiveStamp?
  ) throws(ProtectionError) -> StoreReceipt
  /// Appends a change to the newest generation's journal; `.superseded` when a whole generation is due instead: when the
  /// newest is not the one that it changes, say, or the change is not its next, by its number from 1.
  func append(_ frame: Data, to generation: Generation, as number: Int) throws(ProtectionError) -> StoreReceipt
  /// Whether the journal has grown so much that a whole generation is due.
  var isCompactionDue: Bool { get }
  /// Ends the journal before the state is put together for a whole generation.
  func freezeJournal()
  /// Writes what is saved while locked, sealed one-way.
  ///
  /// It takes the place of what this run has saved while locked before, and of what is `included`; never of what other
  /// runs have saved.
  func publishPending(
    _ plaintext: Data, kind: PendingKind, including included: [StoredPending]
  ) throws(ProtectionError) -> StoreReceipt
  /// Opens what was saved while locked and is in no generation yet, oldest first.
  func openPending() throws(ProtectionError) -> AllPending
  /// Makes a whole pending generation the current one.
  ///
  /// One that was begun anew takes the place of a state that it does not continue: set that aside first.
  func promotePending(_ pending: StoredPending) throws(ProtectionError) -> StoreReceipt
  /// Deletes pending content, and what is older, because it is in the newest generation.
  func discardPending(_ pending: StoredPending) throws(ProtectionError)
  /// Deletes everything that is kept.
  func deleteAll() throws(ProtectionError)
  /// What the crash marker says about the last attempt to restore this state.
  func interruptedAttempt(for state: StoredState) throws(ProtectionError) -> InterruptedAttempt?
  /// Marks durably that restoring begins, perhaps of the generation before the newest, or of one to which pending content
  /// is joined; the mark is that of the newest, 0 for none. Attempts that failed before may have been at something else.
  func beginAttempt(
    for state: StoredState, as role: RestorationAttempt.Role, joining pendingMark: UInt32,
    countingFormer countsFormer: Bool
  ) throws(ProtectionError) -> any RestorationAttempting
  /// The places beside this one for states that are set aside, `SetAsideShelf.placeCount` of them, always the same.
  var asidePlaces: [any PreservationStore] { get }
  /// Which of those places hold anything, by position; opens nothing.
  func occupiedAsidePlaces() throws(ProtectionError) -> [Int]
}

extension PreservationStore {
  /// Marks durably that restoring begins.
  package func beginAttempt(for state: StoredState) throws(ProtectionError) -> any RestorationAttempting {
    try beginAttempt(for: state, as: .newest, joining: 0, countingFormer: true)
  }

  /// Writes a whole new generation, whatever others have saved meanwhile.
  package func publish(_ plaintext: Data, consuming pending: [StoredPending]) throws(ProtectionError) -> StoreReceipt {
    try publish(plaintext, consuming: pending, unlessChangedSince: nil)
  }
}

/// What is saved while the device is locked.
package enum PendingKind: Sendable, Hashable {
  /// Touched nodes only.
  case touchedNodes
  /// Everything, going on from what is there.
  case whole
  /// Everything, beginning anew: what is there is not in it, because it was refused.
  case wholeAnew
  /// The same; the generation before that was refused, too.
  case wholeAnewOverBoth
}

/// A marked attempt at restoring, which the next launch finds if this process dies in it.
package protocol RestorationAttempting: AnyObject, Sendable {
  /// A turn begins in which a note is made for every node; all of it is the caller's, with nothing to wait for.
  func beginTurn()
  /// The turn is over; what is noted from now on may be long after.
  func endTurn()
  /// Notes the node that is restored from now on, none for `UInt32.max`; does not wait for the disk.
  func note(node: UInt32)
  /// Has a death be put down to nothing until something is noted again; does not wait for the disk.
  func rest()
  /// Has what failed before count no more; does not wait for the disk.
  func forgetFormer()
  /// Removes the marker.
  func finish()
  /// Makes the rest or the removal durable; waits for the disk.
  func settle()
}

/// An opened generation: its content, and what is known about it.
package struct StoredState: Sendable {
  /// Number of the generation.
  package var generation: Generation
  /// How sure it is that this is what was saved last.
  package var standing: ArchiveStanding
  /// Length of the content in bytes.
  package var byteCount: Int
  /// The changes appended since, oldest first.
  package var frames: [Data]
  /// Bytes after the last whole change that could not be used.
  package var tailDropped: Int
  /// Reads part of the content.
  package var read: @Sendable (Range<Int>) throws -> Data
  /// The store's own handle.
  package var handle: (any Sendable)?

  /// Describes an opened generation.
  package init(
    generation: Generation, standing: ArchiveStanding = .current, byteCount: Int, frames: [Data] = [],
    tailDropped: Int = 0, handle: (any Sendable)? = nil, read: @escaping @Sendable (Range<Int>) throws -> Data
  ) {
    self.generation = generation
    self.standing = standing
    self.byteCount = byteCount
    self.frames = frames
    self.tailDropped = tailDropped
    self.handle = handle
    self.read = read
  }
}

/// Everything that was saved while the device was locked and is in no generation yet.
package struct AllPending: Sendable {
  /// What can be read, oldest first.
  package var readable: [StoredPending]
  /// Why the rest can't be.
  package var problems: [ProtectionError]

  /// Describes what is pending.
  package init(readable: [StoredPending] = [], problems: [ProtectionError] = []) {
    self.readable = readable
    self.problems = problems
  }
}

/// What one run has saved while the device was locked, opened.
package struct StoredPending: Sendable {
  /// What it holds.
  package var kind: PendingKind
  /// True when it still belongs on top of the current state.
  package var isBaseUnchanged: Bool
  /// True when this run has saved it.
  package var isOwn: Bool
  /// The content, checked.
  package var content: Data
  /// A number that tells it from others that are pending.
  package var mark: UInt32
  /// The store's own handle.
  package var handle: (any Sendable)?

  /// Describes opened pending material.
  package init(
    kind: PendingKind, isBaseUnchanged: Bool, isOwn: Bool = false, content: Data, mark: UInt32 = 0,
    handle: (any Sendable)? = nil
  ) {
    self.kind = kind
    self.isBaseUnchanged = isBaseUnchanged
    self.isOwn = isOwn
    self.content = content
    self.mark = mark
    self.handle = handle
  }
}

/// What became of a write.
package struct StoreReceipt: Sendable, Hashable {
  /// The generation that holds the state now.
  package var generation: Generation
  /// Bytes written to disk.
  package var bytesWritten: Int
  /// Whether the write would survive a power cut.
  package var durability: Durability

  /// Describes a write.
  package init(generation: Generation, bytesWritten: Int, durability: Durability) {
    self.generation = generation
    self.bytesWritten = bytesWritten
    self.durability = durability
  }
}
