internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

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

  /// The classes that have no key now.
  var lockedClasses: Set<ProtectionClass> { get }

  /// Opens one of the generations, with the changes appended to it.
  ///
  /// Throws `notFound` only for a slot that this device never had, or that was deleted; `locked` while the keys are away.
  /// Asked for the newest, it opens the one before when the newest can't be read, and says so in the standing.
  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState
  /// Opens what stands in for a part that opened well and is damaged inside: the file of its place in the generation before, or
  /// none, as the part then says.
  func openStandIn(
    for file: PartFile, because code: ProtectionError.Code
  ) throws(ProtectionError) -> StoredState.Part
  /// Opens the pending generations, saved while locked, oldest first; touches no file when there are none.
  ///
  /// Those of partly locked runs that can't be read now are left where they are; any other throws `locked`.
  func openPending() throws(ProtectionError) -> PendingArchives
  /// The numbers of the newest generation, the one before and the pending ones; opens none, works while locked.
  func generations() throws(ProtectionError) -> [Generation]
  /// The generations that are set aside, oldest first; opens none, works while locked.
  func setAsideRecords() throws(ProtectionError) -> [Ledger.Record]

  // MARK: Saving

  /// Writes a whole new generation and makes it the newest, in one step with what becomes of others.
  ///
  /// A part whose class has no key is sealed one-way, and can be read after the unlock. The newest until then becomes the
  /// one before, unless it is retired or damaged; damaged ones are set aside. If it throws, everything is as it was.
  ///
  /// - Parameters:
  ///   - parts: All parts that it has.
  ///   - succession: What it takes the place of.
  ///   - droppingWeakerThan: A class to which something has come from a weaker one: older generations that have a file of a weaker
  ///     class go durably before this one is acknowledged.
  func publish(
    _ parts: [PublishedPart], _ succession: ArchiveSuccession, droppingWeakerThan: ProtectionClass?
  ) throws(ProtectionError) -> PublishReceipt
  /// Appends a change of one part to the newest generation; nil when a whole one is due instead, and nothing was written.
  ///
  /// A whole one is due when the changes have grown to a quarter of the base or 256, when a sync failed, when the class or
  /// the keys have changed, when `generation` is not the newest, or when this writer neither opened nor published it.
  func append(
    _ change: Data, to generation: Generation, part: RestorationArchive.Part, as protection: ProtectionClass
  ) throws(ProtectionError) -> PublishReceipt?
  /// Saves the nodes touched while locked, sealed one-way, beside the stored state.
  ///
  /// - Parameter isBeside: Whether only some classes have no key: a locked launch does not wait for it.
  /// It takes the place of what this run has saved so before, never of what other runs have. At most 64 wait for an unlock.
  func publishPending(_ touchedNodes: Data, isBeside: Bool) throws(ProtectionError) -> PublishReceipt
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

/// An opened generation: its parts and its facts.
struct StoredState: Sendable {
  /// Number of the generation.
  var generation: Generation
  /// How sure it is that this was saved last.
  var standing = ArchiveStanding.current
  /// Its parts, by their places; the first can be read.
  var parts: [Part]
  /// The store's own handle.
  var handle: (any Sendable)?

  /// One part: the state of one class of protection.
  struct Part: Sendable {
    var part = RestorationArchive.Part.first
    var protection: ProtectionClass
    /// Its file, which a later generation can have again; nil where that can't be used.
    var file: PartFile?
    /// Whether it was sealed one-way, as its class, another than that of the file, had no key.
    var isSealedOneWay = false
    /// Why its file can't be used, and there is no older one in its place; nil when it can.
    var damage: ProtectionError.Code?
    /// Nil while the class has no key, and for a damaged one.
    var content: Content?
    /// Why an older file stands in for the part's; nil when none does.
    var fallback: ProtectionError.Code?
  }

  /// What a part holds.
  struct Content: Sendable {
    /// Length of the base in bytes.
    var byteCount: Int
    /// The changes appended since, oldest first.
    var frames: [Data] = []
    /// Bytes after the last whole change that could not be used.
    var tailDropped = 0
    /// Reads part of the base.
    var read: @Sendable (Range<Int>) throws -> Data
  }

  /// What can be read.
  private var contents: [Content] { parts.compactMap(\.content) }
  /// The bytes of all bases that can be read.
  var byteCount: Int { contents.reduce(0) { $0 + $1.byteCount } }
  /// The number of changes since.
  var changeCount: Int { contents.reduce(0) { $0 + $1.frames.count } }
  /// Bytes after the last whole changes that could not be used.
  var tailDropped: Int { contents.reduce(0) { $0 + $1.tailDropped } }
  /// The classes that have no key now.
  var lockedClasses: Set<ProtectionClass> {
    Set(parts.lazy.filter { $0.content == nil && $0.damage == nil }.map(\.protection))
  }
}

/// What a new generation has of one part.
struct PublishedPart: Sendable {
  var part: RestorationArchive.Part
  var protection: ProtectionClass
  var content: Content

  /// What it holds.
  enum Content: Sendable {
    /// This archive.
    case new(Data)
    /// What a file of an earlier generation holds, with the changes behind it.
    case unchanged(PartFile)
  }
}
