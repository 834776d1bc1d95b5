import FoundationEssentials

/// What the names and the ledger say about one slot, before any file is opened.
struct SlotSurvey {
  /// The slot's HMAC, whole.
  var identity: [UInt8]
  /// The beginning of it, as in names.
  let slot: SlotName
  /// What came of reading the ledger.
  let reading: LedgerReading
  /// Every name in the store, or the slot's own alone.
  var names: [StoreName]
  /// The slot's entry in the ledger.
  let entry: Ledger.Entry?

  /// The slot's whole generations by name, newest first; pending ones are not among them.
  var generations: [UInt64] {
    names.compactMap { name in
      if case .generation(slot, let number, false) = name { number } else { nil }
    }.sorted(by: >)
  }

  /// The pending generations that are in no other by what the ledger knows, oldest first, by name.
  ///
  /// Promoted ones keep their names and are not among them.
  var waiting: [UInt64] {
    let floor = pendingFloor
    return names.compactMap { name in
      guard case .generation(slot, let number, true) = name, number > floor,
        number != entry?.current?.generation, number != entry?.predecessor?.generation
      else { return nil }
      return number
    }.sorted()
  }

  /// Pending generations with a number up to this one were merged, taken over, discarded or deleted.
  var pendingFloor: UInt64 {
    guard let entry else { return reading.ledger?.highWater ?? 0 }
    return max(entry.pendingFloor, entry.floor)
  }

  /// Whether nothing pending is left when these are merged.
  func areAll(_ consumed: Set<UInt64>) -> Bool { !consumed.isEmpty && consumed.isSuperset(of: waiting) }

  /// Names up to this number were used before and are not accepted unless listed.
  var floor: UInt64 {
    guard let entry else { return reading.ledger?.highWater ?? 0 }
    return max(entry.current?.generation ?? 0, entry.floor)
  }

  /// Whether there is anything of the slot, in the ledger or by name.
  var hasAnything: Bool { entry != nil || names.contains { $0.slot == slot } }

  /// Whether nothing says that no newer generation was taken away.
  var isUnverifiable: Bool { reading.ledger == nil || entry?.isUnverified == true }
}

/// A generation that was found, opened and checked as far as opening checks.
struct FoundGeneration {
  /// What the ledger says, or would say, about it.
  let record: Ledger.Record
  /// How sure it is that it is the newest.
  let standing: ArchiveStanding
  /// Its content.
  let content: any SealedContent
}

extension StoreSession {
  /// Looks at the ledger and the names.
  func survey(_ slot: ArchiveSlot) throws(ProtectionError) -> SlotSurvey {
    try survey(identity: try store.identity(of: slot))
  }

  /// Looks at the ledger and the names, for a slot by its HMAC.
  func survey(identity: [UInt8]) throws(ProtectionError) -> SlotSurvey {
    let slot = SlotName(identity: identity)
    let reading = try readLedger()
    let survey = SlotSurvey(
      identity: identity, slot: slot, reading: reading, names: try names(),
      entry: reading.ledger?.entries[slot])
    guard survey.entry?.isDeleting == true else { return survey }
    // A deletion was cut short after the ledger had decided it.
    try finishDeletion(survey)
    return try self.survey(identity: identity)
  }

  /// Finds the generation to restore, as section 5 of the protocol decides.
  ///
  /// Throws one of the typed outcomes. It never goes on to an older generation because the newer one is locked, of
  /// a newer format, or could not be read at the moment.
  func findNewest(
    _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> FoundGeneration {
    if survey.reading.ledger == nil, store.options.isStrict, !survey.generations.isEmpty {
      throw ProtectionError(
        .rolledBack, "The ledger is lost, so nothing says which archive is the newest; strict mode uses none.")
    }
    var problem: ProtectionError?
    for number in survey.generations where number > survey.floor {
      do throws(ProtectionError) {
        let content = try open(
          .generation(slot: survey.slot, number: number, isPending: false), survey, number, protection)
        guard !content.fields.isPending else {
          throw ProtectionError(.corrupt, "A generation saved while locked stands under another name.")
        }
        return FoundGeneration(
          record: Ledger.Record(
            generation: number, commitment: content.commitment, protection: protection, wasPending: false),
          standing: survey.isUnverifiable ? .rollbackUnverifiable : .current, content: content)
      } catch  where error.saysNothingAboutContent {
        throw error
      } catch {
        problem = problem ?? error
      }
    }
    guard let current = survey.entry?.current else {
      if let problem { throw problem }
      throw try nothingListed(survey)
    }
    guard current.protection == protection || current.wasPending else {
      throw ProtectionError(
        .wrongClass, "The archive has class \(current.protection), and \(protection) was expected.")
    }
    do throws(ProtectionError) {
      let standing: ArchiveStanding = survey.isUnverifiable ? .rollbackUnverifiable : .current
      return FoundGeneration(record: current, standing: standing, content: try openListed(current, survey))
    } catch  where error.saysNothingAboutContent {
      throw error
    } catch {
      guard let predecessor = try? findPredecessor(survey, protection: protection) else { throw error }
      return FoundGeneration(
        record: predecessor.record, standing: .olderGeneration(because: error.code), content: predecessor.content)
    }
  }

  /// Opens the generation that the ledger names as predecessor, and no other.
  func findPredecessor(
    _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> FoundGeneration {
    guard let predecessor = survey.entry?.predecessor else {
      throw ProtectionError(.notFound, "There is no older generation to fall back to.")
    }
    guard predecessor.protection == protection || predecessor.wasPending else {
      throw ProtectionError(.wrongClass, "The older generation has another class; it is not used.")
    }
    return FoundGeneration(
      record: predecessor, standing: .olderGeneration(because: nil),
      content: try openListed(predecessor, survey))
  }

  /// Opens a generation that the ledger vouches for.
  func openListed(
    _ record: Ledger.Record, _ survey: SlotSurvey
  ) throws(ProtectionError) -> any SealedContent {
    let name = StoreName.generation(
      slot: survey.slot, number: record.generation, isPending: record.wasPending)
    guard survey.names.contains(name) else {
      throw ProtectionError(
        .missing, "The archive was saved, but its file is gone: something other than this program removed it.")
    }
    let content = try open(name, survey, record.generation, record.protection)
    guard content.commitment == record.commitment else {
      throw ProtectionError(.rolledBack, "The file under the newest number is not the one that was saved last.")
    }
    return content
  }

  private func open(
    _ name: StoreName, _ survey: SlotSurvey, _ number: UInt64, _ protection: ProtectionClass
  ) throws(ProtectionError) -> any SealedContent {
    guard let file = try open(name) else {
      throw ProtectionError(.missing, "The archive's file went away while it was looked for.")
    }
    return try store.sealer.openArchive(
      file, protection: protection, identity: survey.identity, generation: number)
  }

  private func nothingListed(_ survey: SlotSurvey) throws(ProtectionError) -> ProtectionError {
    if case .absent = survey.reading, !survey.names.contains(where: \.isSealed), try store.readTip() > 0 {
      return ProtectionError(
        .missing, "Archives were saved here, but all of them are gone: something other than this program removed them.")
    }
    if survey.generations.isEmpty {
      return ProtectionError(.notFound, "Nothing is saved for this slot.")
    }
    return ProtectionError(
      .rolledBack, "There is an archive, but the ledger knows that it was replaced or deleted: it was put back.")
  }
}

extension ProtectionError {
  /// Whether it tells nothing about what the file holds: then no other file may stand in for it.
  var saysNothingAboutContent: Bool {
    switch code {
    case .corrupt, .missing, .wrongIdentity, .wrongClass, .otherDevice, .rolledBack, .notFound: false
    default: true
    }
  }
}

extension StoreDirectory {
  /// The slot's HMAC under the name key: application, scene and slot, each with its length.
  func identity(of slot: ArchiveSlot) throws(ProtectionError) -> [UInt8] {
    try keys.authenticationCode(.name, over: slot.bytes)
  }
}
