import CLibcrypto
import Synchronization

/// Opens the chunks of one message in any order.
///
/// It keeps the message's derived keys in the arena until it goes or is wiped; nothing of them stays in libcrypto's
/// memory between two calls. All members may be used from any thread; chunks are opened one after the other.
package final class ChunkedOpener: Sendable {
  /// How many chunks the message has; at least one.
  package let chunkCount: Int
  /// The length of the whole plaintext, as claimed by the message's length until the last chunk is opened.
  package let plaintextByteCount: Int
  /// What the message commits to.
  package let commitment: [UInt8]

  private let keys: Mutex<DerivedKeys?>

  /// Derives the message's keys and compares the commitment, before anything is decrypted.
  ///
  /// Throws `authenticationFailed` for another key or context, for a changed prefix, and for a length that no message
  /// has.
  ///
  /// - Parameters:
  ///   - prefix: The first 56 bytes of the message.
  ///   - messageByteCount: The length of the whole message, prefix included.
  ///   - key: The input key.
  ///   - context: The same as at the sealing.
  package init(
    prefix: Span<UInt8>, messageByteCount: Int, key: borrowing SecretKey, context: Span<UInt8>
  ) throws(SealingError) {
    guard prefix.count == ChunkedEncryption.prefixByteCount else { throw .cutShort }
    let salt = prefix.extracting(first: ChunkedEncryption.saltByteCount)
    let claimed = prefix.extracting(droppingFirst: ChunkedEncryption.saltByteCount)
    let derived = try DerivedKeys(key, salt: salt, context: context)
    guard try derived.matches(commitment: claimed) else { throw .notAuthentic }
    guard let byteCount = ChunkedEncryption.plaintextByteCount(ofMessage: messageByteCount) else { throw .cutShort }
    plaintextByteCount = byteCount
    chunkCount = byteCount / ChunkedEncryption.chunkByteCount + 1
    commitment = unsafe claimed.withUnsafeBytes { bytes in unsafe Array(bytes) }
    keys = Mutex(derived)
  }

  /// Where a run of chunks lies in the message.
  package func messageRange(ofChunks chunks: Range<Int>) -> Range<Int> {
    let start = ChunkedEncryption.prefixByteCount + chunks.lowerBound * ChunkedEncryption.sealedChunkByteCount
    let end = ChunkedEncryption.prefixByteCount + chunks.upperBound * ChunkedEncryption.sealedChunkByteCount
    return start..<min(end, ChunkedEncryption.sealedByteCount(of: plaintextByteCount))
  }

  /// Where the plaintext of a run of chunks lies in the whole plaintext.
  package func plaintextRange(ofChunks chunks: Range<Int>) -> Range<Int> {
    let start = min(chunks.lowerBound * ChunkedEncryption.chunkByteCount, plaintextByteCount)
    return start..<min(chunks.upperBound * ChunkedEncryption.chunkByteCount, plaintextByteCount)
  }

  /// Opens a run of chunks; on any failure all of the target is wiped.
  ///
  /// Throws `authenticationFailed` for changed bytes, `keyWiped` after ``wipe()``.
  ///
  /// - Parameters:
  ///   - chunks: Their numbers, within the message.
  ///   - sealed: Their bytes in the message: exactly ``messageRange(ofChunks:)``.
  ///   - target: Where the plaintext goes: exactly as long as ``plaintextRange(ofChunks:)``.
  package func openChunks(
    _ chunks: Range<Int>, of sealed: Span<UInt8>, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    precondition(chunks.lowerBound >= 0 && chunks.upperBound <= chunkCount, "There are \(chunkCount) chunks.")
    precondition(sealed.count == messageRange(ofChunks: chunks).count, "Chunks come whole.")
    precondition(target.count == plaintextRange(ofChunks: chunks).count, "The plaintext is \(target.count) bytes.")
    let outcome = keys.withLock { (keys: inout sending DerivedKeys?) -> Result<Void, SealingError> in
      do throws(SealingError) {
        return .success(try unsafe open(chunks, sealed, target, under: keys))
      } catch {
        return .failure(error)
      }
    }
    do {
      try outcome.get()
    } catch {
      if let start = target.baseAddress { unsafe OPENSSL_cleanse(start, target.count) }
      throw error
    }
  }

  private func open(
    _ chunks: Range<Int>, _ sealed: Span<UInt8>, _ target: UnsafeMutableRawBufferPointer,
    under keys: borrowing DerivedKeys?
  ) throws(SealingError) {
    guard keys != nil else {
      throw SealingError(.keyWiped, "The file's key was wiped at lock; open the file again after the unlock.")
    }
    try keys!.withCipher(isSealing: false) { (cipher, baseNonce) throws(SealingError) in
      var source = 0
      var written = 0
      for index in chunks {
        let count = min(ChunkedEncryption.sealedChunkByteCount, sealed.count - source)
        let plain = count - AESGCM.tagByteCount
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: target[written..<written + plain])
        try baseNonce.forChunk(index).withBytes { (nonce: Span<UInt8>) throws(SealingError) in
          try unsafe cipher.open(
            sealed.extracting(source..<source + count), nonce: nonce, additionalData: Span<UInt8>(), into: room)
        }
        source += count
        written += plain
      }
    }
  }

  /// Opens one chunk.
  package func openChunk(_ index: Int, of sealed: Span<UInt8>) throws(SealingError) -> [UInt8] {
    var plaintext = [UInt8](repeating: 0, count: plaintextRange(ofChunks: index..<index + 1).count)
    try unsafe plaintext.withFilled { (target) throws(SealingError) in
      try unsafe openChunks(index..<index + 1, of: sealed, into: target)
    }
    return plaintext
  }

  /// Whether the keys are gone.
  package var isWiped: Bool { keys.withLock { $0 == nil } }

  /// Wipes the message's keys now; waits for an opening in progress.
  package func wipe() {
    keys.withLock { $0 = nil }
  }
}
