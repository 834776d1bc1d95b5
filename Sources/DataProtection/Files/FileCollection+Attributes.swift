import FoundationShim
import Sealing

extension FileCollection {
  /// What the ledger and the file system know of a file: no key is needed but those that are always there.
  func attributes(
    _ name: String, _ entry: FileIndex.Entry
  ) throws(ProtectionError) -> ProtectedFileAttributes {
    guard let (record, modified) = try contents(of: entry).attributes() else {
      throw ProtectionError(.missing, "The content of \"\(name)\" is gone; somebody removed it from outside.")
    }
    let messageByteCount = Int(clamping: record.byteCount) - SealedFileHeader.byteCount(for: entry.protection)
    return ProtectedFileAttributes(
      name: name, protection: entry.protection,
      byteCount: ChunkedEncryption.plaintextByteCount(ofMessage: messageByteCount) ?? 0,
      generation: Generation(rawValue: record.generation), creationDate: Date(timeIntervalSince1970: entry.created),
      modificationDate: Date(timeIntervalSince1970: modified))
  }
}
