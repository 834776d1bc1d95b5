/// What the writer of a slot knows; kept for as long as it has the slot.
struct ArchiveStoreState {
  /// A file of the newest generation that this run goes on from, and appends to.
  struct Base {
    /// As the ledger has it.
    var part: Ledger.Part
    let file: StoreFile
    let frames: any FrameSealing
    /// Where its frames begin, and where there is no more room for any.
    let room: Range<Int>
    /// How many it may have.
    let frameLimit: Int
    /// How many frames it has.
    var frameCount: Int
    /// Where the next one goes.
    var end: Int
    /// What the last one commits to.
    var commitment: [UInt8]
    /// How much of the file has its space already.
    var allocated: Int
    /// Whether another frame may follow.
    var isAppendable: Bool
    /// Whether its content was read to the last byte; nil for one that this run has written.
    var reading: ReadMark?
    /// Whether this run has tried to write a frame, and the disk may not have it, or a piece of it.
    var isSuspect = false
  }

  /// The slot as it was found when it was taken; its ledger is what the disk has now.
  var reading: SlotReading
  /// What this run knows of the newest generation's parts, in no order.
  private(set) var bases: [Base] = []
  /// Whether what an earlier run has left may not be durable yet: nothing may be acknowledged on top of it.
  var isReopened = true
  /// Whether the last ledger may not survive a power cut.
  var isUnknown = false
  /// Whether files may be there that no ledger names.
  var needsSweep = true
  /// Whether files may be there that hold something under a weaker class than it has now: nothing may be acknowledged on top of
  /// them.
  var owesRemoval = false
  /// Whether somebody has removed the slot's directory, or one above it, and it was made again.
  var isRemade = false
  /// Files that this run has sealed itself or read to the last byte, by their numbers.
  var verified: Set<UInt64> = []
  /// Files that can't be used, though they open well.
  var faulty: Set<UInt64> = []
  /// What this run has saved while locked, as long as it is in no generation.
  var ownPending: UInt64?
  /// What the crash marker said before this run's last attempt; nil when it was not read yet.
  var marker: CrashMarker?
  /// The marker's file, once this run has written it.
  var markerFile: StoreFile?
  /// The attempt that this run has begun last.
  var attempt: RestorationAttempt?

  /// The slot's directory.
  var slot: SlotDirectory { reading.slot! }

  /// What this run goes on from at a place.
  subscript(base place: PartPlace) -> Base? {
    get { bases.first { $0.part.place == place } }
    set {
      bases.removeAll { $0.part.place == place }
      if let newValue { bases.append(newValue) }
    }
  }

  /// Forgets what it goes on from.
  mutating func forgetBases() { bases = [] }

  /// Has nothing be appended to what it goes on from.
  mutating func closeBases() {
    for index in bases.indices { bases[index].isAppendable = false }
  }
}
