/// What became of a save.
package struct PublishReceipt: Hashable, Sendable {
  /// The generation's number.
  package let generation: Generation
  /// Bytes written to the disk for it, headers and ledger included.
  package var bytesWritten: Int
  /// Whether it would survive a power cut.
  package var durability: Durability
  /// Whether any of its parts was sealed one-way, because the class had no key.
  package var isSealedOneWay = false
  /// Whether the slot's directory was made again, because somebody has removed it, or one above it, since it was opened: all
  /// earlier generations are gone.
  package var isRemade = false
  /// The generations set aside with it, oldest first.
  package var setAside: [Ledger.Record] = []
  /// The set-aside generations that had to make room; their content is gone.
  package var removed: [Ledger.Record] = []
  /// The files of the generation, those that it names again included, in the order of their places.
  package var parts: [PartFile] = []
  /// The parts that were sealed one-way now.
  package var sealedOneWay: [PartPlace] = []
}

/// Whether the save would survive a power cut.
package enum Durability: Hashable, Sendable {
  /// Every sync succeeded: it survives, as far as the disk keeps its word.
  case durable
  /// It is written whole, but a sync failed after it had become visible. It may or may not be there after a power
  /// cut: keep treating the state as unsaved, and save again from memory.
  case unknown
}
