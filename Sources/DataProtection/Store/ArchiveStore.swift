import FileSystem
import Synchronization

/// The generations of one thing that a program saves, on a protected device.
///
/// It has one writer at a time: ``open(waiting:)``, or the first save, takes the slot, until ``close()`` or the end of the
/// process. Other stores can look. Every call blocks on the disk and may come from any thread; calls of one store
/// run one after the other.
package final class ArchiveStore: Sendable {
  let store: StoreDirectory
  /// What names the slot under the device's keys: another one once the device was made again.
  var identity: [UInt8] { hash.withLock { $0 } }
  private let hash: Mutex<[UInt8]>
  /// The slot; nil for one that is known by its hash alone.
  let slot: ArchiveSlot?
  let isListed: Bool
  /// What makes the directories again where somebody has removed them: who saves needs nothing but the store.
  private let device: (any AnyObject & Sendable)?
  let turn = Turn()
  /// Nil as long as this store has not taken the slot.
  let state = Mutex<ArchiveStoreState?>(nil)
  /// The class that new generations get.
  package let protection: ProtectionClass
  private let isForState = Mutex(false)
  /// Where ``rest()`` stopped.
  let rested = Mutex<ArchiveStoreState.Base?>(nil)
  /// What this store has saved while locked last, and in which life of the slot.
  let ownPending = Mutex<(generation: UInt64, epoch: [UInt8])?>(nil)

  init(
    _ store: StoreDirectory, slot: ArchiveSlot? = nil, identity: [UInt8], protection: ProtectionClass, isListed: Bool,
    of device: (any AnyObject & Sendable)? = nil
  ) {
    self.store = store
    self.device = device
    self.slot = slot
    hash = Mutex(identity)
    self.isListed = isListed
    self.protection = protection
  }

  /// Any slot by the name of its directory, for deleting it, or sealing it anew by what its ledger says.
  convenience init(_ store: StoreDirectory, name: SlotName) {
    self.init(store, identity: name.bytes + name.bytes, protection: .complete, isListed: false)
  }

  var name: SlotName { SlotName(identity: identity) }

  /// Whether archives of another class are read, and saves without a key are sealed one-way; see ``keepState()``.
  var keepsState: Bool { isForState.withLock { $0 } }

  /// Reads archives of any class, and saves while locked: for state that a program goes on with.
  package func keepState() { isForState.withLock { $0 = true } }

  // MARK: The slot

  /// Takes the slot for this writer; nothing happens if it has it.
  ///
  /// Nothing is synced. Throws `.inUse` when another process, or another store of this one, has it and doesn't let go within
  /// the patience.
  package func open(waiting patience: Duration = .zero) throws(ProtectionError) {
    try turn.take { () throws(ProtectionError) in
      guard state.withLock({ $0 == nil }) else { return }
      _ = try take(patience)
    }
  }

  /// Lets the slot go.
  package func close() {
    turn.take { letGo() }
  }

  /// Whether another store is of the same slot of the same device.
  package func isOfSameSlot(as other: ArchiveStore) -> Bool { identity == other.identity }

  /// Whether this store has the slot.
  package var isOpen: Bool { state.withLock { $0 != nil } }

  func take(_ patience: Duration) throws(ProtectionError) -> ArchiveStoreState {
    let slot = try openForWriting(waiting: patience)
    let reading = try SlotReading(store, identity: identity, slot: slot, isListed: isListed)
    var taken = ArchiveStoreState(reading: reading)
    // Who lets the slot go between two saves still replaces its own.
    if let own = ownPending.withLock({ $0 }), own.epoch == reading.ledger.value?.epoch {
      taken.ownPending = own.generation
    }
    state.withLock { $0 = taken }
    store.note(self, as: name)
    return taken
  }

  /// Opens the slot's directory for this writer, by the name that it has now.
  func openForWriting(waiting patience: Duration) throws(ProtectionError) -> SlotDirectory {
    try store.openForWriting(waiting: patience) { () throws(ProtectionError) in
      if let slot {
        let now = try store.identity(of: slot)
        hash.withLock { $0 = now }
      }
      return name
    }
  }

  func letGo() {
    state.withLock { $0 = nil }
    if store.writer(of: name) === self { store.note(nil, as: name) }
  }

  /// Runs the body as the slot's writer, which takes it first if it has to.
  func writing<R>(_ body: (inout ArchiveStoreState) throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    try turn.take { () throws(ProtectionError) in
      var known: ArchiveStoreState
      if let taken = state.withLock({ $0 }) { known = taken } else { known = try take(.zero) }
      defer { state.withLock { if $0 != nil { $0 = known } } }
      return try body(&known)
    }
  }

  /// The slot's files: the writer's knowledge, or a look at the disk that keeps nobody from writing.
  func looking<R>(_ body: (SlotReading) throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    if let taken = state.withLock({ $0 }) {
      return try named(taken) { () throws(ProtectionError) in try body(taken.reading) }
    }
    var reading = try look()
    for _ in 0..<Self.lookLimit {
      do throws(ProtectionError) {
        return try body(reading)
      } catch  where error.code.isDamage || error.code == .notFound {
        // The writer may have gone on meanwhile, and deleted what this look was about to open.
        let again = try look()
        guard again.ledger.value != reading.ledger.value else { throw error }
        reading = again
      }
    }
    return try body(reading)
  }

  /// So often a look begins anew because the writer has gone on.
  private static let lookLimit = 64

  /// Turns the error of an absent archive into that of an erased device, if it was erased.
  func named<R>(
    _ state: ArchiveStoreState, _ body: () throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    do throws(ProtectionError) {
      return try body()
    } catch  where error.code.isDamage {
      guard try store.isNamed(state.slot, name) else { throw .erased }
      throw error
    }
  }

  private func look() throws(ProtectionError) -> SlotReading {
    try SlotReading(store, identity: identity, slot: try store.look(at: name), isListed: isListed)
  }

  // MARK: Reading

  /// Opens the newest generation, or the one before it when that can't be read, as its standing says.
  ///
  /// Throws `.notFound` only when this device never had the slot, or has deleted it.
  package func openNewest() throws(ProtectionError) -> OpenedArchive {
    guard isOpen else { return try looking { reading throws(ProtectionError) in try openNewest(reading) } }
    return try writing { state throws(ProtectionError) in
      let taken = state
      let opened = try named(taken) { () throws(ProtectionError) in try openNewest(taken.reading, forWriting: true) }
      adopt(opened, &state)
      return opened
    }
  }

  /// Opens the generation before the newest.
  package func openPredecessor() throws(ProtectionError) -> OpenedArchive {
    try looking { reading throws(ProtectionError) in
      guard let record = reading.ledger.value?.predecessor else {
        throw ProtectionError(.notFound, "There is no generation before the newest.")
      }
      return try reading.open(
        record.root, as: expected(record.root), of: record.generation, standing: .olderGeneration(because: nil))
    }
  }

  /// Opens a generation that is set aside.
  package func openSetAside(_ generation: Generation) throws(ProtectionError) -> OpenedArchive {
    try looking { reading throws(ProtectionError) in
      guard let record = reading.ledger.value?.setAside.first(where: { $0.generation == generation.rawValue }) else {
        throw ProtectionError(.notFound, "There is no generation \(generation) aside.")
      }
      return try reading.open(
        record.root, as: record.protection, of: record.generation, standing: .olderGeneration(because: nil))
    }
  }

  /// The numbers of the newest generation, the one before and the pending ones; opens none, works while locked.
  package func generations() throws(ProtectionError) -> [Generation] {
    try looking { reading throws(ProtectionError) in
      guard let ledger = reading.ledger.value else { return [] }
      let records = [ledger.current, ledger.predecessor].compactMap(\.self) + ledger.pending
      return records.map { Generation(rawValue: $0.generation) }
    }
  }

  /// The generations that are set aside, oldest first; opens none.
  package func setAsideRecords() throws(ProtectionError) -> [Ledger.Record] {
    try looking { reading throws(ProtectionError) in reading.ledger.value?.setAside ?? [] }
  }

  /// The facts about the newest generation that need no key, and when its file last changed; nil when nothing is saved.
  ///
  /// The length is that of the plaintext; nothing authenticates it.
  func attributes() throws(ProtectionError) -> (record: Ledger.Record, byteCount: Int, modified: Double)? {
    try looking { reading throws(ProtectionError) in
      guard let slot = reading.slot, let record = reading.ledger.value?.current else { return nil }
      let status = try attempt("look at an archive") { () throws(FileSystemError) in
        try slot.fileSystem.statusIfAny(ofName: record.root.file.text, in: slot.descriptor)
      }
      guard let status else { return nil }
      return (record, try plaintextByteCount(of: record.root, status, in: slot), status.modificationTime)
    }
  }

  /// The class that a file has to be opened as.
  func expected(_ part: Ledger.Part) -> ProtectionClass {
    keepsState || part.flags.contains(.oneWay) ? part.protection : protection
  }

  func openNewest(_ reading: SlotReading, forWriting: Bool = false) throws(ProtectionError) -> OpenedArchive {
    guard let ledger = reading.ledger.value else {
      return try reading.openUnverified(as: keepsState ? nil : protection, forWriting: forWriting)
    }
    guard let current = ledger.current else { throw .nothingSaved }
    do throws(ProtectionError) {
      return try reading.open(
        current.root, as: expected(current.root), of: current.generation,
        standing: reading.isUnlisted ? .rollbackUnverifiable : .current, forWriting: forWriting)
    } catch  where error.code.isDamage && error.code != .wrongClass {
      guard let predecessor = ledger.predecessor else { throw error }
      do throws(ProtectionError) {
        return try reading.open(
          predecessor.root, as: expected(predecessor.root), of: predecessor.generation,
          standing: .olderGeneration(because: error.code))
      } catch let second where !second.code.isDamage {
        throw second
      } catch {
        // The older one is damaged too: the newest's problem is said.
      }
      throw error
    }
  }

  /// Goes on from an opened file, if the newest generation that the ledger knows has it.
  func adopt(_ opened: OpenedArchive, _ state: inout ArchiveStoreState) {
    guard opened.standing == .current, let current = state.reading.ledger.value?.current,
      let part = current[opened.content.fields.place], part.commitment == opened.commitment,
      state[base: part.place]?.part.identity != part.identity
    else { return }
    state[base: part.place] = ArchiveStoreState.Base(
      part: part, file: opened.file, frames: opened.content.frames, room: opened.content.frameRoom,
      frameLimit: opened.content.frameLimit, frameCount: opened.frames.count, end: opened.scan.end,
      commitment: opened.scan.commitment,
      allocated: opened.file.byteCount,
      isAppendable: opened.tailDropped == 0 && opened.file.isWritable && opened.file.isOwn, reading: opened.readMark)
  }
}
