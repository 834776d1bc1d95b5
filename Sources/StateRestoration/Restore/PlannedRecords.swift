internal import RestorationArchive

/// The states of a plan's nodes, shared by the records that are read from it.
final class PlannedRecords: Sendable {
  private let decoders: [RecordDecoder?]
  private let paths: [RestorationPath]

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

    var keys: [String] { all.decoders[index]?.keys ?? [] }

    var keyLimit: Int { all.decoders[index]?.entryCount ?? 0 }

    func contains(_ key: String) -> Bool { all.decoders[index]?.contains(key) ?? false }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
      do {
        return try all.decoders[index]?.decodeIfPresent(type, forKey: key)
      } catch {
        var located = error
        located.path = all.paths[index]
        throw located
      }
    }
  }
}
