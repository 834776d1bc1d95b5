public import FoundationEssentials

/// One generation, opened: its content by ranges, and the frames that were appended to it.
///
/// Opening checks the header, the key, the length and the last frame; the content's chunks and the other
/// frames are decrypted, and checked, when they are read. All calls block; call them from any thread but the main actor.
public final class OpenedArchive: Sendable {
  /// The number of the generation.
  public let generation: Generation
  /// How sure it is that this is what was saved last.
  public let standing: ArchiveStanding
  /// The class that protects it.
  public let protection: ProtectionClass
  /// The archive schema its writer gave.
  public let schema: UInt32
  /// The length of its content in bytes.
  public let byteCount: Int
  /// How many frames were appended since it was published.
  public var frameCount: Int { journals.frameCount }
  /// Bytes at the journal's end that were no whole frame: an append that never finished, or damage.
  public let tailDropped: Int
  /// What the key commits to: it names this content and no other.
  public let commitment: Data
  let content: any ArchiveContent
  let journals: JournalChain

  init(
    generation: Generation, standing: ArchiveStanding, protection: ProtectionClass, schema: UInt32,
    journals: JournalChain, commitment: Data, content: any ArchiveContent
  ) {
    self.generation = generation
    self.standing = standing
    self.protection = protection
    self.schema = schema
    self.byteCount = content.byteCount
    self.journals = journals
    tailDropped = journals.tailDropped
    self.commitment = commitment
    self.content = content
  }

  /// Reads part of the content, decrypting only the chunks that hold it.
  ///
  /// Throws `.locked` once the class's key is gone, `.corrupt` when a chunk is not what was written.
  public func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    try content.read(range)
  }

  /// Reads the whole content.
  public func readAll() throws(ProtectionError) -> Data {
    try content.read(0..<byteCount)
  }

  /// Opens one frame, counted from the oldest; only it is read and decrypted.
  ///
  /// Throws `.corrupt` when it is not what was appended; `openNewest(checkingFrames:)` finds how far they are whole.
  public func frame(at index: Int) throws(ProtectionError) -> Data {
    try journals.frame(at: index)
  }

  /// All frames, oldest first.
  public var frames: [Data] {
    get throws(ProtectionError) { try journals.readFrames() }
  }

  /// How many chunks have been decrypted so far.
  public var chunksOpened: Int { content.chunksOpened }
}

/// Where an opened archive's content comes from.
protocol ArchiveContent: Sendable {
  /// The length of the content in bytes.
  var byteCount: Int { get }
  /// How many chunks have been decrypted so far.
  var chunksOpened: Int { get }
  /// Decrypts what holds the range, and no more.
  func read(_ range: Range<Int>) throws(ProtectionError) -> Data
}
