import FoundationShim
import Synchronization

extension ArchiveStore {
  /// Opens the pending archives, saved while locked and in no generation yet, oldest first; each is read to the last byte.
  ///
  /// Throws `.locked` for one of a run that could read nothing; one beside a readable state waits.
  package func openPending() throws(ProtectionError) -> PendingArchives {
    let own = state.withLock { $0?.ownPending }
    return try looking { reading throws(ProtectionError) in
      var found = PendingArchives()
      for record in try reading.pending(as: keepsState ? nil : protection) {
        let generation = Generation(rawValue: record.generation)
        let isBeside = record.flags.contains(.beside)
        do throws(ProtectionError) {
          found.archives.append(
            PendingArchive(
              generation: generation, isOwn: record.generation == own,
              content: try reading.open(record.root, as: .completeUnlessOpen).readAll(), isBeside: isBeside))
        } catch  where error.code == .locked && isBeside {
          found.waiting.append(generation)
        } catch  where error.code.isDamage || error.code == .unsupportedVersion {
          found.problems[generation] = error
        }
      }
      return found
    }
  }
}
