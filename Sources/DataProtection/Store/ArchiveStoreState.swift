import FoundationEssentials

/// What one archive store knows of its slot in this run.
struct ArchiveStoreState {
  /// The generation that this run has read or written, and can append to.
  struct Base {
    /// As the ledger has it, or would.
    var record: Ledger.Record
    /// The archive's own identifier, which its journals bind.
    var identifier: [UInt8]
    /// The length of its content.
    var byteCount: Int
    /// Its journals, oldest first.
    var ends: [JournalEnd] = []
    /// The bytes of its journals.
    var journalByteCount = 0
    /// Whether a journal may follow: the base is current, and its journals end cleanly.
    var isAppendable = true
  }

  /// The class of what is written next.
  var protection: ProtectionClass
  /// Whether what is read may have another class than was asked for, and its class is then the one to go on with.
  var followsRecordedProtection = false
  /// The generation that was opened or published last.
  var base: Base?
  /// Whether this run looked and found that nothing is saved.
  var foundNothing = false
  /// Whether a whole generation must come next, because its capture has begun.
  var isFrozen = false
  /// The journal that this run writes.
  var writer: JournalWriter?
  /// Generations that this run has sealed itself or read to the last byte.
  var verified: Set<UInt64> = []
  /// Names this run among those that save while locked, 16 random bytes.
  let run: [UInt8]
  /// What this run has saved while locked, as long as it is in no generation.
  var ownPending: OwnPending?
  /// The tip when this run last looked at the directory.
  var knownTip: UInt64 = 0

  /// The attempt at restoring that this run has begun: it follows what is saved.
  weak var attempt: RestorationAttempt?
  /// What that, and those before it in this run, began with.
  let begun = BegunAttempts()

  /// Has an attempt, and what it has counted, be about what was saved in the archive's place; about a change of it if there is
  /// no new commitment.
  func follow(_ commitment: [UInt8]? = nil) {
    attempt?.follow(commitment)
    begun.follow(commitment)
  }

  /// Takes a generation as the one to go on from.
  mutating func adopt(_ base: Base?) {
    self.base = base
    foundNothing = false
    writer = nil
    isFrozen = false
  }
}

/// A journal that this run has made and appends to.
struct JournalWriter {
  let file: StoreFile
  let sealer: any JournalSealing
  /// Where its acknowledged frames end.
  var end: JournalEnd
  /// Where each frame begins.
  var offsets: [Int]
  /// How much of the file has its space already.
  var allocated: Int

  /// What a frame's `skip` field holds: the offset of the frame that its number leads to, or 0.
  func skip(of number: UInt64) -> Int {
    let target = JournalFrames.skipTarget(ofNumberFromOne: number + 1)
    return target == 0 ? 0 : offsets[Int(target) - 1]
  }
}
