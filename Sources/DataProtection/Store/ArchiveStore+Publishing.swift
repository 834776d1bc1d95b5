import FileSystem
package import FoundationShim
import Synchronization

extension ArchiveStore {
  /// Writes a whole generation and makes it the newest, in one step with what becomes of others.
  ///
  /// Until its receipt says `.durable`, the state before it is there, too. If it throws, nothing has changed.
  @discardableResult
  package func publish(
    _ plaintext: Data, _ succession: ArchiveSuccession = ArchiveSuccession()
  ) throws(ProtectionError) -> PublishReceipt {
    try writing { state throws(ProtectionError) in
      try requireSlot(&state)
      let old = try ledgerToContinue(&state)
      let verification = try verify(old, &state, succession)
      let written = try writeGeneration(plaintext, as: protection, orOneWay: keepsState, over: old, &state) { record in
        var next = old.succeeded(by: record, succession, verification)
        if !record.flags.contains(.oneWay) { next.removed += next.ledger.forgetOtherClasses() }
        return next
      }
      state.ownPending = nil
      state.base = written.base
      return written.receipt
    }
  }

  /// Saves the nodes touched while locked, sealed one-way, in the place of what this run has saved so before.
  @discardableResult
  package func publishPending(_ touchedNodes: Data) throws(ProtectionError) -> PublishReceipt {
    try writing { state throws(ProtectionError) in
      try requireSlot(&state)
      let old = try ledgerToContinue(&state)
      let others = old.pending.filter { $0.generation != state.ownPending }
      guard others.count < Ledger.pendingLimit else {
        throw ProtectionError(
          .locked, "\(others.count) saves wait for the device to be unlocked, and no more are taken; unlock it.")
      }
      if state.isReopened { try rewriteFrames(&state) }
      let written = try writeGeneration(
        touchedNodes, as: .completeUnlessOpen, [.oneWay, .partial], over: old, &state
      ) { record in
        var next = Ledger.Successor(ledger: old)
        next.ledger.pending = others + [record]
        return next
      }
      let number = written.base.record.generation
      state.ownPending = number
      ownPending.withLock { $0 = (number, old.epoch) }
      return written.receipt
    }
  }

  /// Has what this run has saved while locked stay: the next such save takes the place of none.
  package func keepPending() {
    state.withLock { $0?.ownPending = nil }
    ownPending.withLock { $0 = nil }
  }

  // MARK: Before

  /// Makes the slot again if it was removed, or any directory above it.
  ///
  /// Throws `.otherDevice` once the device was erased.
  func requireSlot(_ state: inout ArchiveStoreState) throws(ProtectionError) {
    if try store.isNamed(state.slot, name) { return }
    letGo()
    // Its lock ends here, or this writer would find itself.
    state.reading.slot = nil
    state.base = nil
    state = try take(.zero)
    state.isRemade = true
  }

  /// Whether a save lies where nobody looks for it: somebody has taken the directory away, or one above it.
  ///
  /// An error while looking is no answer.
  func isAstray(_ state: ArchiveStoreState) -> Bool { (try? store.isNamed(state.slot, name)) == false }

  /// The ledger that a save goes on from; made anew from the files when it is lost.
  func ledgerToContinue(_ state: inout ArchiveStoreState) throws(ProtectionError) -> Ledger {
    if let ledger = state.reading.ledger.value { return ledger }
    if let problem = state.reading.ledger.problem, problem.code == .unsupportedVersion { throw problem }
    if let problem = state.reading.list?.problem, problem.code == .unsupportedVersion { throw problem }
    // A deletion whose slot could not be taken off the list has used its epoch up.
    var epoch = randomBytes(Ledger.epochByteCount)
    if let entry = state.reading.entry, try !store.isDeleted(name, entry) { epoch = entry.epoch }
    return try state.reading.claimedLedger(epoch: epoch, as: keepsState ? nil : protection)
  }

  /// Reads the newest generation to its last byte, once a run, before it becomes the one to fall back to.
  private func verify(
    _ ledger: Ledger, _ state: inout ArchiveStoreState, _ succession: ArchiveSuccession
  ) throws(ProtectionError) -> Verification {
    guard let current = ledger.current, !succession.retiring.contains(where: { $0.rawValue == current.generation })
    else { return .whole }
    // A state that a power cut may take is no fallback; nor is a state that this run has saved while locked.
    if state.isUnknown { return .passing }
    if current.flags.contains(.oneWay), state.verified.contains(current.generation) { return .passing }
    if state.verified.contains(current.generation) || state.base?.reading?.isSet == true { return .whole }
    do throws(ProtectionError) {
      try state.reading.open(current, as: expected(current)).content.readThrough()
      state.verified.insert(current.generation)
      return .whole
    } catch {
      switch error.code {
      case .locked: return .locked
      case .missing: return .passing
      case _ where error.code.isDamage || error.code == .unsupportedVersion: return .damaged
      default: throw error
      }
    }
  }

  // MARK: Writing

  /// Seals a generation and its frames, writes them, and commits the ledger that a body makes with its record.
  func writeGeneration(
    _ plaintext: Data, appending frames: [Data] = [], as wanted: ProtectionClass,
    _ wantedFlags: Ledger.Record.Flags = [],
    orOneWay sealsOneWay: Bool = false, over old: Ledger, _ state: inout ArchiveStoreState,
    _ makeLedger: (Ledger.Record) -> Ledger.Successor
  ) throws(ProtectionError) -> (receipt: PublishReceipt, base: ArchiveStoreState.Base) {
    let sealed = try sealGeneration(
      plaintext, appending: frames, as: wanted, wantedFlags, orOneWay: sealsOneWay, over: old)
    return try writeGeneration(sealed, over: old, &state, makeLedger)
  }

  /// Seals a generation and its frames, so that the plaintext need not wait for the disk.
  func sealGeneration(
    _ plaintext: Data, appending frames: [Data] = [], as wanted: ProtectionClass,
    _ wantedFlags: Ledger.Record.Flags = [],
    orOneWay sealsOneWay: Bool = false, over old: Ledger
  ) throws(ProtectionError) -> SealedGeneration {
    guard old.counter < Ledger.counterLimit else {
      throw ProtectionError(.io, "The numbers of this archive's generations are used up; delete it to begin anew.")
    }
    let number = old.counter + 1
    var (flags, protection) = (wantedFlags, wanted)
    func seal() throws(ProtectionError) -> SealedBytes {
      try store.sealer.seal(
        plaintext,
        SealedFields(
          kind: .archive, protection: protection, identity: identity, generation: number,
          flags: SealedFields.Flags(rawValue: UInt16(flags.rawValue))))
    }
    let sealed: SealedBytes
    do throws(ProtectionError) {
      sealed = try seal()
    } catch  where error.code == .locked && sealsOneWay {
      flags = .oneWay
      protection = .completeUnlessOpen
      sealed = try seal()
    }
    var bytes = sealed.bytes
    var scan = FrameScan(behind: bytes.count, commitment: sealed.commitment)
    let room = sealed.frameRoom
    for (index, frame) in frames.enumerated() {
      let (message, commitment) = try sealed.frames.seal(frame, number: UInt64(index + 1), previous: scan.commitment)
      bytes += FrameScan.bytes(of: message)
      (scan.end, scan.commitment) = (bytes.count, commitment)
    }
    precondition(
      bytes.count <= room.upperBound && frames.count <= sealed.frameLimit,
      "The same frames fitted behind the same base.")
    let record = Ledger.Record(
      generation: number, commitment: sealed.commitment, protection: protection, flags: flags,
      byteCount: UInt64(bytes.count))
    return SealedGeneration(
      record: record, bytes: bytes, frames: sealed.frames, room: room, frameLimit: sealed.frameLimit,
      frameCount: frames.count, scan: scan)
  }

  /// Writes a sealed generation, and commits the ledger that a body makes with its record.
  func writeGeneration(
    _ sealed: SealedGeneration, over old: Ledger, _ state: inout ArchiveStoreState,
    _ makeLedger: (Ledger.Record) -> Ledger.Successor
  ) throws(ProtectionError) -> (receipt: PublishReceipt, base: ArchiveStoreState.Base) {
    var next = makeLedger(sealed.record)
    next.ledger.counter = sealed.record.generation
    let written = try write(sealed.record, sealed.bytes, next, over: old, &state)
    state.verified.insert(sealed.record.generation)
    let base = ArchiveStoreState.Base(
      record: sealed.record, file: written.file, frames: sealed.frames, room: sealed.room,
      frameLimit: sealed.frameLimit, frameCount: sealed.frameCount, end: sealed.scan.end,
      commitment: sealed.scan.commitment,
      allocated: sealed.bytes.count,
      isAppendable: written.receipt.durability == .durable && sealed.record.flags.isEmpty)
    return (written.receipt, base)
  }

  /// Writes a generation's file, synced, and commits the ledger that names it.
  private func write(
    _ record: Ledger.Record, _ bytes: Data, _ next: Ledger.Successor, over old: Ledger,
    _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> (receipt: PublishReceipt, file: StoreFile) {
    let isFirst = try listFirst(old, &state)
    let descriptor = try state.slot.make(record.file)
    let file = StoreFile(store.fileSystem, descriptor, byteCount: bytes.count, isWritable: true)
    let slot = state.slot
    do throws(ProtectionError) {
      // It has its name before it is synced: some file systems forget a file that gets its name after that.
      try attempt("write an archive") { () throws(FileSystemError) in
        try unsafe store.fileSystem.writeAll(descriptor, bytes.span.bytes, at: 0)
        try store.fileSystem.synchronize(descriptor)
        // If the ledger's name survived a power cut and this one didn't, everything that the last durable ledger vouched for has
        // to be in the new one. Where it may not be, or nobody goes on from an older generation, the names have to be durable first.
        if !keepsState || state.isReopened || !next.ledger.vouchesForAll(of: old) {
          try store.fileSystem.synchronize(slot.descriptor)
        }
      }
      let ledgerBytes = try commit(next.ledger, &state)
      var receipt = PublishReceipt(
        generation: Generation(rawValue: record.generation), bytesWritten: bytes.count + ledgerBytes,
        durability: synchronize(isFirst: isFirst, &state))
      receipt.isSealedOneWay = record.flags.contains(.oneWay)
      receipt.isRemade = state.isRemade
      state.isRemade = false
      receipt.setAside = next.setAside
      receipt.removed = next.removed
      if receipt.durability == .durable, !prune(old, next.ledger, &state) {
        receipt.durability = .unknown
        (state.isUnknown, state.isReopened) = (true, true)
      }
      return (receipt, file)
    } catch {
      state.needsSweep = true
      // Another writer may have made one of the same name.
      let named = try? store.fileSystem.status(ofName: record.file.text, in: slot.descriptor)
      if let named, named.identity == (try? file.identity()) { slot.remove(record.file) }
      throw error
    }
  }

  /// Writes the slot's ledger and makes it the one that counts; returns its length.
  ///
  /// Its name is not durable yet.
  func commit(_ ledger: Ledger, _ state: inout ArchiveStoreState) throws(ProtectionError) -> Int {
    var ledger = ledger
    ledger.keybagRevision = max(ledger.keybagRevision, store.keys.keybagRevision)
    if isListed, ledger.sealedName.isEmpty, let slot { ledger.sealedName = try store.sealedName(of: slot, identity) }
    let bytes = try ledger.encoded(keys: store.keys)
    try replaceFile(
      SlotFile.ledger.text, by: SlotFile.newLedger.text, in: state.slot.descriptor, with: bytes, store.fileSystem)
    state.reading.ledger = .valid(ledger)
    return bytes.count
  }

  /// Makes the names in the slot durable, once: after a failed sync another one proves nothing.
  ///
  /// Nothing is acknowledged while the list calls the slot new: if the slot's directory was lost later, nobody would miss it.
  func synchronize(isFirst: Bool, _ state: inout ArchiveStoreState) -> Durability {
    do {
      try uninterrupted { () throws(FileSystemError) in try store.fileSystem.synchronize(state.slot.descriptor) }
      if isFirst { for directory in [store.directory, store.parent] { try synchronizeAnew(directory) } }
      if let entry = state.reading.entry, entry.isNew {
        try changeEntry(&state, SlotList.Entry(epoch: entry.epoch, isNew: false))
      }
      if isAstray(state) { throw ProtectionError.erased }
    } catch {
      state.isUnknown = true
      state.needsSweep = true
      state.isReopened = true
      return .unknown
    }
    state.isUnknown = false
    state.isReopened = false
    return .durable
  }

  /// Makes the names in a directory durable, also those that an earlier sync which failed has left marked as written: the
  /// directory changes before the sync, or there is none.
  func synchronizeAnew(_ directory: Descriptor) throws(ProtectionError) {
    let name = "\(self.name.text).new"
    try attempt("make a name durable") { () throws(FileSystemError) in
      try touchFile(name, in: directory, store.fileSystem)
      try? store.fileSystem.unlink(name, in: directory)
      try store.fileSystem.synchronize(directory)
    }
  }

  /// Removes the files that no ledger names any more; a later save repeats a removal that fails.
  ///
  /// - Returns: Whether nothing comes back with a power cut that a weaker class protects than the new generation's.
  private func prune(_ old: Ledger, _ new: Ledger, _ state: inout ArchiveStoreState) -> Bool {
    let named = Set(new.records.map(\.file))
    var gone = Set(old.records.map(\.file)).subtracting(named)
    if state.needsSweep, let found = try? state.slot.files() {
      gone.formUnion(
        found.filter { file in
          switch file {
          case .generation, .pending, .newLedger: !named.contains(file)
          case .ledger, .marker, .unnamed: false
          }
        })
      state.needsSweep = false
    }
    for file in gone where !state.slot.remove(file) { state.needsSweep = true }
    guard let was = old.current, new.record(of: was.generation) == nil else { return true }
    // A state under another class or an older key must not come back with a power cut.
    let isDurable =
      (try? uninterrupted { () throws(FileSystemError) in
        try store.fileSystem.synchronize(state.slot.descriptor)
      }) != nil
    guard let protection = new.current?.protection,
      old.records.contains(where: { gone.contains($0.file) && $0.protection.isWeaker(than: protection) })
    else { return true }
    if !isDurable { state.needsSweep = true }
    return isDurable && !state.needsSweep
  }

  // MARK: The list

  /// Puts the slot on the list before its first generation; says whether this is its first save.
  func listFirst(_ ledger: Ledger, _ state: inout ArchiveStoreState) throws(ProtectionError) -> Bool {
    let isNew = state.reading.ledger.value == nil
    guard isListed else { return isNew || state.isUnknown }
    // Somebody may have removed the list since it was read.
    if let entry = state.reading.entry, entry.epoch == ledger.epoch, try store.hasList() {
      if entry.isNew {
        // The run that listed it may have ended before that was durable.
        try synchronizeAnew(store.parent)
      }
      return isNew || entry.isNew || state.isUnknown
    }
    try changeEntry(&state, SlotList.Entry(epoch: ledger.epoch, isNew: isNew && ledger.records.isEmpty))
    return true
  }

  private func changeEntry(_ state: inout ArchiveStoreState, _ entry: SlotList.Entry) throws(ProtectionError) {
    let name = name
    state.reading.list = .valid(try store.changeList { $0.entries[name] = entry })
  }
}

/// A generation that is ready to be written.
struct SealedGeneration {
  let record: Ledger.Record
  /// The whole file, frames included.
  let bytes: Data
  let frames: any FrameSealing
  /// Where its frames may lie.
  let room: Range<Int>
  let frameLimit: Int
  let frameCount: Int
  let scan: FrameScan
}
