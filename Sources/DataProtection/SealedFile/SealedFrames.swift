import FoundationEssentials
import Sealing
import Synchronization

/// The file key of one journal, and what every frame of it is bound to.
final class SealedFrames: Sendable {
  private let key: Mutex<SecretKey?>
  private let context: [UInt8]

  /// Takes the key over.
  ///
  /// - Parameters:
  ///   - key: The journal's file key.
  ///   - context: The journal's header and binding.
  init(_ key: consuming SecretKey, context: [UInt8]) {
    self.key = Mutex(key)
    self.context = context
  }

  /// Wipes the key; waits for a frame in progress.
  func wipe() {
    key.withLock { $0 = nil }
  }

  /// Seals a frame under a fresh salt.
  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8], random: any RandomSource
  ) throws(SealingError) -> ChunkedEncryption.Sealed {
    let context = frameContext(number, previous)
    return try withKey { (key) throws(SealingError) in
      try ChunkedEncryption.seal(frame.span, key: key, context: context.span, random: random)
    }
  }

  /// Opens a frame; throws `authenticationFailed` when it isn't that frame of this journal.
  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(SealingError) -> (frame: Data, commitment: [UInt8]) {
    let context = frameContext(number, previous)
    let prefix = Array(message.prefix(ChunkedEncryption.prefixByteCount))
    let opener = try withKey { (key) throws(SealingError) in
      try ChunkedOpener(
        prefix: prefix.span, messageByteCount: message.count, key: key, context: context.span)
    }
    let frame = try unsafe Data.filled(byteCount: opener.plaintextByteCount) { (target) throws(SealingError) in
      try unsafe opener.openChunks(
        0..<opener.chunkCount, of: message.span.extracting(droppingFirst: prefix.count), into: target)
    }
    return (frame, opener.commitment)
  }

  /// Header, binding, frame number, and the commitment of the frame before: a frame fits in one place only.
  private func frameContext(_ number: UInt64, _ previous: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(context.count + 8 + previous.count)
    bytes += context
    bytes.appendInteger(number)
    bytes += previous
    return bytes
  }

  private func withKey<Result>(
    _ body: (borrowing SecretKey) throws(SealingError) -> Result
  ) throws(SealingError) -> Result {
    let outcome = key.withLock { (key: inout sending SecretKey?) -> Swift.Result<Result, SealingError> in
      guard key != nil else { return .failure(.fileIsLocked) }
      do throws(SealingError) {
        return .success(try body(key!))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}

/// Seals the frames of one journal.
struct JournalSealer: JournalSealing {
  /// The sealed header, to which the binding is appended.
  let header: [UInt8]
  let frames: SealedFrames
  let random: any RandomSource
  let registration: WipeRegistration?

  /// Seals a frame; returns the message and its commitment.
  ///
  /// Throws `locked` once the key was wiped.
  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8]) {
    let sealed = try sealing("seal a frame") { () throws(SealingError) in
      try frames.seal(frame, number: number, previous: previous, random: random)
    }
    return (sealed.bytes, sealed.commitment)
  }
}

/// Opens the frames of one journal.
struct JournalOpener: JournalOpening {
  /// What its header binds.
  let fields: SealedFields
  let frames: SealedFrames
  let registration: WipeRegistration?

  /// How many bytes of a message hold its commitment.
  var messagePrefixByteCount: Int { ChunkedEncryption.prefixByteCount }

  /// What a message says that its key commits to; nothing is proved by it.
  func claimedCommitment(of prefix: ArraySlice<UInt8>) -> [UInt8]? {
    guard prefix.count >= ChunkedEncryption.prefixByteCount else { return nil }
    return Array(prefix.prefix(ChunkedEncryption.prefixByteCount).suffix(32))
  }

  /// Opens a message; throws `corrupt` when it is not that frame of this journal.
  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    try sealing("open a frame") { () throws(SealingError) in
      try frames.open(message, number: number, previous: previous)
    }
  }
}
