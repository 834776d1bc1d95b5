import Synchronization

/// Seals one message under keys that may be wiped meanwhile.
///
/// The keys are derived at once, so that whoever lends the input key has it back before the first chunk is sealed. A
/// wipe waits for one run of chunks, a fraction of a millisecond, and the sealing then fails.
package final class ChunkedSealer: Sendable {
  /// What the message commits to.
  package let commitment: [UInt8]

  private let salt: [UInt8]
  private let keys: Mutex<DerivedKeys?>

  /// So many chunks are sealed before a wipe gets its turn.
  private static let runLength = 64

  /// Derives the message's keys.
  ///
  /// - Parameters:
  ///   - key: The input key; evenly random.
  ///   - context: What opening must give again, at most 900 bytes.
  ///   - random: Where the salt comes from.
  package convenience init(
    key: borrowing SecretKey, context: Span<UInt8>, random: any RandomSource
  ) throws(SealingError) {
    try self.init(key: key, context: context, salt: try random.bytes(count: ChunkedEncryption.saltByteCount))
  }

  /// Derives the message's keys under a salt that the key may depend on: 24 random bytes that are used once.
  package init(key: borrowing SecretKey, context: Span<UInt8>, salt: [UInt8]) throws(SealingError) {
    precondition(salt.count == ChunkedEncryption.saltByteCount, "A salt has 24 bytes.")
    let derived = try DerivedKeys(key, salt: salt.span, context: context)
    self.salt = salt
    commitment = try derived.commitment()
    keys = Mutex(derived)
  }

  /// Seals the message into memory of exactly the right size; throws `keyWiped` after ``wipe()``.
  ///
  /// What a failure leaves in the memory is not a message; give it to nobody.
  package func seal(
    _ plaintext: Span<UInt8>, into message: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    let byteCount = ChunkedEncryption.sealedByteCount(of: plaintext.count)
    precondition(message.count == byteCount, "The message has \(byteCount) bytes.")
    unsafe message[..<ChunkedEncryption.saltByteCount].copyBytes(from: salt)
    unsafe message[ChunkedEncryption.saltByteCount..<ChunkedEncryption.prefixByteCount].copyBytes(from: commitment)
    let chunkCount = try ChunkedEncryption.chunkCount(of: plaintext.count)
    var start = 0
    while start < chunkCount {
      let run = start..<min(start + Self.runLength, chunkCount)
      let outcome = keys.withLock { (keys: inout sending DerivedKeys?) -> Result<Void, SealingError> in
        do throws(SealingError) {
          return .success(try unsafe Self.seal(run, of: plaintext, under: keys, into: message))
        } catch {
          return .failure(error)
        }
      }
      try outcome.get()
      start = run.upperBound
    }
  }

  private static func seal(
    _ run: Range<Int>, of plaintext: Span<UInt8>, under keys: borrowing DerivedKeys?,
    into message: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    guard keys != nil else {
      throw SealingError(.keyWiped, "The device was locked while the file was sealed; seal it again after the unlock.")
    }
    try unsafe keys!.seal(run, of: plaintext, into: message)
  }

  /// Wipes the message's keys now; waits for the run of chunks in progress.
  package func wipe() {
    keys.withLock { $0 = nil }
  }
}

extension DerivedKeys {
  /// Seals some chunks of a plaintext into their places in the message.
  func seal(
    _ chunks: Range<Int>, of plaintext: Span<UInt8>, into message: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    try withCipher(isSealing: true) { (cipher, baseNonce) throws(SealingError) in
      for index in chunks {
        let source = index * ChunkedEncryption.chunkByteCount
        let count = min(ChunkedEncryption.chunkByteCount, plaintext.count - source)
        let target = ChunkedEncryption.prefixByteCount + index * ChunkedEncryption.sealedChunkByteCount
        let room = unsafe UnsafeMutableRawBufferPointer(
          rebasing: message[target..<target + count + AESGCM.tagByteCount])
        try baseNonce.forChunk(index).withBytes { (nonce: Span<UInt8>) throws(SealingError) in
          try unsafe cipher.seal(
            plaintext.extracting(source..<source + count), nonce: nonce, additionalData: Span<UInt8>(), into: room)
        }
      }
    }
  }
}
