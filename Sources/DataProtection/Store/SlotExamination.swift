import FileSystem

/// The files of one slot, opened under the store's lock; what takes long is read after it.
struct SlotExamination: Sendable {
  /// A file, and what of it was not read yet.
  private struct File {
    var material: ArchiveMaterial
    var unread: (any SealedContent)?
  }

  private var files: [File] = []
  /// The journals of each generation that has some, opened once; or why they can't be.
  private(set) var chains: [UInt64: Result<JournalChain, ProtectionError>] = [:]

  fileprivate mutating func add(_ material: ArchiveMaterial, unread: (any SealedContent)? = nil) {
    files.append(File(material: material, unread: unread))
  }

  fileprivate mutating func add(_ chain: Result<JournalChain, ProtectionError>, of number: UInt64) {
    chains[number] = chain
  }

  /// Reads the rest, piece by piece; newest generations first.
  ///
  /// It needs no lock: no generation is ever changed, and one that is deleted meanwhile is still open.
  func finish() -> [ArchiveMaterial] {
    var material: [ArchiveMaterial] = []
    for file in files {
      var found = file.material
      do throws(ProtectionError) {
        try file.unread?.readThrough()
      } catch {
        found.problem = found.problem ?? error.code
      }
      material.append(found)
    }
    return material.sorted { left, right in
      (left.generation?.rawValue ?? 0, right.name) > (right.generation?.rawValue ?? 0, left.name)
    }
  }
}

extension ArchiveContent {
  /// So much of a content is in memory while it is only checked.
  private var pieceByteCount: Int { 1 << 20 }

  /// Reads everything and keeps nothing: every chunk is authenticated.
  fileprivate func readThrough() throws(ProtectionError) {
    var position = 0
    repeat {
      let end = min(position + pieceByteCount, byteCount)
      _ = try read(position..<end)
      position = end
    } while position < byteCount
  }
}

extension StoreSession {
  /// Opens every file of a slot, and says of each what is wrong with it as far as opening tells.
  ///
  /// - Parameters:
  ///   - survey: The slot.
  ///   - protection: The class that its generations should have; those saved while locked have one of their own.
  ///   - obstacle: Why nothing can be opened; then every file has this problem.
  func examine(
    _ survey: SlotSurvey, protection: ProtectionClass, obstacle: ProtectionError? = nil
  ) -> SlotExamination {
    var examination = SlotExamination()
    for name in survey.names where name.slot == survey.slot {
      examine(name, survey, protection, obstacle, &examination)
    }
    let listed = [survey.entry?.current, survey.entry?.predecessor, survey.entry?.pending]
    for (position, record) in listed.enumerated() {
      guard let record else { continue }
      let name = StoreName.generation(slot: survey.slot, number: record.generation, isPending: record.wasPending)
      guard !survey.names.contains(name) else { continue }
      examination.add(
        ArchiveMaterial(
          name: name.text, kind: position == 2 ? .pending : .generation,
          generation: Generation(rawValue: record.generation), byteCount: 0, isCurrent: position == 0,
          problem: .missing))
    }
    return examination
  }

  private func examine(
    _ name: StoreName, _ survey: SlotSurvey, _ protection: ProtectionClass, _ obstacle: ProtectionError?,
    _ examination: inout SlotExamination
  ) {
    let byteCount =
      (try? store.fileSystem.status(ofName: name.text, in: store.directory)).map { Int(clamping: $0.byteCount) } ?? 0
    let (kind, generation) = describe(name, survey)
    var problem: ProtectionError.Code?
    var unread: (any SealedContent)?
    do throws(ProtectionError) {
      if let obstacle { throw obstacle }
      switch name {
      case .generation(_, let number, let isPending):
        unread = try openGeneration(name, number, isPending, survey, protection)
      case .journal(_, let number, let index):
        if examination.chains[number] == nil {
          examination.add(readJournals(of: number, survey, protection), of: number)
        }
        guard let chain = try examination.chains[number]?.get(), chain.ends.contains(where: { $0.index == index })
        else {
          throw ProtectionError(.corrupt, "The journal is damaged or doesn't follow the one before it.")
        }
      case .marker:
        guard try isWhole(name, identity: survey.identity) else { return }
      default:
        guard let content = try openSetAside(name, survey.slot) else { return }
        unread = content
      }
    } catch {
      problem = error.code
    }
    examination.add(
      ArchiveMaterial(
        name: name.text, kind: kind, generation: generation.map(Generation.init(rawValue:)), byteCount: byteCount,
        isCurrent: generation != nil && kind == .generation && generation == survey.entry?.current?.generation,
        problem: problem), unread: unread)
  }

  /// What a file is for by its name, and the generation it belongs to.
  private func describe(_ name: StoreName, _ survey: SlotSurvey) -> (ArchiveMaterial.Kind, UInt64?) {
    switch name {
    case .generation(_, let number, let isPending):
      let isPromoted = [survey.entry?.current, survey.entry?.predecessor].contains { $0?.generation == number }
      return (isPending && !isPromoted ? .pending : .generation, number)
    case .journal(_, let number, let index): return (.journal(Int(index)), number)
    case .marker: return (.marker, nil)
    default: return (.setAside, nil)
    }
  }

  private func openGeneration(
    _ name: StoreName, _ number: UInt64, _ isPending: Bool, _ survey: SlotSurvey, _ protection: ProtectionClass
  ) throws(ProtectionError) -> any SealedContent {
    guard let file = try open(name) else { throw ProtectionError(.missing, "The file went away.") }
    let content = try store.sealer.openArchive(
      file, protection: isPending ? .completeUnlessOpen : protection, identity: survey.identity, generation: number)
    let listed = [survey.entry?.current, survey.entry?.predecessor, survey.entry?.pending]
      .compactMap { $0 }.first { $0.generation == number }
    if let listed {
      guard listed.commitment == content.commitment else {
        throw ProtectionError(.rolledBack, "It is not the file that was saved under this number.")
      }
    } else if survey.reading.ledger != nil, number <= survey.floor {
      throw ProtectionError(.rolledBack, "The ledger knows that it was replaced or deleted.")
    }
    return content
  }

  private func readJournals(
    of number: UInt64, _ survey: SlotSurvey, _ protection: ProtectionClass
  ) -> Result<JournalChain, ProtectionError> {
    let wasPending =
      [survey.entry?.current, survey.entry?.predecessor].compactMap { $0 }.first { $0.generation == number }?.wasPending
      ?? false
    return Result { () throws(ProtectionError) in
      guard let file = try open(.generation(slot: survey.slot, number: number, isPending: wasPending)) else {
        throw ProtectionError(.missing, "The journal's generation is gone.")
      }
      let content = try store.sealer.openArchive(
        file, protection: wasPending ? .completeUnlessOpen : protection, identity: survey.identity, generation: number)
      return try readJournals(of: content, survey, protection: protection, checksAll: true)
    }
  }

  /// Checks a crash marker; `false` when it has gone: restoring is over.
  private func isWhole(_ name: StoreName, identity: [UInt8]) throws(ProtectionError) -> Bool {
    // A marker is written in place, without the store's lock: what looks damaged is read once more.
    for _ in 0..<2 {
      guard let file = try open(name) else { return false }
      let bytes = try file.read(0..<min(file.byteCount, MarkerFile.maximumByteCount + 1))
      if try MarkerFile(bytes, identity: identity, keys: store.keys) != nil { return true }
    }
    throw ProtectionError(.corrupt, "The mark of a restoring is damaged.")
  }

  /// Opens what was set aside as what its own header claims; `nil` when it has gone.
  private func openSetAside(_ name: StoreName, _ slot: SlotName) throws(ProtectionError) -> (any SealedContent)? {
    guard let file = try open(name) else { return nil }
    let claim = try claim(of: file)
    guard SlotName(identity: claim.identity) == slot else {
      throw ProtectionError(.wrongIdentity, "What was set aside for this slot says that it is another one's.")
    }
    return try store.sealer.openArchive(
      file, protection: claim.protection, identity: claim.identity, generation: claim.generation)
  }
}
