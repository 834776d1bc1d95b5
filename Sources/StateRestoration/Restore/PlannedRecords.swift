internal import RestorationArchive

/// The states of a plan's nodes, shared by the records that are read from it.
final class PlannedRecords: Sendable {
  private let decoders: [RecordDecoder?]
  private let paths: [RestorationPath]

  /// The states of some nodes alone, in memory of their own; the others are as if they had none.
  func reduced(to isNeeded: (Int) -> Bool) -> PlannedRecords {
    guard !decoders.isEmpty else { return self }
    let needed = decoders.indices.map { isNeeded($0) ? decoders[$0]?.compacted() : nil }
    return PlannedRecords(needed.contains { $0 != nil } ? needed : [], paths: paths)
  }

  /// The bytes of the states.
  var byteCount: Int { decoders.reduce(0) { $0 + ($1?.byteCount ?? 0) } }

  private func decoder(at index: Int) -> RecordDecoder? { index < decoders.count ? decoders[index] : nil }

  init(_ decoders: [RecordDecoder?], paths: [RestorationPath]) {
    self.decoders = decoders
    self.paths = paths
  }

  /// The state of one node, which takes two words, whatever it holds.
  struct Record: StateRecord {
    private let all: PlannedRecords
    private let index: Int

    init(_ all: PlannedRecords, at index: Int) {
      self.all = all
      self.index = index
    }

    var keys: [String] { all.decoder(at: index)?.keys ?? [] }

    var keyLimit: Int { all.decoder(at: index)?.entryCount ?? 0 }

    func contains(_ key: String) -> Bool { all.decoder(at: index)?.contains(key) ?? false }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
      do {
        return try all.decoder(at: index)?.decodeIfPresent(type, forKey: key)
      } catch {
        var located = error
        located.path = all.paths[index]
        throw located
      }
    }
  }
}
