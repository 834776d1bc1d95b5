import FileSystem
public import FoundationEssentials
import Synchronization

extension ArchiveStore {
  /// Appends a frame to the newest generation's journal: one write, one sync, and a look at the tip and at the name.
  ///
  /// Throws `.superseded` when there is nothing to append to (nothing was opened or published in this run, another
  /// process has gone ahead, the journal is frozen or gone): publish a whole generation then. Throws `.locked` when the
  /// class's key is gone, `.io` when nothing was written. A receipt that says `.unknown` means that the frame is
  /// not saved yet as far as anyone knows; a new journal begins with the next frame.
  @discardableResult
  public func append(_ frame: Data) throws(ProtectionError) -> AppendReceipt {
    try append(frame, as: nil)
  }

  /// Appends a frame that means nothing but in its place; `.superseded` when that is not the next one.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - generation: The generation that it belongs to.
  ///   - number: Its number among all frames of the generation, from 1.
  @discardableResult
  package func append(
    _ frame: Data, to generation: Generation, as number: Int
  ) throws(ProtectionError) -> AppendReceipt {
    try append(frame, as: (generation, number))
  }

  private func append(
    _ frame: Data, as place: (generation: Generation, number: Int)?
  ) throws(ProtectionError) -> AppendReceipt {
    var outcome: Result<AppendReceipt, ProtectionError>?
    state.withLock { state in
      do throws(ProtectionError) {
        if let place { try requireNext(place.generation, place.number, state) }
        let receipt = try append(frame, &state)
        if receipt.durability == .durable { state.follow() }
        outcome = .success(receipt)
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome!.get()
  }

  /// Throws `.superseded` unless a frame is the next one of the generation that this run goes on from.
  private func requireNext(
    _ generation: Generation, _ number: Int, _ state: ArchiveStoreState
  ) throws(ProtectionError) {
    guard let base = state.base, base.record.generation == generation.rawValue,
      base.ends.reduce(0, { $0 + $1.frameCount }) + 1 == UInt64(number)
    else {
      throw ProtectionError(
        .superseded, "Something else was saved since this was read; save the whole state.")
    }
  }

  /// Ends the journal, before the state is captured for a whole generation: appending is `.superseded` until then.
  public func freezeJournal() {
    state.withLock { state in
      state.isFrozen = true
      state.writer = nil
    }
  }

  /// Whether the journals have grown so much that a whole generation is due: to a quarter of the base.
  ///
  /// A base smaller than 64 KiB counts as one, and so many restarts that each began a journal are enough as well.
  public var isCompactionDue: Bool {
    state.withLock { state in
      guard let base = state.base else { return false }
      return base.journalByteCount > max(base.byteCount, ArchiveStore.smallBase) / 4
        || base.ends.count >= ArchiveStore.journalLimit
    }
  }

  /// A base counts as at least so long when compaction is weighed.
  static let smallBase = 64 << 10
  /// More journals than this make opening slow.
  static let journalLimit = 16

  private func append(
    _ frame: Data, _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> AppendReceipt {
    guard let base = state.base, base.isAppendable, !state.isFrozen else {
      throw ProtectionError(.superseded, "There is no journal to append to; save the whole state.")
    }
    guard frame.count <= JournalFrames.byteLimit / 2, base.ends.last?.offset ?? 0 < JournalFrames.journalLimit else {
      throw ProtectionError(.superseded, "So large a change is better saved as the whole state.")
    }
    guard let writer = state.writer else { return try beginJournal(frame, base, &state) }
    let sealed: (message: [UInt8], commitment: [UInt8])
    do throws(ProtectionError) {
      sealed = try writer.sealer.seal(
        frame, number: writer.end.frameCount, previous: writer.end.lastCommitment)
    } catch {
      state.writer = nil
      guard error.code == .locked else { throw error }
      // A lock wiped the key. If there was an unlock since, a new journal begins, under a new key.
      return try beginJournal(frame, base, &state)
    }
    let bytes = JournalFrames.encoded(
      sealed.message, number: writer.end.frameCount, skip: writer.skip(of: writer.end.frameCount))
    return try write(bytes, sealed.commitment, writer, base, &state)
  }

  private func write(
    _ bytes: [UInt8], _ commitment: [UInt8], _ writer: JournalWriter, _ base: ArchiveStoreState.Base,
    _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> AppendReceipt {
    var writer = writer
    // Whatever goes wrong from here on, nothing is appended to this journal any more.
    state.writer = nil
    let offset = writer.end.offset
    try grow(&writer, to: offset + bytes.count)
    try attempt("append to the journal") { () throws(FileSystemError) in
      try unsafe store.fileSystem.writeAll(writer.file.descriptor, bytes.span.bytes, at: Int64(offset))
    }
    var receipt = AppendReceipt(
      generation: Generation(rawValue: base.record.generation), bytesWritten: bytes.count, durability: .durable)
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in
        try store.fileSystem.synchronizeData(writer.file.descriptor)
      }
    } catch {
      receipt.durability = .unknown
      return receipt
    }
    // After the sync, not before it: whoever raises the tip later reads this frame, and whoever raised it earlier
    // may not have. Then the frame counts only if it is shown that nobody has gone on from this generation.
    if try store.readTip() != state.knownTip { try lookAgain(&state) }
    try requireName(of: writer)
    writer.offsets.append(offset)
    writer.end.frameCount += 1
    writer.end.lastCommitment = commitment
    writer.end.offset += bytes.count
    state.base!.ends[state.base!.ends.count - 1] = writer.end
    state.base!.journalByteCount += bytes.count
    state.writer = writer
    return receipt
  }

  /// Throws `.superseded` when the journal has lost its name, with its directory perhaps: nobody would find the frame.
  private func requireName(of writer: JournalWriter) throws(ProtectionError) {
    let status = try attempt("look at the journal") { () throws(FileSystemError) in
      try store.fileSystem.status(of: writer.file.descriptor)
    }
    guard status.linkCount > 0 else {
      throw ProtectionError(.superseded, "Something other than this program took the journal; save the whole state.")
    }
  }

  /// Reserves space for what comes, so that the sync has no metadata to write.
  private func grow(_ writer: inout JournalWriter, to length: Int) throws(ProtectionError) {
    guard length > writer.allocated else { return }
    // In even steps: the reader looks for the end no farther than this from the file's end.
    let allocated = length + JournalFrames.allocationStep
    do throws(FileSystemError) {
      try store.fileSystem.allocate(writer.file.descriptor, length: Int64(allocated))
    } catch  where error.code == .notSupported || error.code == .interrupted {
      // Then the file grows with every frame.
      return
    } catch {
      throw ProtectionError(
        .io, "There was no room for the journal; the frame is not saved.", errno: error.code.rawValue, cause: error)
    }
    writer.allocated = allocated
  }

  /// Somebody raised the tip: only if our generation and our last journal still are the newest may we go on.
  private func lookAgain(_ state: inout ArchiveStoreState) throws(ProtectionError) {
    guard let base = state.base else { return }
    let tip = try store.withLock { session throws(ProtectionError) in
      let tip = try store.readTip()
      try session.checkNewest(base, try session.survey(slot))
      return tip
    }
    state.knownTip = tip
  }

  /// Makes a journal whose first frame is this one; file and name are durable before it is acknowledged.
  private func beginJournal(
    _ frame: Data, _ base: ArchiveStoreState.Base, _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> AppendReceipt {
    let protection = state.protection
    var tip: UInt64 = 0
    let (made, isDurable) = try store.withLock {
      session throws(ProtectionError) -> ((writer: JournalWriter, byteCount: Int), Bool) in
      // First the tip, then the look: a peer's frame that is acknowledged after this is one that we read here.
      tip = try store.raiseTip()
      let survey = try session.survey(slot)
      try session.checkNewest(base, survey)
      if let end = base.ends.last { try session.checkEnd(end, base, survey) }
      let made = try session.createJournal(
        frame, base: base, identity: survey.identity, protection: protection,
        identifier: ArchiveStore.randomIdentifier())
      let isDurable = session.synchronizeDirectory()
      if !isDurable {
        // A name that may not last must not be found by the next process, which could not tell.
        try? session.unlink(
          .journal(slot: survey.slot, number: base.record.generation, index: made.writer.end.index))
      }
      return (made, isDurable)
    }
    state.knownTip = tip
    state.base!.ends.append(made.writer.end)
    state.base!.journalByteCount += made.writer.end.offset
    if isDurable {
      state.writer = made.writer
    } else {
      // Whether the journal's name lasts is unknown, so that nothing may be bound to it.
      state.base!.isAppendable = false
    }
    return AppendReceipt(
      generation: Generation(rawValue: base.record.generation), bytesWritten: made.byteCount,
      durability: isDurable ? .durable : .unknown)
  }
}

extension StoreSession {
  /// Throws `.superseded` unless this base and its journals are the newest of the slot.
  func checkNewest(_ base: ArchiveStoreState.Base, _ survey: SlotSurvey) throws(ProtectionError) {
    let superseded = ProtectionError(
      .superseded, "Another program has saved this archive meanwhile; save the whole state.")
    guard survey.reading.ledger != nil else { throw superseded }
    let name = StoreName.generation(
      slot: survey.slot, number: base.record.generation, isPending: base.record.wasPending)
    guard survey.names.contains(name), !survey.generations.contains(where: { $0 > base.record.generation }),
      survey.entry?.current?.generation ?? 0 <= base.record.generation
    else { throw superseded }
    var count = 0
    for case .journal(survey.slot, base.record.generation, _) in survey.names { count += 1 }
    guard count == base.ends.count else { throw superseded }
  }

  /// Throws `.superseded` unless a journal that somebody else wrote still ends where we read its end.
  func checkEnd(
    _ end: JournalEnd, _ base: ArchiveStoreState.Base, _ survey: SlotSurvey
  ) throws(ProtectionError) {
    guard !end.isOurs else { return }
    let name = StoreName.journal(slot: survey.slot, number: base.record.generation, index: end.index)
    guard let file = try open(name), try file.read(end.offset..<end.offset + 4).allSatisfy({ $0 == 0 }) else {
      throw ProtectionError(.superseded, "Another program has appended to this archive; save the whole state.")
    }
  }

  /// Writes a journal with its first frame under its name.
  ///
  /// The name is not durable yet.
  func createJournal(
    _ frame: Data, rest: some Collection<Data> = [], base: ArchiveStoreState.Base, identity: [UInt8],
    protection: ProtectionClass, identifier: [UInt8]
  ) throws(ProtectionError) -> (writer: JournalWriter, byteCount: Int) {
    let index = base.ends.last.map { $0.index + 1 } ?? 0
    let fields = SealedFields(
      kind: .journal, protection: protection, identity: identity, generation: base.record.generation, schema: 0,
      flags: 0, identifier: identifier)
    let binding = JournalBinding(
      baseIdentifier: base.identifier, baseCommitment: base.record.commitment, index: index,
      previous: base.ends.last
    ).encoded
    let sealer = try store.sealer.makeJournal(fields, binding: binding)
    var content = Data(sealer.header + binding)
    var commitment = JournalEnd.noCommitment
    var frameCount: UInt64 = 0
    var offsets: [Int] = []
    for frame in [frame] + rest {
      let sealed = try sealer.seal(frame, number: frameCount, previous: commitment)
      let skip = JournalFrames.skipTarget(ofNumberFromOne: frameCount + 1)
      let bytes = JournalFrames.encoded(
        sealed.message, number: frameCount, skip: skip == 0 ? 0 : offsets[Int(skip) - 1])
      offsets.append(content.count)
      content += bytes
      commitment = sealed.commitment
      frameCount += 1
    }
    let allocated = content.count + JournalFrames.allocationStep
    let name = StoreName.journal(
      slot: SlotName(identity: identity), number: base.record.generation, index: index)
    let file: StoreFile
    do throws(ProtectionError) {
      file = try create(name, content, allocating: allocated)
    } catch  where error.code == .alreadyExists {
      throw ProtectionError(.superseded, "A journal of that number is there already; save the whole state.")
    }
    let end = JournalEnd(
      index: index, identifier: identifier, frameCount: frameCount, lastCommitment: commitment, offset: content.count,
      isOurs: true)
    return (JournalWriter(file: file, sealer: sealer, end: end, offsets: offsets, allocated: allocated), content.count)
  }
}
