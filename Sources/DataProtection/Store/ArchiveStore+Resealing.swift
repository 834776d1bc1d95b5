extension StoreDirectory {
  /// Seals everything anew under the class keys that are active now; for the first passcode.
  ///
  /// Returns whether nothing is left that needs an older key: a file that was saved while locked, is in use by another process, is
  /// of a newer format, or can't be read at the moment stays as it is. Damaged material has no use for a key any more.
  func resealAll() throws(ProtectionError) -> Bool {
    var isComplete = true
    for name in try slotNames() {
      var known = writer(of: name)
      if known == nil { known = try openForResealing(name) }
      guard let store = known else { continue }
      do throws(ProtectionError) {
        if try !store.reseal() { isComplete = false }
      } catch {
        isComplete = false
      }
    }
    return isComplete
  }

  /// The store of a slot that nobody has in this process, by its ledger; nil when nothing was ever saved there.
  private func openForResealing(_ name: SlotName) throws(ProtectionError) -> ArchiveStore? {
    guard let slot = try lookIfDirectory(at: name), try !slot.files().isEmpty else { return nil }
    let identity = try claimedIdentity(of: name, in: slot, try readLedger(in: slot).value)
    let store = ArchiveStore(self, identity: identity, protection: .complete, isListed: false)
    store.keepState()
    return store
  }
}

extension ArchiveStore {
  /// Seals the newest generation and those set aside anew; returns whether nothing is left that needs an older key.
  fileprivate func reseal() throws(ProtectionError) -> Bool {
    let wasOpen = isOpen
    defer { if !wasOpen { close() } }
    do throws(ProtectionError) {
      return try writing { state throws(ProtectionError) in try reseal(&state) }
    } catch  where error.code == .inUse {
      return false
    }
  }

  private func reseal(_ state: inout ArchiveStoreState) throws(ProtectionError) -> Bool {
    // From here on this run appends to nothing that is under the older keys.
    state.closeBases()
    guard let ledger = state.reading.ledger.value else {
      // Whatever is whole must keep its key, until a save makes a ledger.
      return try state.reading.claimedLedger(epoch: [], as: nil).records.lazy.flatMap(\.parts).allSatisfy {
        $0.protection == .none || $0.flags.contains(.damaged)
      }
    }
    // A pending archive waits for the next whole save, which replaces it.
    guard ledger.pending.isEmpty, !ledger.records.contains(where: { $0.flags.contains(.oneWay) }) else { return false }
    var isComplete = true
    for record in ledger.setAside + [ledger.current].compactMap(\.self)
    where record.parts.contains(where: { $0.protection != .none }) && !record.flags.contains(.damaged) {
      do throws(ProtectionError) {
        if try reseal(record, &state).durability != .durable { isComplete = false }
      } catch  where error.code.isDamage {
        // Sealed anew the older one would pass for the newest: the next whole save puts it in its place.
        if record == ledger.current, ledger.predecessor != nil { isComplete = false }
      }
    }
    state.closeBases()
    return isComplete
  }

  /// Writes a generation anew under its classes' active keys, in its place.
  private func reseal(
    _ former: Ledger.Record, _ state: inout ArchiveStoreState
  ) throws(ProtectionError) -> PublishReceipt {
    guard let old = state.reading.ledger.value else { throw .nothingSaved }
    var sealed: [SealedGenerationPart] = []
    for part in former.parts where part.protection != .none {
      sealed.append(try sealAnew(part, number: try old.number(after: sealed.count), state))
    }
    let unchanged = former.parts.filter { $0.protection == .none }
    return try writeGeneration(sealed, unchanged, over: old, &state) { record in
      var next = Ledger.Successor(ledger: old)
      if old.current?.generation == former.generation {
        next.ledger.current = record
        next.ledger.predecessor = nil
      }
      next.ledger.setAside = old.setAside.map { $0.generation == former.generation ? record : $0 }
      return next
    }
  }

  /// What the disk gets in a file's place; its plaintext is in memory for no longer than this takes.
  private func sealAnew(
    _ part: Ledger.Part, number: UInt64, _ state: ArchiveStoreState
  ) throws(ProtectionError) -> SealedGenerationPart {
    let opened = try state.reading.open(part, as: part.protection)
    let whole = try opened.whole()
    return try seal(
      whole.base, appending: whole.frames, at: part.place, as: opened.protection, number: number)
  }
}
