package import FoundationShim
import Synchronization

/// One generation, opened: its content by ranges, and the changes that were appended to it.
///
/// Opening checks the header, the key, the length and the frames; the content's chunks are decrypted, and checked, when
/// they are read. All calls block; call them from any thread but the main actor.
package final class OpenedArchive: Sendable {
  /// The number of the generation; of a part it is that of the generation which it was opened for.
  package let generation: Generation
  /// How sure it is that this is the last save.
  package let standing: ArchiveStanding
  /// The class that protects it.
  package var protection: ProtectionClass { content.fields.protection }
  /// The length of its content in bytes.
  package var byteCount: Int { content.byteCount }
  /// The frames that were appended since it was published, oldest first.
  package var frames: [Data] { scan.frames }
  /// Bytes behind the frames that were no whole frame: an append that never finished, or damage.
  package var tailDropped: Int { scan.tailDropped }
  /// What the key commits to: it names this content and no other.
  package var commitment: [UInt8] { content.commitment }
  /// How many chunks have been decrypted so far.
  package var chunksOpened: Int { content.chunksOpened }
  /// The file.
  let file: StoreFile
  let content: any SealedContent
  let scan: FrameScan

  /// Whether the whole content was read, and is authentic to the last byte.
  let readMark = ReadMark()

  init(generation: UInt64, standing: ArchiveStanding, file: StoreFile, content: any SealedContent, scan: FrameScan) {
    self.generation = Generation(rawValue: generation)
    self.standing = standing
    self.file = file
    self.content = content
    self.scan = scan
  }

  /// Reads part of the content, decrypting only the chunks that hold it.
  ///
  /// Throws `.locked` once the class's key is gone, `.corrupt` when a chunk was changed.
  package func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    let data = try content.read(range)
    if range == 0..<byteCount { readMark.set() }
    return data
  }

  /// Reads the whole content.
  package func readAll() throws(ProtectionError) -> Data { try read(0..<byteCount) }
}

/// Whether a content was read to its last byte: what its writer keeps of it, so that no plaintext stays.
final class ReadMark: Sendable {
  private let value = Mutex(false)

  var isSet: Bool { value.withLock { $0 } }

  func set() { value.withLock { $0 = true } }
}
