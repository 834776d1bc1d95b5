import Sealing

/// What slots are called: their directories have hashes for names, so each ledger has its slot's own, sealed.
extension StoreDirectory {
  /// Names are sealed in steps of so many bytes, so that their length tells little.
  private static let step = 64

  /// The name of a slot, sealed; empty for one that is too long.
  func sealedName(of slot: ArchiveSlot, _ identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    var bytes = slot.bytes
    bytes.appendZeroes((Self.step - bytes.count % Self.step) % Self.step)
    guard ChunkedEncryption.sealedByteCount(of: bytes.count) <= Ledger.sealedNameLimit else { return [] }
    return try keys.sealSlotName(bytes, of: identity)
  }

  /// What a slot is called by its ledger; nil where that says nothing.
  func slot(of ledger: Ledger) -> ArchiveSlot? {
    guard !ledger.sealedName.isEmpty,
      let bytes = try? keys.openSlotName(ledger.sealedName, of: ledger.identity), let slot = ArchiveSlot(bytes),
      (try? identity(of: slot)) == ledger.identity
    else { return nil }
    return slot
  }
}
