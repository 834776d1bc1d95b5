import FileSystem
import FoundationEssentials

/// A generation that has its name.
struct PublishedGeneration {
  /// What its key commits to.
  let commitment: [UInt8]
  /// The file's length.
  let byteCount: Int
  /// Whether its name would survive a power cut.
  let isDurable: Bool
}

extension StoreSession {
  /// Seals and names a generation under the next free number, which goes into `fields`.
  ///
  /// - Parameter isNamed: Told its commitment as soon as a launch could find it.
  func publishGeneration(
    _ plaintext: Data, _ fields: inout SealedFields, after mark: UInt64, _ survey: SlotSurvey,
    isNamed: ([UInt8]) -> Void
  ) throws(ProtectionError) -> PublishedGeneration {
    let isPending = fields.isPending
    fields.generation = mark
    while true {
      fields.generation = try nextNumber(after: fields.generation, survey)
      let sealed = try store.sealer.seal(plaintext, fields)
      let name = StoreName.generation(slot: survey.slot, number: fields.generation, isPending: isPending)
      do throws(ProtectionError) {
        _ = try create(name, sealed.bytes)
      } catch  where error.code == .alreadyExists {
        continue
      }
      isNamed(sealed.commitment)
      let isDurable = synchronizeDirectory()
      // A name that may not last must not be found by the next process, which could not tell.
      if !isDurable { try? unlink(name) }
      return PublishedGeneration(
        commitment: sealed.commitment, byteCount: sealed.bytes.count, isDurable: isDurable)
    }
  }

  /// The next number that no name of the slot has.
  ///
  /// A planted name may be in the way; this check by name spares the sealing, the link is what decides.
  func nextNumber(after mark: UInt64, _ survey: SlotSurvey) throws(ProtectionError) -> UInt64 {
    var number = mark
    repeat {
      guard number < StoreSession.numberCeiling else {
        throw ProtectionError(
          .io, "The numbers of this store are used up; something put absurd names in its directory.")
      }
      number += 1
    } while survey.names.contains(where: { $0.hasNumber(number, of: survey.slot) })
    return number
  }

  /// Writes the ledger after a generation is durable; returns the bytes written, `nil` if it may be the old one.
  ///
  /// The save has succeeded then all the same: an authentic generation above its entry is accepted. But nothing may
  /// be pruned.
  func list(_ ledger: Ledger, _ survey: SlotSurvey) -> Int? {
    if case .invalid = survey.reading { setAside(.ledger) }
    guard let written = try? writeLedger(ledger), written.isDurable else { return nil }
    return written.byteCount
  }

  /// Deletes what the ledger no longer names: older generations, journals without one, merged pending ones.
  ///
  /// Pending ones that are in no generation stay; those that were passed over are set aside.
  ///
  /// Deleting may fail, or be undone by a power cut: what comes back is not listed, and goes the next time.
  func prune(
    _ survey: SlotSurvey, _ entry: Ledger.Entry, verified: Set<UInt64>, consumed: Set<UInt64> = []
  ) {
    let kept = Set([entry.current, entry.predecessor, entry.pending].compactMap { $0?.generation })
    guard let newest = entry.current?.generation ?? entry.pending?.generation else { return }
    var gone: Set<UInt64> = []
    for name in survey.names {
      guard case .generation(survey.slot, let number, let isPending) = name, !kept.contains(number) else { continue }
      if isPending, number > survey.pendingFloor, !consumed.contains(number) {
        let isPassedOver = number <= entry.pendingFloor && judge(name, number, survey, entry) != .untouchable
        if isPassedOver || judge(name, number, survey, entry) == .damaged { setAside(name) }
        continue
      }
      if verified.contains(number) || consumed.contains(number) {
        try? unlink(name)
        gone.insert(number)
        continue
      }
      switch judge(name, number, survey, entry) {
      case .old where isPending ? number < newest : number < entry.predecessor?.generation ?? 0:
        try? unlink(name)
        gone.insert(number)
      case .old where isPending: break
      case .otherClass:
        // A change of class that was cut short, or a copy planted under another class: no copy stays under it.
        try? unlink(name)
        gone.insert(number)
      case .old, .damaged:
        // Older than nothing that is known, or damaged: somebody may want to look at it.
        setAside(name)
        gone.insert(number)
      default: break
      }
    }
    let present = Set(
      survey.names.compactMap { name -> UInt64? in
        if case .generation(survey.slot, let number, _) = name { number } else { nil }
      })
    for name in survey.names {
      guard case .journal(survey.slot, let number, _) = name, !kept.contains(number) else { continue }
      if gone.contains(number) || !present.contains(number) { try? unlink(name) }
    }
  }

  private enum Judgement {
    case old, otherClass, damaged, untouchable
  }

  /// Whether an unlisted file may go: it is ours, readable, and old; or damaged; or not to be touched.
  private func judge(
    _ name: StoreName, _ number: UInt64, _ survey: SlotSurvey, _ entry: Ledger.Entry
  ) -> Judgement {
    do throws(ProtectionError) {
      guard let file = try open(name) else { return .untouchable }
      let protection = try store.sealer.claimedProtection(
        try file.read(0..<min(SealedFileHeader.maximumByteCount, file.byteCount))[...])
      let content = try store.sealer.openArchive(
        file, protection: protection, identity: survey.identity, generation: number)
      let isExpected = protection == entry.current?.protection || content.fields.isPending
      return isExpected ? .old : .otherClass
    } catch {
      switch error.code {
      case .corrupt, .wrongIdentity, .rolledBack, .wrongClass: return .damaged
      default: return .untouchable
      }
    }
  }
}

extension StoreName {
  /// Whether it is a generation of that slot and number, of whatever ending, or a journal of it.
  func hasNumber(_ number: UInt64, of slot: SlotName) -> Bool {
    switch self {
    case .generation(slot, number, _), .journal(slot, number, _): true
    default: false
    }
  }
}
