import FileSystem
import FoundationEssentials
import Sealing

extension FileCollection {
  /// What the ledger and the file system know of a file: no key is needed but those that are always there.
  func attributes(
    _ name: String, _ entry: FileIndex.Entry
  ) throws(ProtectionError) -> ProtectedFileAttributes {
    let slot = contents(of: entry).slot
    return try store.withLock { session throws(ProtectionError) in
      let survey = try session.survey(slot)
      // A file whose ledger entry was cut off by a crash has its newest generation on disk all the same.
      let number = max(survey.entry?.current?.generation ?? 0, survey.generations.first ?? 0)
      guard number > 0, let file = try session.open(.generation(slot: survey.slot, number: number, isPending: false))
      else {
        throw ProtectionError(.missing, "The content of \"\(name)\" is gone; somebody removed it from outside.")
      }
      let status = try attempt("look at a protected file") { () throws(FileSystemError) in
        try store.fileSystem.status(of: file.descriptor)
      }
      let messageByteCount = file.byteCount - SealedFileHeader.byteCount(for: entry.protection)
      return ProtectedFileAttributes(
        name: name, protection: entry.protection,
        byteCount: ChunkedEncryption.plaintextByteCount(ofMessage: messageByteCount) ?? 0,
        generation: Generation(rawValue: number), creationDate: Date(timeIntervalSince1970: entry.created),
        modificationDate: Date(timeIntervalSince1970: status.modificationTime))
    }
  }
}
