/// Whose file it is, and of what class and generation, as its header says before anything in it was authenticated.
struct HeaderClaim: Hashable, Sendable {
  /// The HMAC of the slot, whole.
  let identity: [UInt8]
  /// The class.
  let protection: ProtectionClass
  /// The generation.
  let generation: UInt64
}

extension StoreSession {
  /// What a sealed file's header claims; throws `corrupt` when it has none.
  func claim(of file: StoreFile) throws(ProtectionError) -> HeaderClaim {
    let start = try file.read(0..<min(SealedFileHeader.maximumByteCount, file.byteCount))
    let protection = try store.sealer.claimedProtection(start[...])
    guard start.count >= SealedFileHeader.boundByteCount else { throw .tooShort }
    var reader = FieldReader(start[SealedFileHeader.identityRange.lowerBound...])
    return HeaderClaim(
      identity: Array(reader.take(SealedFileHeader.identityRange.count)), protection: protection,
      generation: reader.integer())
  }

  /// Whose archive a slot's files are, and of what class, as the first of them claims whose header is whole.
  ///
  /// - Parameters:
  ///   - slot: The slot, by the beginning of its HMAC.
  ///   - names: The files to look at, one after the other.
  /// - Returns: The claim; `nil` when no header can be read, or none belongs to the slot.
  func whose(_ slot: SlotName, among names: [StoreName]) throws(ProtectionError) -> HeaderClaim? {
    for name in names {
      do throws(ProtectionError) {
        guard let file = try open(name) else { continue }
        let claim = try claim(of: file)
        if SlotName(identity: claim.identity) == slot { return claim }
      } catch  where error.code == .corrupt {
        continue
      }
    }
    return nil
  }
}
