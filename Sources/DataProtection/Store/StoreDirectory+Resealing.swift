import Synchronization

extension StoreDirectory {
  /// Seals every slot's newest generation anew, under the class keys that are active now; for the first passcode.
  ///
  /// Returns whether nothing is left that needs an older key: what was saved while locked, is of a newer format,
  /// locked, or can't be read at the moment stays as it is, and so does an older generation that stands in for a damaged
  /// one. Damaged material has no use for a key any more.
  func resealAll() throws(ProtectionError) -> Bool {
    let slots = try withLock { session throws(ProtectionError) in Set(try session.names().compactMap(\.slot)) }
    var isComplete = true
    for slot in slots.sorted() where try !reseal(slot) { isComplete = false }
    return isComplete
  }

  private func reseal(_ slot: SlotName) throws(ProtectionError) -> Bool {
    try withLock { session throws(ProtectionError) in
      do throws(ProtectionError) {
        let names = try session.names()
        let reading = try session.readLedger()
        let entry = reading.ledger?.entries[slot]
        let pending = SlotSurvey(identity: slot.bytes, slot: slot, reading: reading, names: names, entry: entry)
        // What was saved while locked is bound to its base, and once taken over it doesn't say the class of its journals:
        // both wait for the next whole save, which replaces them.
        guard entry?.pending == nil, pending.waiting.isEmpty, entry?.current?.wasPending != true else { return false }
        // An older one that is whole must keep its key, even if the newest one is damaged from its first byte.
        guard let claim = try session.whose(slot, among: pending.candidates) else { return true }
        let protection = claim.protection
        guard protection != .none else { return true }
        let survey = try session.survey(identity: claim.identity)
        let found = try session.findNewest(survey, protection: protection)
        // Sealed anew it would pass for the newest one: the next whole save puts it in its place.
        if case .olderGeneration = found.standing { return false }
        _ = try raiseTip()
        let chain = try session.readJournals(of: found.content, survey, protection: protection)
        let result = try session.reseal(found, chain, survey, as: protection)
        let resealing = Resealing(
          source: found.record, sourceEnd: chain.ends.last.map(PendingPreamble.JournalMark.init), result: result)
        resealings.withLock { $0[slot] = resealing }
        return true
      } catch {
        switch error.code {
        case .corrupt, .missing, .notFound, .rolledBack, .wrongClass, .wrongIdentity, .otherDevice: return true
        default: return false
        }
      }
    }
  }
}

extension SlotSurvey {
  /// The generations that the ledger lists, or all by their names; the newest first.
  var candidates: [StoreName] {
    if let current = entry?.current {
      return [current, entry?.predecessor].compactMap { $0 }.map { record in
        .generation(slot: slot, number: record.generation, isPending: record.wasPending)
      }
    }
    return generations.map { .generation(slot: slot, number: $0, isPending: false) }
  }
}
