import FoundationShim
import Synchronization

extension ArchiveStore {
  /// Opens the pending archives, saved while locked and in no generation yet, oldest first; each is read to the last byte.
  package func openPending() throws(ProtectionError) -> PendingArchives {
    let own = state.withLock { $0?.ownPending }
    return try looking { reading throws(ProtectionError) in
      var found = PendingArchives()
      for record in try reading.pending(as: keepsState ? nil : protection) {
        let generation = Generation(rawValue: record.generation)
        do throws(ProtectionError) {
          found.archives.append(
            PendingArchive(
              generation: generation, isOwn: record.generation == own,
              content: try reading.open(record, as: .completeUnlessOpen).readAll()))
        } catch  where error.code.isDamage || error.code == .unsupportedVersion {
          found.problems[generation] = error
        }
      }
      return found
    }
  }
}
