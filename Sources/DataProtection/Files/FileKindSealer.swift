import FoundationEssentials

/// Seals for a store whose whole files are protected files: they have a magic of their own, so that an archive put in
/// a file's place, or the other way round, is refused at its first bytes.
struct FileKindSealer: StoreSealing {
  let sealer: FileSealer

  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    var fields = fields
    if fields.kind == .archive { fields.kind = .file }
    return try sealer.seal(plaintext, fields)
  }

  func openArchive(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    try sealer.open(source, kind: .file, protection: protection, identity: identity, generation: generation)
  }

  func makeJournal(_ fields: SealedFields, binding: [UInt8]) throws(ProtectionError) -> any JournalSealing {
    try sealer.makeJournal(fields, binding: binding)
  }

  func headerByteCount(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> Int {
    try sealer.headerByteCount(start)
  }

  func claimedProtection(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> ProtectionClass {
    try sealer.claimedProtection(start)
  }

  func openJournal(
    header: ArraySlice<UInt8>, binding: [UInt8], protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any JournalOpening {
    try sealer.openJournal(
      header: header, binding: binding, protection: protection, identity: identity, generation: generation)
  }
}
