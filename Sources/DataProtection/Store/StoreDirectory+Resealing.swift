extension StoreDirectory {
  /// Seals every slot's newest generation anew, under the class keys that are active now; for the first passcode.
  ///
  /// Returns whether nothing is left that needs an older key: what is pending, of a newer format, locked, or can't be
  /// read at the moment stays as it is. Damaged material has no use for a key any more.
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
        guard entry?.pending == nil, pending.waiting.isEmpty else { return false }
        guard let name = newest(slot, entry, names), let file = try session.open(name) else { return true }
        let start = try file.read(0..<min(SealedFileHeader.maximumByteCount, file.byteCount))
        let protection = try sealer.claimedProtection(start[...])
        guard protection != .none else { return true }
        let identity = Array(start[SealedFileHeader.identityRange])
        guard SlotName(identity: identity) == slot else { return true }
        let survey = try session.survey(identity: identity)
        let found = try session.findNewest(survey, protection: protection)
        let chain = try session.readJournals(of: found.content, survey, protection: protection)
        _ = try raiseTip()
        _ = try session.reseal(found, chain, survey, as: protection)
        return true
      } catch {
        switch error.code {
        case .corrupt, .missing, .notFound, .rolledBack, .wrongClass, .wrongIdentity, .otherDevice: return true
        default: return false
        }
      }
    }
  }

  /// The generation that the ledger lists, or the newest one by its name.
  private func newest(_ slot: SlotName, _ entry: Ledger.Entry?, _ names: [StoreName]) -> StoreName? {
    if let current = entry?.current {
      return .generation(slot: slot, number: current.generation, isPending: current.wasPending)
    }
    return names.compactMap { name -> (number: UInt64, name: StoreName)? in
      if case .generation(slot, let number, false) = name { (number, name) } else { nil }
    }.max { $0.number < $1.number }?.name
  }
}
