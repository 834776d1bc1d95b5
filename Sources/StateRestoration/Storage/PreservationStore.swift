internal import DataProtection
internal import FoundationShim

/// What the engine needs of the store: the generations of one scene, and who writes them.
///
/// One writer has a slot at a time. Every call blocks on the disk, may come from any thread, and must not come from the
/// main actor. A call that needs the slot takes it when ``take(waiting:)`` has not: `inUse` if somebody else has it.
protocol PreservationStore: Sendable {
  // MARK: The slot

  /// Takes the slot for this writer, until ``close()`` or the end of the process; nothing happens if it has it.
  ///
  /// Throws `inUse` (``ProtectionError/processIdentifier`` says whose it is) when another process or another store of
  /// this one has it and does not let go within the patience. Nothing is changed then.
  func take(waiting patience: Duration) throws(ProtectionError)
  /// Lets the slot go; opened states stay readable.
  func close()

  // MARK: Reading

  /// Opens one of the generations, with the changes appended to it.
  ///
  /// Throws `notFound` only for a slot that this device never had, or that was deleted; `locked` while the keys are away.
  /// Asked for the newest, it opens the one before when the newest can't be read, and says so in the standing.
  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState
  /// Opens the pending generations, saved while locked, oldest first; touches no file when there are none.
  func openPending() throws(ProtectionError) -> PendingArchives
  /// The numbers of the newest generation, the one before and the pending ones; opens none, works while locked.
  func generations() throws(ProtectionError) -> [Generation]
  /// The generations that are set aside, oldest first; opens none, works while locked.
  func setAsideRecords() throws(ProtectionError) -> [Ledger.Record]

  // MARK: Saving

  /// Writes a whole new generation and makes it the newest, in one step with what becomes of others.
  ///
  /// While the class has no key it is sealed one-way, and can be read after the unlock. The newest until then becomes the
  /// one before, unless it is retired or damaged; damaged ones are set aside. If it throws, everything is as it was.
  func publish(_ archive: Data, _ succession: ArchiveSuccession) throws(ProtectionError) -> PublishReceipt
  /// Appends a change to the newest generation; nil when a whole one is due instead, and nothing was written.
  ///
  /// A whole one is due when the changes have grown to a quarter of the base or 256, when a sync failed, when the class or
  /// the keys have changed, when `generation` is not the newest, or when this writer neither opened nor published it.
  func append(_ change: Data, to generation: Generation) throws(ProtectionError) -> PublishReceipt?
  /// Saves the nodes touched while locked, sealed one-way, beside the stored state.
  ///
  /// It takes the place of what this run has saved so before, never of what other runs have. At most 64 wait for an unlock.
  func publishPending(_ touchedNodes: Data) throws(ProtectionError) -> PublishReceipt
  /// Has what this run has saved while locked stay: the next such save takes the place of none.
  func keepPending()
  /// Makes durable what an earlier run has left: call it before a save that writes nothing is acknowledged as "unchanged".
  ///
  /// Writes once a run at most, and nothing when this run has saved. Saving does it by itself.
  func requireDurable() throws(ProtectionError)
  /// Removes one generation that is set aside; false when it is not there.
  func removeSetAside(_ generation: Generation) throws(ProtectionError) -> Bool
  /// Deletes the slot with everything in it, while locked too. The next save begins anew.
  func deleteAll() throws(ProtectionError)

  // MARK: Crashes

  /// How earlier attempts at restoring a generation have ended.
  ///
  /// Throws `corrupt` when the marker is damaged: it counts as none then.
  func attempts(at state: StoredState) throws(ProtectionError) -> AttemptHistory
  /// Marks that code of the program runs with a state; it outlives the process at once, and the disk has it soon after.
  ///
  /// - Parameter isRequest: Whether the program asked for this state by name: a death then sets one bit and counts no death.
  func beginAttempt(at state: StoredState, isRequest: Bool) throws(ProtectionError) -> any RestorationAttempting
}

/// Which generation to open.
enum StateChoice: Sendable, Hashable {
  /// The newest, or the one before if that can't be read.
  case newest
  /// The one before the newest.
  case predecessor
  /// One that is set aside.
  case setAside(Generation)
}

/// A marked attempt at restoring, which the next launch finds if this process dies in it.
///
/// Calls never block on the disk and may come from the main actor.
protocol RestorationAttempting: AnyObject, Sendable {
  /// Notes the node whose code runs from now on; nil for code outside any node.
  ///
  /// After ``end()`` it marks the state once more: for objects that turn up later.
  func note(node: UInt32?)
  /// Nothing of the program runs with the state any more: a death from now on is none of its.
  ///
  /// Earlier deaths at this generation are forgotten, until restoring goes on: then they count again.
  func end()
  /// The program ends in order: this is no death, and none is forgotten.
  func pause()
}

/// How earlier attempts at restoring one generation have ended.
struct AttemptHistory: Sendable, Hashable {
  /// Deaths of the process since an attempt last ended well; a restart of the machine counts from the second on.
  var deaths = 0
  /// The node whose code was running at the last death; nil when none was.
  var node: UInt32?
  /// Whether the last attempt on request died.
  var requestDied = false
}

/// An opened generation: its content and its facts.
struct StoredState: Sendable {
  /// Number of the generation.
  var generation: Generation
  /// How sure it is that this was saved last.
  var standing = ArchiveStanding.current
  /// Length of the base in bytes.
  var byteCount: Int
  /// The changes appended since, oldest first.
  var frames: [Data] = []
  /// Bytes after the last whole change that could not be used.
  var tailDropped = 0
  /// The store's own handle.
  var handle: (any Sendable)?
  /// Reads part of the base.
  var read: @Sendable (Range<Int>) throws -> Data
}
