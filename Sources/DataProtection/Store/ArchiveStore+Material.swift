import FileSystem
import FoundationEssentials

extension ArchiveStore {
  /// Every file of the slot, with what became of reading it whole; newest generations first.
  ///
  /// No archive is changed.
  public func listMaterial() throws(ProtectionError) -> [ArchiveMaterial] {
    try withLock { state, session throws(ProtectionError) in
      let survey = try session.survey(slot)
      var material: [ArchiveMaterial] = []
      for name in survey.names where name.slot == survey.slot {
        material.append(try session.examine(name, survey, protection: state.protection))
      }
      if let current = survey.entry?.current {
        let name = StoreName.generation(
          slot: survey.slot, number: current.generation, isPending: current.wasPending)
        if !survey.names.contains(name) {
          material.append(
            ArchiveMaterial(
              name: name.text, kind: .generation, generation: Generation(rawValue: current.generation), byteCount: 0,
              isCurrent: true, problem: .missing))
        }
      }
      return material.sorted { left, right in
        (left.generation?.rawValue ?? 0, right.name) > (right.generation?.rawValue ?? 0, left.name)
      }
    }
  }
}

extension StoreSession {
  /// Reads one file whole and says what is wrong with it.
  fileprivate func examine(
    _ name: StoreName, _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> ArchiveMaterial {
    let byteCount =
      (try? store.fileSystem.status(ofName: name.text, in: store.directory)).map { Int(clamping: $0.byteCount) } ?? 0
    var kind = ArchiveMaterial.Kind.setAside
    var generation: UInt64?
    var problem: ProtectionError.Code?
    do throws(ProtectionError) {
      switch name {
      case .generation(_, let number, let isPending):
        generation = number
        let isPromoted = [survey.entry?.current, survey.entry?.predecessor].contains { $0?.generation == number }
        kind = isPending && !isPromoted ? .pending : .generation
        try examineGeneration(name, number, isPending, survey, protection)
      case .journal(_, let number, let index):
        generation = number
        kind = .journal(Int(index))
        try examineJournal(number, index, survey, protection)
      case .marker: kind = .marker
      default: kind = .setAside
      }
    } catch {
      problem = error.code
    }
    return ArchiveMaterial(
      name: name.text, kind: kind, generation: generation.map(Generation.init(rawValue:)), byteCount: byteCount,
      isCurrent: generation != nil && kind == .generation && generation == survey.entry?.current?.generation,
      problem: problem)
  }

  private func examineGeneration(
    _ name: StoreName, _ number: UInt64, _ isPending: Bool, _ survey: SlotSurvey, _ protection: ProtectionClass
  ) throws(ProtectionError) {
    guard let file = try open(name) else { throw ProtectionError(.missing, "The file went away.") }
    let content = try store.sealer.openArchive(
      file, protection: isPending ? .completeUnlessOpen : protection, identity: survey.identity, generation: number)
    _ = try content.read(0..<content.byteCount)
    let listed = [survey.entry?.current, survey.entry?.predecessor, survey.entry?.pending]
      .compactMap { $0 }.first { $0.generation == number }
    if let listed {
      guard listed.commitment == content.commitment else {
        throw ProtectionError(.rolledBack, "It is not the file that was saved under this number.")
      }
    } else if survey.reading.ledger != nil, number <= survey.floor {
      throw ProtectionError(.rolledBack, "The ledger knows that it was replaced or deleted.")
    }
  }

  private func examineJournal(
    _ number: UInt64, _ index: UInt32, _ survey: SlotSurvey, _ protection: ProtectionClass
  ) throws(ProtectionError) {
    let listed = [survey.entry?.current, survey.entry?.predecessor].compactMap { $0 }
      .first { $0.generation == number }
    let wasPending = listed?.wasPending ?? false
    guard let file = try open(.generation(slot: survey.slot, number: number, isPending: wasPending)) else {
      throw ProtectionError(.missing, "The journal's generation is gone.")
    }
    let content = try store.sealer.openArchive(
      file, protection: wasPending ? .completeUnlessOpen : protection, identity: survey.identity, generation: number)
    let chain = try readJournals(of: content, survey, protection: protection, checksAll: true)
    guard chain.ends.contains(where: { $0.index == index }) else {
      throw ProtectionError(.corrupt, "The journal is damaged or doesn't follow the one before it.")
    }
  }
}
