import FoundationShim
import Sealing

/// A sealed file that was opened: its plaintext by ranges, decrypting only the chunks that hold them.
///
/// Its keys go when its class's do (`locked` from then on), and with the object.
final class OpenSealedFile: SealedContent {
  /// What its header binds.
  let fields: SealedFields
  /// What its file key commits to, 32 bytes.
  var commitment: [UInt8] { chunks.opener.commitment }
  /// The length of the plaintext.
  var byteCount: Int { chunks.opener.plaintextByteCount }
  /// How many chunks have been decrypted so far, the final one at opening included.
  var chunksOpened: Int { chunks.openedCount }

  private let source: any SealedSource
  private let messageOffset: Int
  private let chunks: SealedChunks
  private let registration: WipeRegistration?
  /// Opens and seals the frames behind the base.
  let frames: any FrameSealing
  /// Where the sealed base ends in the file.
  var endOffset: Int { messageOffset + fields.messageByteCount }

  /// How many chunks are read from the disk at once.
  private static let batch = 16

  init(
    fields: SealedFields, source: any SealedSource, messageOffset: Int, chunks: SealedChunks,
    frames: any FrameSealing, registration: WipeRegistration?
  ) {
    self.fields = fields
    self.source = source
    self.messageOffset = messageOffset
    self.chunks = chunks
    self.frames = frames
    self.registration = registration
  }

  /// Opens the final chunk, which alone proves the file's length; before that no other chunk is given out.
  func checkLength() throws(ProtectionError) {
    let last = chunks.opener.chunkCount - 1
    let sealed = try readSealed(last..<last + 1)
    try sealing("open the file") { () throws(SealingError) in
      try unsafe chunks.open(last, of: sealed, 0..<0, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }
  }

  /// Reads part of the plaintext.
  ///
  /// Throws `invalidArgument` for a range beyond the end, `locked` once the keys are gone, `corrupt` when a chunk was
  /// changed (nothing of it is given out then), or what reading the source throws.
  func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    guard range.lowerBound >= 0, range.upperBound <= byteCount else {
      throw ProtectionError(
        .invalidArgument, "The range \(range) is not within the file, which has \(byteCount) bytes.")
    }
    guard !range.isEmpty else {
      guard !chunks.opener.isWiped else { throw ProtectionError(.fileIsLocked, while: "read the file") }
      return Data()
    }
    return try unsafe Data.filled(byteCount: range.count) { (target) throws(ProtectionError) in
      try unsafe read(range, into: target)
    }
  }

  private func read(
    _ range: Range<Int>, into target: UnsafeMutableRawBufferPointer
  ) throws(ProtectionError) {
    let size = ChunkedEncryption.chunkByteCount
    var position = range.lowerBound
    while position < range.upperBound {
      let index = position / size
      // Chunks that are wanted whole go straight to the target, several at a time.
      let whole = position % size == 0 ? min((range.upperBound - position) / size, Self.batch) : 0
      let end = whole > 1 ? position + whole * size : min((index + 1) * size, range.upperBound)
      let room = unsafe UnsafeMutableRawBufferPointer(
        rebasing: target[position - range.lowerBound..<end - range.lowerBound])
      if whole > 1 {
        let sealed = try readSealed(index..<index + whole)
        try sealing("read the file") { () throws(SealingError) in
          try unsafe chunks.open(index..<index + whole, of: sealed, into: room)
        }
      } else {
        try unsafe read(index, position - index * size..<end - index * size, into: room)
      }
      position = end
    }
  }

  private func read(
    _ index: Int, _ range: Range<Int>, into room: UnsafeMutableRawBufferPointer
  ) throws(ProtectionError) {
    let isKept = try sealing("read the file") { () throws(SealingError) in
      try unsafe chunks.copyKept(index, range, into: room)
    }
    guard !isKept else { return }
    let sealed = try readSealed(index..<index + 1)
    try sealing("read the file") { () throws(SealingError) in
      try unsafe chunks.open(index, of: sealed, range, into: room)
    }
  }

  /// Reads a run of chunks as they are stored.
  private func readSealed(_ chunks: Range<Int>) throws(ProtectionError) -> [UInt8] {
    let range = self.chunks.opener.messageRange(ofChunks: chunks)
    let bytes = try source.read(messageOffset + range.lowerBound..<messageOffset + range.upperBound)
    guard bytes.count == range.count else {
      throw ProtectionError(.corrupt, "The file has become shorter since it was opened.")
    }
    return bytes
  }
}
