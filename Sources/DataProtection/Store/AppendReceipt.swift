/// What became of a frame that was appended to the journal.
public struct AppendReceipt: Hashable, Sendable {
  /// The generation whose journal took the frame.
  public let generation: Generation
  /// Bytes written to the disk for it; the first frame of a journal includes the journal's header.
  public let bytesWritten: Int
  /// Whether it would survive a power cut.
  public internal(set) var durability: Durability

  /// Puts a receipt together.
  package init(generation: Generation, bytesWritten: Int, durability: Durability) {
    self.generation = generation
    self.bytesWritten = bytesWritten
    self.durability = durability
  }
}
