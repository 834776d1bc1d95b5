/// Encryption of messages of any length in chunks that can be opened one by one.
///
/// This is Cobblestone-256 of the chunked-encryption specification, <https://c2sp.org/chunked-encryption>: HKDF-Expand
/// with SHA-512, AES-256-GCM, chunks of 16 KiB. A message is a salt of 24 bytes, a commitment to key and context of 32,
/// and the chunks with their tags; the last chunk is always shorter than the others, even if it is empty, so that a
/// message cut short or lengthened is noticed.
package enum ChunkedEncryption {
  /// The length of the random salt in front.
  package static let saltByteCount = 24
  /// The length of the commitment after it.
  package static let commitmentByteCount = 32
  /// The length of both, before the first chunk.
  package static let prefixByteCount = saltByteCount + commitmentByteCount
  /// The plaintext in a chunk that isn't the last.
  package static let chunkByteCount = 16 * 1024
  /// A chunk as it is stored: its plaintext and the tag.
  package static let sealedChunkByteCount = chunkByteCount + AESGCM.tagByteCount
  /// The most chunks a message may have, by the specification.
  static let maximumChunkCount = 1 << 38

  /// The length of the message made of so much plaintext.
  package static func sealedByteCount(of plaintextByteCount: Int) -> Int {
    let chunks = plaintextByteCount / chunkByteCount + 1
    return prefixByteCount + plaintextByteCount + chunks * AESGCM.tagByteCount
  }

  /// How many chunks so much plaintext makes; throws `invalidLength` for more than a message may have.
  static func chunkCount(of plaintextByteCount: Int) throws(SealingError) -> Int {
    let full = plaintextByteCount / chunkByteCount
    guard full < maximumChunkCount else {
      throw SealingError(.invalidLength, "A message may have 4 PiB less one byte at most.")
    }
    return full + 1
  }

  /// The plaintext in a message of this length; `nil` for lengths that no message has.
  package static func plaintextByteCount(ofMessage messageByteCount: Int) -> Int? {
    guard messageByteCount >= prefixByteCount + AESGCM.tagByteCount else { return nil }
    let (full, last) = (messageByteCount - prefixByteCount).quotientAndRemainder(dividingBy: sealedChunkByteCount)
    guard last >= AESGCM.tagByteCount, full < maximumChunkCount else { return nil }
    return full * chunkByteCount + last - AESGCM.tagByteCount
  }

  /// A sealed message with its prefix.
  package struct Sealed: Sendable {
    /// The header given, then the message.
    package let bytes: [UInt8]
    /// What the message commits to: no other key, context, or salt gives it.
    package let commitment: [UInt8]
  }

  /// Seals a message.
  ///
  /// - Parameters:
  ///   - plaintext: The message; it may be empty.
  ///   - key: The input key; evenly random.
  ///   - context: What opening must give again, at most 900 bytes.
  ///   - header: Bytes put in front of the message as they are.
  ///   - random: Where the salt comes from.
  package static func seal(
    _ plaintext: Span<UInt8>, key: borrowing SecretKey, context: Span<UInt8>, header: Span<UInt8> = Span<UInt8>(),
    random: any RandomSource
  ) throws(SealingError) -> Sealed {
    var commitment: [UInt8] = []
    let total = header.count + sealedByteCount(of: plaintext.count)
    var failure: SealingError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: total) { target, count in
      let whole = UnsafeMutableRawBufferPointer(target)
      unsafe header.withUnsafeBytes { header in unsafe whole.copyMemory(from: header) }
      do throws(SealingError) {
        commitment = try unsafe seal(
          plaintext, key: key, context: context, random: random,
          into: UnsafeMutableRawBufferPointer(rebasing: whole[header.count..<total]))
        count = total
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return Sealed(bytes: bytes, commitment: commitment)
  }

  /// Seals a message into memory of exactly the right size, ``sealedByteCount(of:)``; returns the commitment.
  ///
  /// What a failure leaves in the memory is not a message; give it to nobody.
  package static func seal(
    _ plaintext: Span<UInt8>, key: borrowing SecretKey, context: Span<UInt8>, random: any RandomSource,
    into message: UnsafeMutableRawBufferPointer
  ) throws(SealingError) -> [UInt8] {
    let sealer = try ChunkedSealer(key: key, context: context, random: random)
    try unsafe sealer.seal(plaintext, into: message)
    return sealer.commitment
  }

  /// Opens a whole message; nothing is given out unless all of it is authentic.
  package static func open(
    _ message: Span<UInt8>, key: borrowing SecretKey, context: Span<UInt8>
  ) throws(SealingError) -> [UInt8] {
    guard message.count >= prefixByteCount else { throw .cutShort }
    let opener = try ChunkedOpener(
      prefix: message.extracting(first: prefixByteCount), messageByteCount: message.count, key: key,
      context: context)
    var plaintext = [UInt8](repeating: 0, count: opener.plaintextByteCount)
    try unsafe plaintext.withFilled { (target) throws(SealingError) in
      try unsafe opener.openChunks(
        0..<opener.chunkCount, of: message.extracting(droppingFirst: prefixByteCount), into: target)
    }
    return plaintext
  }
}

extension SealingError {
  static let cutShort = SealingError(.authenticationFailed, "The message was cut short or lengthened.")
}
