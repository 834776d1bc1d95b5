/// What a message is sealed under: key, base nonce and commitment, derived from the input key, the salt and the context.
struct DerivedKeys: ~Copyable, Sendable {
  private let bytes: SecretBytes

  /// The label of the derivation, with the AEAD's registered name and a zero byte.
  private static let label = Array("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0".utf8)

  init(_ key: borrowing SecretKey, salt: Span<UInt8>, context: Span<UInt8>) throws(SealingError) {
    let byteCount = SecretKey.byteCount + AESGCM.nonceByteCount + ChunkedEncryption.commitmentByteCount
    bytes = try unsafe SecretBytes(byteCount: byteCount) { (target) throws(SealingError) in
      try unsafe HKDF.expand(
        key, Self.label.span, salt, context, contexts: HKDF.sha512Contexts, into: target)
    }
  }

  /// The commitment, which is no secret.
  func commitment() throws(SealingError) -> [UInt8] {
    try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      let part = bytes.extracting(droppingFirst: SecretKey.byteCount + AESGCM.nonceByteCount)
      return unsafe part.withUnsafeBytes { part in unsafe Array(part) }
    }
  }

  /// Whether the message's commitment is the one of this key, salt and context; compared in constant time.
  func matches(commitment: Span<UInt8>) throws(SealingError) -> Bool {
    try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      ConstantTime.areEqual(
        bytes.extracting(droppingFirst: SecretKey.byteCount + AESGCM.nonceByteCount), commitment)
    }
  }

  /// Lends a cipher set up with the key, and the base nonce.
  func withCipher(
    isSealing: Bool, _ body: (AESGCM.Cipher, Nonce) throws(SealingError) -> Void
  ) throws(SealingError) {
    try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      let nonce = Nonce(bytes.extracting(SecretKey.byteCount..<SecretKey.byteCount + AESGCM.nonceByteCount))
      try AESGCM.withCipher(key: bytes.extracting(first: SecretKey.byteCount), isSealing: isSealing) {
        (cipher) throws(SealingError) in
        try body(cipher, nonce)
      }
    }
  }
}

/// A nonce of 12 bytes, to be combined with the number of a chunk.
struct Nonce {
  private var storage: [12 of UInt8] = .init(repeating: 0)

  init(_ bytes: Span<UInt8>) {
    for index in storage.indices {
      storage[index] = bytes[index]
    }
  }

  /// The base nonce combined with a chunk's number, big-endian in the last bytes.
  func forChunk(_ index: Int) -> Nonce {
    var nonce = self
    for byte in 0..<8 {
      nonce.storage[11 - byte] ^= UInt8(truncatingIfNeeded: index >> (8 * byte))
    }
    return nonce
  }

  /// Lends the bytes.
  func withBytes<Result>(_ body: (Span<UInt8>) throws(SealingError) -> Result) throws(SealingError) -> Result {
    try body(storage.span)
  }
}
