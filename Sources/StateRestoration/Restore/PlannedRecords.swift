internal import RestorationArchive
internal import Synchronization

/// The states of a plan's records, shared by those who read them.
///
/// They are all that a plan can let go of: nothing else in it changes.
final class PlannedRecords: Sendable {
  private let decoders: Mutex<[RecordDecoder?]>
  private let paths: [RestorationPath]

  /// Keeps the states of some records alone, in memory of their own; the others are as if they had none.
  func reduce(to isNeeded: (Int) -> Bool) {
    decoders.withLock { decoders in
      for index in decoders.indices { decoders[index] = isNeeded(index) ? decoders[index]?.compacted() : nil }
      if !decoders.contains(where: { $0 != nil }) { decoders = [] }
    }
  }

  /// The bytes of the states.
  var byteCount: Int { decoders.withLock { $0.reduce(0) { $0 + ($1?.byteCount ?? 0) } } }

  private func decoder(at index: Int) -> RecordDecoder? {
    decoders.withLock { index < $0.count ? $0[index] : nil }
  }

  init(_ decoders: [RecordDecoder?], paths: [RestorationPath]) {
    self.decoders = Mutex(decoders)
    self.paths = paths
  }

  /// The state of one record, which takes two words, whatever it holds.
  struct Record: StateRecord {
    private let all: PlannedRecords
    private let index: Int

    init(_ all: PlannedRecords, at index: Int) {
      self.all = all
      self.index = index
    }

    var keys: [String] { all.decoder(at: index)?.keys ?? [] }

    var keyLimit: Int { all.decoder(at: index)?.entryCount ?? 0 }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
      try decodeIfPresent(type, forKey: key, noting: nil)
    }

    func contains(_ key: String) -> Bool { all.decoder(at: index)?.contains(key) ?? false }

    func decodeIfPresent<T: Decodable>(
      _ type: T.Type, forKey key: String, noting unknown: UnknownFields?
    ) throws(ArchiveError) -> T? {
      do {
        return try all.decoder(at: index)?.decodeIfPresent(type, forKey: key, noting: unknown)
      } catch {
        var located = error
        located.path = all.paths[index]
        throw located
      }
    }
  }
}
