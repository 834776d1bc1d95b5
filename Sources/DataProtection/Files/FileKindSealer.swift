import FoundationShim

/// Seals for a store whose whole files are protected files: they have a magic of their own, so that an archive put in
/// a file's place, or the other way round, is refused at its first bytes.
struct FileKindSealer: StoreSealing {
  let sealer: FileSealer

  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    var fields = fields
    fields.kind = .file
    return try sealer.seal(plaintext, fields)
  }

  func open(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    try sealer.open(source, kind: .file, protection: protection, identity: identity, generation: generation)
  }

  func claims(of start: ArraySlice<UInt8>) throws(ProtectionError) -> SealedClaims { try sealer.claims(of: start) }

  func isAvailable(_ protection: ProtectionClass) -> Bool { sealer.isAvailable(protection) }
}
