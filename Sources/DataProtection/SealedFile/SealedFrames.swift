import FoundationShim
import Sealing
import Synchronization

/// The file key of one generation, for the frames that are appended to it.
///
/// A frame's context is the generation's commitment, its number, and the commitment of the frame before it: it fits in one
/// place of one generation only. The base's context is its header, which is longer, so the two can't be mixed up.
final class SealedFrames: FrameSealing {
  private let key: Mutex<SecretKey?>
  private let commitment: [UInt8]
  private let random: any RandomSource
  private let registration = Mutex<WipeRegistration?>(nil)

  /// Takes the key over.
  ///
  /// - Parameters:
  ///   - key: The generation's file key.
  ///   - commitment: What the generation's base commits to.
  ///   - random: Where salts come from.
  init(_ key: consuming SecretKey, commitment: [UInt8], random: any RandomSource) {
    self.key = Mutex(key)
    self.commitment = commitment
    self.random = random
  }

  /// Keeps what calls ``wipe()`` registered for as long as the key lives.
  func keep(_ registration: WipeRegistration) {
    self.registration.withLock { $0 = registration }
  }

  /// Wipes the key; waits for a frame in progress.
  func wipe() {
    key.withLock { $0 = nil }
  }

  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8]) {
    let context = frameContext(number, previous)
    let sealed = try sealing("seal a frame") { () throws(SealingError) in
      try withKey { (key) throws(SealingError) in
        try ChunkedEncryption.seal(frame.span, key: key, context: context.span, random: random)
      }
    }
    return (sealed.bytes, sealed.commitment)
  }

  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    let context = frameContext(number, previous)
    return try sealing("open a frame") { () throws(SealingError) in
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
  }

  private func frameContext(_ number: UInt64, _ previous: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(commitment.count + 8 + previous.count)
    bytes += commitment
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
