internal import RestorationArchive

extension Lineage {
  /// The objects that leave in one capture, and what their places are taken with.
  struct Leaving {
    private let keys: Set<CaptureBatch.Key>
    private let batch: CaptureBatch
    /// The records by key; made when somebody takes the place of somebody who leaves.
    private lazy var records = Dictionary(
      batch.records.lazy.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })

    init(_ batch: CaptureBatch) {
      keys = Set(batch.removals)
      self.batch = batch
    }

    func contains(_ key: CaptureBatch.Key) -> Bool { keys.contains(key) }

    /// Whether what is stored in a place is of the class and the model of whoever takes it.
    mutating func fits(_ key: CaptureBatch.Key, _ stored: RestorationArchive.Node) -> Bool {
      records[key].map { batch.attributes(of: batch.records[$0]).fits(stored) } ?? true
    }
  }
}
