import Synchronization

extension ArchiveStore {
  /// The classes whose keys are not in memory now.
  package var lockedClasses: Set<ProtectionClass> {
    Set(ProtectionClass.allCases.filter { !store.sealer.isAvailable($0) })
  }

  /// Opens the newest generation with all its parts, or the one before it when its first part can't be read.
  ///
  /// A part that the keys are away for is `.locked`; one that is damaged falls back alone, to the file that the generation before has
  /// in its place.
  ///
  /// Throws `.locked` when nothing can be opened for want of keys, `.notFound` only when this device never had the slot, or has
  /// deleted it.
  package func openNewestParts() throws(ProtectionError) -> OpenedGeneration {
    guard isOpen else {
      return try lookingAtParts { reading throws(ProtectionError) in try openNewestParts(reading) }
    }
    return try writing { state throws(ProtectionError) in
      let taken = state
      let opened = try named(taken) { () throws(ProtectionError) in
        try openNewestParts(taken.reading, forWriting: true, taken.faulty)
      }
      guard opened.standing == .current else { return opened }
      for part in opened.parts { adopt(part, &state) }
      return opened
    }
  }

  /// Opens the first part of the newest generation, and each other one when it is asked for.
  ///
  /// For reading a few nodes of many. What can't be read falls back as for ``openNewestParts()``.
  package func lookAtNewestParts() throws(ProtectionError) -> GenerationLook {
    try looking { reading throws(ProtectionError) in
      if !reading.isUnlisted, let ledger = reading.ledger.value, let current = ledger.current, current.parts.count > 1 {
        do throws(ProtectionError) {
          let root = try reading.open(
            current.root, as: expected(current.root), of: current.generation)
          return GenerationLook(OpenedPart(current.root, .opened(root)), of: current) { part throws(ProtectionError) in
            try self.open(part, of: current, in: ledger, reading)
          }
        } catch  where error.code == .locked || error.code.isDamage {}
      }
      return GenerationLook(try openNewestParts(reading, state.withLock { $0?.faulty ?? [] }))
    }
  }

  /// Opens another part of a generation that was looked at.
  ///
  /// The ledger of that look vouches for the file, as long as that is there, also when its generation is not the newest any more.
  private func open(
    _ part: Ledger.Part, of record: Ledger.Record, in ledger: Ledger, _ look: SlotReading
  ) throws(ProtectionError) -> OpenedPart {
    if state.withLock({ $0?.faulty.contains(part.number) }) != true,
      let opened = try? look.open(part, as: expected(part), of: record.generation)
    {
      return OpenedPart(part, .opened(opened))
    }
    return try looking { reading throws(ProtectionError) in
      guard reading.ledger.value == ledger else { throw .partIsGone }
      let opened = try open(
        part, of: record, reading, standing: .current, orOf: ledger.predecessor, forWriting: false,
        state.withLock { $0?.faulty ?? [] })
      if let problem = opened.problem { try checkUnchanged(reading, problem) }
      return opened
    }
  }

  /// Opens the generation before the newest with all its parts.
  package func openPredecessorParts() throws(ProtectionError) -> OpenedGeneration {
    try lookingAtParts { reading throws(ProtectionError) in
      guard let record = reading.ledger.value?.predecessor else {
        throw ProtectionError(.notFound, "There is no generation before the newest.")
      }
      return try open(record, reading, standing: .olderGeneration(because: nil))
    }
  }

  /// Opens a generation that is set aside with all its parts.
  package func openSetAsideParts(_ generation: Generation) throws(ProtectionError) -> OpenedGeneration {
    try lookingAtParts { reading throws(ProtectionError) in
      guard let record = reading.ledger.value?.setAside.first(where: { $0.generation == generation.rawValue }) else {
        throw ProtectionError(.notFound, "There is no generation \(generation) aside.")
      }
      return try open(record, reading, standing: .olderGeneration(because: nil))
    }
  }

  /// Opens one part: at an unlock the others need not be opened again.
  ///
  /// A damaged one of the newest generation falls back, as ``openNewestParts()``. Throws `.superseded` when no generation has the
  /// file any more.
  package func openPart(_ file: PartFile) throws(ProtectionError) -> OpenedPart {
    try openPart(file, because: nil)
  }

  /// Opens what a part falls back to that opened well, and is damaged inside.
  ///
  /// - Returns: `.fellBack` with the file that the generation before has in its place, `.locked`, or `.damaged`. The next generation
  ///   sets the newest aside, unless it names the damaged file again.
  package func openStandIn(
    for file: PartFile, because code: ProtectionError.Code
  ) throws(ProtectionError) -> OpenedPart {
    try openPart(file, because: code)
  }

  private func openPart(
    _ file: PartFile, because code: ProtectionError.Code?
  ) throws(ProtectionError) -> OpenedPart {
    try writing { state throws(ProtectionError) in
      if code != nil {
        state.faulty.insert(file.number)
        if state[base: file.place]?.part.identity == file { state[base: file.place] = nil }
      }
      let taken = state
      let part = try named(taken) { () throws(ProtectionError) in
        guard let ledger = taken.reading.ledger.value else { return try openUnverified(file, taken.reading) }
        guard let (part, record) = ledger.part(file) else { throw .partIsGone }
        let isNewest = record.generation == ledger.current?.generation
        return try open(
          part, of: record, taken.reading, standing: isNewest ? .current : .olderGeneration(because: nil),
          orOf: isNewest ? ledger.predecessor : nil, forWriting: true, taken.faulty, code)
      }
      adopt(part, &state)
      return part
    }
  }

  /// Opens a part that no ledger vouches for.
  private func openUnverified(_ file: PartFile, _ reading: SlotReading) throws(ProtectionError) -> OpenedPart {
    do throws(ProtectionError) {
      guard let opened = try reading.openClaimed(.generation(file.number), as: nil, at: file.place) else {
        throw ProtectionError.partIsGone
      }
      return OpenedPart(Ledger.Part(of: opened), .opened(opened))
    } catch  where error.code == .locked {
      return OpenedPart(
        Ledger.Part(
          place: file.place, number: file.number, commitment: file.commitment, protection: .complete, byteCount: 0),
        .locked)
    } catch  where error.code.isDamage || error.code == .unsupportedVersion {
      return OpenedPart(
        Ledger.Part(
          place: file.place, number: file.number, commitment: file.commitment, protection: .complete, byteCount: 0),
        .damaged(error.code))
    }
  }

  private func adopt(_ part: OpenedPart, _ state: inout ArchiveStoreState) {
    if case .opened(let archive) = part.state { adopt(archive, &state) }
  }

  // MARK: One look

  /// Looks at the slot, again as long as its writer goes on meanwhile, and removes what this look was about to open.
  private func lookingAtParts(
    _ body: (SlotReading) throws(ProtectionError) -> OpenedGeneration
  ) throws(ProtectionError) -> OpenedGeneration {
    try looking { reading throws(ProtectionError) in
      let opened = try body(reading)
      if let problem = opened.parts.lazy.compactMap(\.problem).first { try checkUnchanged(reading, problem) }
      return opened
    }
  }

  /// Throws the problem of a part where the slot's writer has gone on since a look, and may have removed its file.
  private func checkUnchanged(_ reading: SlotReading, _ problem: ProtectionError.Code) throws(ProtectionError) {
    guard !isOpen else { return }
    let now = try store.look(at: name)
    guard let now, try store.readLedger(in: now).value == reading.ledger.value else {
      throw ProtectionError(problem, "The archive has changed while it was read.")
    }
  }

  private func openNewestParts(
    _ reading: SlotReading, forWriting: Bool = false, _ faulty: Set<UInt64> = []
  ) throws(ProtectionError) -> OpenedGeneration {
    guard let ledger = reading.ledger.value else {
      let root = try reading.openUnverified(as: keepsState ? nil : protection, forWriting: forWriting)
      let parts = [OpenedPart(Ledger.Part(of: root), .opened(root))] + (try reading.openUnverifiedParts())
      return try generation(root.generation.rawValue, .rollbackUnverifiable, parts)
    }
    guard let current = ledger.current else { throw .nothingSaved }
    let standing = reading.isUnlisted ? ArchiveStanding.rollbackUnverifiable : .current
    do throws(ProtectionError) {
      return try open(current, reading, standing: standing, orOf: ledger.predecessor, forWriting: forWriting, faulty)
    } catch  where error.code.isDamage && error.code != .wrongClass {
      guard let predecessor = ledger.predecessor else { throw error }
      do throws(ProtectionError) {
        return try open(predecessor, reading, standing: .olderGeneration(because: error.code))
      } catch let second where !second.code.isDamage {
        throw second
      } catch {
        // The older one is damaged too: the newest's problem is said.
      }
      throw error
    }
  }

  /// Opens a generation; throws what is wrong with its first part, and `.locked` when all of them are.
  ///
  /// - Parameters:
  ///   - other: The generation that has what other parts fall back to.
  ///   - faulty: The numbers of files that are damaged though they open well.
  private func open(
    _ record: Ledger.Record, _ reading: SlotReading, standing: ArchiveStanding, orOf other: Ledger.Record? = nil,
    forWriting: Bool = false, _ faulty: Set<UInt64> = []
  ) throws(ProtectionError) -> OpenedGeneration {
    var parts: [OpenedPart] = []
    var refusal: ProtectionError?
    do throws(ProtectionError) {
      let root = try reading.open(
        record.root, as: expected(record.root), of: record.generation, standing: standing, forWriting: forWriting)
      parts.append(OpenedPart(record.root, .opened(root)))
    } catch  where error.code == .locked && record.parts.count > 1 {
      refusal = error
      parts.append(OpenedPart(record.root, .locked))
    }
    for part in record.parts.dropFirst() {
      parts.append(
        try open(part, of: record, reading, standing: standing, orOf: other, forWriting: forWriting, faulty))
    }
    if let refusal, parts.allSatisfy({ $0.archive == nil }) { throw refusal }
    return try generation(record.generation, standing, parts)
  }

  /// Opens one part, or what it falls back to.
  ///
  /// - Parameters:
  ///   - other: The generation that has what it falls back to.
  ///   - faulty: The numbers of files that are damaged though they open well.
  ///   - reason: What is wrong with this one although it opens.
  private func open(
    _ part: Ledger.Part, of record: Ledger.Record, _ reading: SlotReading, standing: ArchiveStanding,
    orOf other: Ledger.Record?, forWriting: Bool, _ faulty: Set<UInt64>, _ reason: ProtectionError.Code? = nil
  ) throws(ProtectionError) -> OpenedPart {
    let code: ProtectionError.Code
    do throws(ProtectionError) {
      if let reason { throw ProtectionError(reason, "Part \(part.place.rawValue) is damaged inside.") }
      if faulty.contains(part.number) {
        throw ProtectionError(.corrupt, "Part \(part.place.rawValue) was found damaged inside.")
      }
      let opened = try reading.open(
        part, as: expected(part), of: record.generation, standing: standing, forWriting: forWriting)
      return OpenedPart(part, .opened(opened))
    } catch {
      switch error.code {
      case .locked: return OpenedPart(part, .locked)
      case _ where error.code.isDamage || reason != nil: code = error.code
      default: throw error
      }
    }
    guard let other, let fallback = other[part.place], fallback.identity != part.identity else {
      return OpenedPart(part, .damaged(code))
    }
    do throws(ProtectionError) {
      let opened = try reading.open(
        fallback, as: expected(fallback), of: other.generation, standing: .olderGeneration(because: code))
      return OpenedPart(fallback, .fellBack(opened, because: code))
    } catch {
      switch error.code {
      // It is opened once the keys are there.
      case .locked: return OpenedPart(part, .locked)
      case _ where error.code.isDamage: return OpenedPart(part, .damaged(code))
      default: throw error
      }
    }
  }

  private func generation(
    _ number: UInt64, _ standing: ArchiveStanding, _ parts: [OpenedPart]
  ) throws(ProtectionError) -> OpenedGeneration {
    var commitment = parts[0].record.commitment
    if parts.count > 1 {
      commitment = try store.keys.authenticationCode(
        .marker, over: Array("parts/".utf8) + parts.flatMap { [$0.place.rawValue] + $0.record.commitment })
    }
    return OpenedGeneration(
      generation: Generation(rawValue: number), standing: standing, parts: parts, commitment: commitment)
  }
}

extension ProtectionError {
  /// A part that no generation has.
  fileprivate static let partIsGone = ProtectionError(
    .superseded, "No generation has that part any more; open the newest one again.")
}
