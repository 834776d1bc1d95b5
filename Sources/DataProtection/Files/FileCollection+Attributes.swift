import FoundationShim

extension FileCollection {
  /// What the ledger and the file system know of a file: no key is needed but those that are always there.
  func attributes(
    _ name: String, _ entry: FileIndex.Entry
  ) throws(ProtectionError) -> ProtectedFiles.Attributes {
    guard let (record, byteCount, modified) = try contents(of: entry).attributes() else {
      throw ProtectionError(.missing, "The content of \"\(name)\" is gone; somebody removed it from outside.")
    }
    return ProtectedFiles.Attributes(
      name: name, protection: entry.protection,
      byteCount: byteCount,
      generation: Generation(rawValue: record.generation), creationDate: Date(timeIntervalSince1970: entry.created),
      modificationDate: Date(timeIntervalSince1970: modified))
  }
}
