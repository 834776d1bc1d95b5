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
    try publish([PartToPublish(.root, .new(plaintext, as: protection))], succession)
  }

  /// Writes a whole generation of several parts and makes it the newest, in one step with what becomes of others.
  ///
  /// A part that is `.unchanged` is named again: its file is not written, and its class needs no key. A place that is not named is
  /// empty from then on. Until its receipt says `.durable`, the state before it is there, too. If it throws, nothing has changed.
  ///
  /// - Parameters:
  ///   - parts: The parts, each place once, and the root's among them.
  ///   - succession: What the generation takes the place of.
  ///   - weakest: The class that something has come under which lay under a weaker one: generations before this one that have a file
  ///     of a weaker class go, durably before the receipt says `.durable`. A generation of one part always does so, with its class.
  /// - Throws: `.superseded` for a part to be named again that no generation has any more, or whose last change may not be on the
  ///   disk: give it as a new one. Otherwise `.locked`, and what the disk says.
  @discardableResult
  package func publish(
    _ parts: [PartToPublish], _ succession: ArchiveSuccession = ArchiveSuccession(),
    droppingWeakerThan weakest: ProtectionClass? = nil
  ) throws(ProtectionError) -> PublishReceipt {
    let parts = parts.count > 1 ? parts.sorted { $0.place < $1.place } : parts
    precondition(parts.first?.place == .root, "A generation without the part at place 0 has no root.")
    precondition(
      zip(parts, parts.dropFirst()).allSatisfy { $0.place < $1.place }, "Two parts were given for one place.")
    return try writing { state throws(ProtectionError) in
      try requireSlot(&state)
      let old = try ledgerToContinue(&state)
      let unchanged = try findUnchanged(parts, in: old, state)
      let verification = try verify(old, unchanged, &state, succession)
      let new = try seal(parts, over: old)
      if state.isReopened { for part in unchanged { try rewriteFrames(of: part, &state) } }
      let receipt = try writeGeneration(new, unchanged, over: old, &state) { record in
        var next = old.succeeded(by: record, succession, verification)
        if record.parts.count == 1 {
          if !record.flags.contains(.oneWay) { next.removed += next.ledger.forgetOtherClasses() }
        } else if let weakest {
          next.removed += next.ledger.forget(weakerThan: weakest)
          next.weakest = weakest
        }
        return next
      }
      forgetOwnPending(&state)
      return receipt
    }
  }

  /// Finds the files that a new generation names again.
  private func findUnchanged(
    _ parts: [PartToPublish], in ledger: Ledger, _ state: ArchiveStoreState
  ) throws(ProtectionError) -> [Ledger.Part] {
    var found: [Ledger.Part] = []
    for part in parts {
      guard case .unchanged(let file) = part.content else { continue }
      guard var known = ledger.part(file)?.part else {
        throw ProtectionError(.superseded, "No generation has part \(part.place.rawValue) any more; save it anew.")
      }
      if let base = state[base: part.place], base.part.identity == file, base.isSuspect {
        throw ProtectionError(
          .superseded, "The last change of part \(part.place.rawValue) may not be on the disk; save that part anew.")
      }
      // Whether it is damaged is said of the generation that it was set aside with.
      known.flags.remove(.damaged)
      found.append(known)
    }
    return found
  }

  /// Seals the new parts of a generation, each under a number of its own.
  private func seal(_ parts: [PartToPublish], over old: Ledger) throws(ProtectionError) -> [SealedGenerationPart] {
    var sealed: [SealedGenerationPart] = []
    for part in parts {
      guard case .new(let plaintext, let protection) = part.content else { continue }
      sealed.append(
        try seal(
          plaintext, at: part.place, as: protection, orOneWay: keepsState,
          number: try old.number(after: sealed.count)))
    }
    return sealed
  }

  /// The next save while locked replaces no other one than what this run has saved so and is pending yet.
  private func forgetOwnPending(_ state: inout ArchiveStoreState) {
    let pending = state.reading.ledger.value?.pending ?? []
    guard let own = state.ownPending, !pending.contains(where: { $0.generation == own }) else { return }
    state.ownPending = nil
  }

  /// Saves the nodes touched while locked, sealed one-way, in the place of what this run has saved so before.
  @discardableResult
  package func publishPending(_ touchedNodes: Data) throws(ProtectionError) -> PublishReceipt {
    try publishPending(touchedNodes, isBeside: false)
  }

  /// Saves the nodes touched while locked, or those that could not be read, in the place of what this run has saved so before.
  ///
  /// - Parameter isBeside: Whether this run could read the rest of the state: then a launch does not wait for what it has saved.
  @discardableResult
  package func publishPending(
    _ touchedNodes: Data, isBeside: Bool
  ) throws(ProtectionError) -> PublishReceipt {
    try writing { state throws(ProtectionError) in
      try requireSlot(&state)
      let old = try ledgerToContinue(&state)
      let others = old.pending.filter { $0.generation != state.ownPending }
      guard others.count < Ledger.pendingLimit else {
        throw ProtectionError(
          .locked, "\(others.count) saves wait for the device to be unlocked, and no more are taken; unlock it.")
      }
      if state.isReopened { try rewriteFrames(&state) }
      let sealed = try seal(
        touchedNodes, at: .root, as: .completeUnlessOpen,
        isBeside ? [.oneWay, .partial, .beside] : [.oneWay, .partial],
        number: try old.number(after: 0))
      let receipt = try writeFiles([sealed], over: old, &state) { record in
        var next = Ledger.Successor(ledger: old)
        next.ledger.pending = others + [record]
        return next
      }.receipt
      let number = sealed.part.number
      state.ownPending = number
      ownPending.withLock { $0 = (number, old.epoch) }
      return receipt
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
    state.forgetBases()
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
  ///
  /// - Parameter unchanged: The files that the new generation names again. One that can't be vouched for is in both, so that nothing
  ///   would be gained by setting the newest aside; but the one before must stay, if it has another file in that place.
  private func verify(
    _ ledger: Ledger, _ unchanged: [Ledger.Part], _ state: inout ArchiveStoreState, _ succession: ArchiveSuccession
  ) throws(ProtectionError) -> Verification {
    guard let current = ledger.current, !succession.retiring.contains(where: { $0.rawValue == current.generation })
    else { return .whole }
    // A state that a power cut may take is no fallback; nor is a state that this run has saved while locked.
    if state.isUnknown { return .passing }
    if current.parts.contains(where: { $0.flags.contains(.oneWay) && state.verified.contains($0.number) }) {
      return .passing
    }
    var outcome = Verification.whole
    for part in current.parts {
      let isUnchanged = unchanged.contains { $0.identity == part.identity }
      let fallback = ledger.predecessor?[part.place]
      if isUnchanged, fallback == nil || fallback?.identity == part.identity { continue }
      let found = try verify(part, &state)
      outcome = max(outcome, found != .whole && isUnchanged ? .passing : found)
    }
    return outcome
  }

  private func verify(
    _ part: Ledger.Part, _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> Verification {
    if state.faulty.contains(part.number) { return .damaged }
    if state.verified.contains(part.number) || state[base: part.place]?.reading?.isSet == true { return .whole }
    do throws(ProtectionError) {
      try state.reading.open(part, as: expected(part)).content.readThrough()
      state.verified.insert(part.number)
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

  /// Seals a part of a generation and its frames, so that the plaintext need not wait for the disk.
  ///
  /// - Parameters:
  ///   - isOptional: Whether it is sealed one-way if the class has no key.
  ///   - number: The number that its file gets.
  func seal(
    _ plaintext: Data, appending frames: [Data] = [], at place: PartPlace, as wanted: ProtectionClass,
    _ wantedFlags: Ledger.Part.Flags = [], orOneWay sealsOneWay: Bool = false, number: UInt64
  ) throws(ProtectionError) -> SealedGenerationPart {
    var (flags, protection) = (wantedFlags, wanted)
    func seal() throws(ProtectionError) -> SealedBytes {
      try store.sealer.seal(
        plaintext,
        SealedFields(
          kind: .archive, protection: protection, identity: identity, generation: number, place: place,
          flags: SealedFields.Flags(flags)))
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
    let part = Ledger.Part(
      place: place, number: number, commitment: sealed.commitment, protection: protection, flags: flags,
      byteCount: UInt64(bytes.count))
    return SealedGenerationPart(
      part: part, bytes: bytes, frames: sealed.frames, room: room, frameLimit: sealed.frameLimit,
      frameCount: frames.count, scan: scan)
  }

  /// Writes the new files of a generation, commits the ledger that a body makes with its record, and goes on from it if it is the
  /// newest.
  ///
  /// - Parameter unchanged: The files that it names again.
  func writeGeneration(
    _ new: [SealedGenerationPart], _ unchanged: [Ledger.Part] = [], over old: Ledger, _ state: inout ArchiveStoreState,
    _ makeLedger: (Ledger.Record) -> Ledger.Successor
  ) throws(ProtectionError) -> PublishReceipt {
    let (receipt, files) = try writeFiles(new, unchanged, over: old, &state, makeLedger)
    guard state.reading.ledger.value?.current?.generation == receipt.generation.rawValue else { return receipt }
    let known = state.bases
    state.forgetBases()
    for part in unchanged { state[base: part.place] = known.first { $0.part.identity == part.identity } }
    for (sealed, file) in zip(new, files) {
      state[base: sealed.part.place] = ArchiveStoreState.Base(
        part: sealed.part, file: file, frames: sealed.frames, room: sealed.room,
        frameLimit: sealed.frameLimit, frameCount: sealed.frameCount, end: sealed.scan.end,
        commitment: sealed.scan.commitment,
        allocated: sealed.bytes.count,
        isAppendable: receipt.durability == .durable && sealed.part.flags.isEmpty)
    }
    return receipt
  }

  /// Writes the new files of a generation, synced, and commits the ledger that names them.
  private func writeFiles(
    _ new: [SealedGenerationPart], _ unchanged: [Ledger.Part] = [], over old: Ledger, _ state: inout ArchiveStoreState,
    _ makeLedger: (Ledger.Record) -> Ledger.Successor
  ) throws(ProtectionError) -> (receipt: PublishReceipt, files: [StoreFile]) {
    let parts = new.map(\.part) + unchanged
    let number = try old.number(after: max(new.count, 1) - 1)
    let record = Ledger.Record(
      generation: number, parts: parts.count > 1 ? parts.sorted { $0.place < $1.place } : parts)
    var next = makeLedger(record)
    next.ledger.counter = number
    next.ledger.owesRemoval =
      state.owesRemoval || state.isReopened && old.owesRemoval || next.leavesWeaker(old)
    let isFirst = try listFirst(old, &state)
    let slot = state.slot
    var files: [StoreFile] = []
    do throws(ProtectionError) {
      for sealed in new {
        let descriptor = try slot.make(sealed.part.file)
        files.append(StoreFile(store.fileSystem, descriptor, byteCount: sealed.bytes.count, isWritable: true))
        // It has its name before it is synced: some file systems forget a file that gets its name after that.
        try attempt("write an archive") { () throws(FileSystemError) in
          try unsafe store.fileSystem.writeAll(descriptor, sealed.bytes.span.bytes, at: 0)
          try store.fileSystem.synchronize(descriptor)
        }
      }
      // If the ledger's name survived a power cut and this one didn't, everything that the last durable ledger vouched for has
      // to be in the new one. Where it may not be, or nobody goes on from an older generation, or a part would be shown without
      // another one that was saved with it, the names have to be durable first.
      if !keepsState || state.isReopened || new.count > 1 || !next.ledger.vouchesForAll(of: old) {
        try attempt("write an archive") { () throws(FileSystemError) in
          try store.fileSystem.synchronize(slot.descriptor)
        }
      }
      let ledgerBytes = try commit(next.ledger, &state)
      var receipt = PublishReceipt(
        generation: Generation(rawValue: number), bytesWritten: new.reduce(ledgerBytes) { $0 + $1.bytes.count },
        durability: synchronize(isFirst: isFirst, &state))
      receipt.sealedOneWay = new.lazy.map(\.part).filter { $0.flags.contains(.oneWay) }.map(\.place)
      receipt.isSealedOneWay = !receipt.sealedOneWay.isEmpty
      receipt.parts = record.parts.map(\.identity)
      receipt.isRemade = state.isRemade
      state.isRemade = false
      receipt.setAside = next.setAside
      receipt.removed = next.removed
      if receipt.durability == .durable, !prune(old, next.ledger, &state) {
        receipt.durability = .unknown
        (state.isUnknown, state.isReopened) = (true, true)
      }
      // Until then the next ledger owes it as well.
      state.owesRemoval = next.ledger.owesRemoval && receipt.durability == .unknown
      for sealed in new { state.verified.insert(sealed.part.number) }
      return (receipt, files)
    } catch {
      state.needsSweep = true
      // Another writer may have made one of the same name.
      for (sealed, file) in zip(new, files) {
        let named = try? store.fileSystem.status(ofName: sealed.part.file.text, in: slot.descriptor)
        if let named, named.identity == (try? file.identity()) { slot.remove(sealed.part.file) }
      }
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
  /// - Returns: Whether nothing comes back with a power cut that the new ledger owes to remove.
  private func prune(_ old: Ledger, _ new: Ledger, _ state: inout ArchiveStoreState) -> Bool {
    let named = new.files
    var gone = old.files.subtracting(named)
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
    let leavesCurrent = old.current?.parts.contains { !named.contains($0.file) } == true
    guard leavesCurrent || new.owesRemoval else { return true }
    // A state under another class or an older key must not come back with a power cut.
    let isDurable =
      (try? uninterrupted { () throws(FileSystemError) in
        try store.fileSystem.synchronize(state.slot.descriptor)
      }) != nil
    guard new.owesRemoval else { return true }
    if !isDurable { state.needsSweep = true }
    return isDurable && !state.needsSweep
  }

  /// Removes what an earlier run owed to remove.
  func removeUnnamed(_ ledger: Ledger, _ state: inout ArchiveStoreState) -> Bool {
    state.needsSweep = true
    state.owesRemoval = !prune(ledger, ledger, &state)
    return !state.owesRemoval
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

/// A part of a generation that is ready to be written.
struct SealedGenerationPart {
  let part: Ledger.Part
  /// The whole file, frames included.
  let bytes: Data
  let frames: any FrameSealing
  /// Where its frames may lie.
  let room: Range<Int>
  let frameLimit: Int
  let frameCount: Int
  let scan: FrameScan
}

extension SealedFields.Flags {
  /// What the header of a file says of it.
  init(_ flags: Ledger.Part.Flags) {
    self = []
    if flags.contains(.oneWay) { insert(.oneWay) }
    if flags.contains(.partial) { insert(.partial) }
    if flags.contains(.beside) { insert(.beside) }
  }
}

extension Ledger {
  /// The number that a file or generation gets, behind so many others of the same save.
  func number(after count: Int) throws(ProtectionError) -> UInt64 {
    guard counter < Self.counterLimit - UInt64(count) else {
      throw ProtectionError(.io, "The numbers of this archive's generations are used up; delete it to begin anew.")
    }
    return counter + UInt64(count) + 1
  }
}
