import CLibcrypto

/// AES-256-GCM (NIST SP 800-38D) with nonces of 12 bytes and tags of 16.
///
/// Only the chunked encryption uses it; alone it is here for the published vectors.
package enum AESGCM {
  /// The length of a nonce.
  package static let nonceByteCount = 12
  /// The length of a tag.
  package static let tagByteCount = 16

  /// Encrypts a message; the tag comes after the ciphertext.
  package static func seal(
    _ plaintext: Span<UInt8>, key: borrowing SecretKey, nonce: Span<UInt8>, additionalData: Span<UInt8>
  ) throws(SealingError) -> [UInt8] {
    try checkLengths(nonce: nonce, messageByteCount: plaintext.count)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + tagByteCount)
    try unsafe sealed.withFilled { (target) throws(SealingError) in
      try key.withBytes { (key: Span<UInt8>) throws(SealingError) in
        try withCipher(key: key, isSealing: true) { (cipher) throws(SealingError) in
          try unsafe cipher.seal(plaintext, nonce: nonce, additionalData: additionalData, into: target)
        }
      }
    }
    return sealed
  }

  /// Decrypts a message and its tag; nothing is given out unless the tag is right.
  package static func open(
    _ sealed: Span<UInt8>, key: borrowing SecretKey, nonce: Span<UInt8>, additionalData: Span<UInt8>
  ) throws(SealingError) -> [UInt8] {
    try checkLengths(nonce: nonce, messageByteCount: sealed.count)
    guard sealed.count >= tagByteCount else { throw .notAuthentic }
    var plaintext = [UInt8](repeating: 0, count: sealed.count - tagByteCount)
    try unsafe plaintext.withFilled { (target) throws(SealingError) in
      try key.withBytes { (key: Span<UInt8>) throws(SealingError) in
        try withCipher(key: key, isSealing: false) { (cipher) throws(SealingError) in
          try unsafe cipher.open(sealed, nonce: nonce, additionalData: additionalData, into: target)
        }
      }
    }
    return plaintext
  }

  private static func checkLengths(nonce: Span<UInt8>, messageByteCount: Int) throws(SealingError) {
    guard nonce.count == nonceByteCount else {
      throw SealingError(.invalidLength, "A nonce has 12 bytes here, not \(nonce.count).")
    }
    guard messageByteCount <= Int(Int32.max) else {
      throw SealingError(.invalidLength, "A single message may have 2 GiB at most; use the chunked encryption.")
    }
  }

  static let contexts = unsafe ContextPool(
    make: { () throws(SealingError) in
      guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
      return unsafe context
    },
    dispose: { context in unsafe EVP_CIPHER_CTX_free(context) })

  /// Lends a context with the key set up for any number of messages; no trace of the key stays in it.
  static func withCipher<Result: ~Copyable>(
    key: Span<UInt8>, isSealing: Bool, _ body: (Cipher) throws(SealingError) -> Result
  ) throws(SealingError) -> Result {
    let algorithm = try unsafe Algorithm.aes256GCM.handle()
    return try unsafe contexts.withContext { (context) throws(SealingError) in
      let isReady = unsafe key.withUnsafeBytes { key in
        unsafe EVP_CipherInit_ex2(
          context, algorithm, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, isSealing ? 1 : 0, nil) == 1
      }
      guard isReady else { throw .library("EVP_CipherInit_ex2") }
      return try unsafe body(Cipher(context: context))
    } clean: { context in
      // Resetting wipes and frees the key schedule.
      unsafe EVP_CIPHER_CTX_reset(context) == 1
    }
  }

  /// A context of libcrypto with its key; only valid while it is lent.
  @safe struct Cipher {
    let context: OpaquePointer

    /// Encrypts one message; `target` has room for it and the tag.
    func seal(
      _ plaintext: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>,
      into target: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
      let out = unsafe target.baseAddress!.assumingMemoryBound(to: UInt8.self)
      var count: Int32 = 0
      let isDone =
        unsafe start(nonce, additionalData)
        && plaintext.withUnsafeBytes { plaintext in
          unsafe EVP_EncryptUpdate(
            context, out, &count, plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(plaintext.count))
            == 1
        }
        && EVP_EncryptFinal_ex(context, out + plaintext.count, &count) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagByteCount), out + plaintext.count) == 1
      guard isDone else { throw .library("EVP_EncryptUpdate") }
    }

    /// Decrypts one message with its tag; wipes what it wrote unless the tag is right.
    ///
    /// Only the last call compares the tag, and can do nothing else: what fails before says nothing about the message.
    func open(
      _ sealed: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>, into target: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
      let length = sealed.count - AESGCM.tagByteCount
      precondition(length >= 0 && target.count >= length)
      // Only the last call judges the tag; what fails before says nothing about the bytes.
      var isReady = false
      let isAuthentic = unsafe sealed.withUnsafeBytes { sealed in
        let source = unsafe sealed.baseAddress!.assumingMemoryBound(to: UInt8.self)
        var empty: UInt8 = 0
        var count: Int32 = 0
        // libcrypto only reads the tag, though its parameter isn't const.
        let tag = unsafe UnsafeMutableRawPointer(mutating: source + length)
        return unsafe withUnsafeMutablePointer(to: &empty) { empty in
          let out = unsafe target.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty
          isReady =
            unsafe start(nonce, additionalData)
            && EVP_DecryptUpdate(context, out, &count, source, Int32(length)) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(AESGCM.tagByteCount), tag) == 1
          return unsafe isReady && EVP_DecryptFinal_ex(context, out + length, &count) == 1
        }
      }
      guard isAuthentic else {
        if let start = target.baseAddress { unsafe OPENSSL_cleanse(start, length) }
        throw isReady ? .notAuthentic : .library("EVP_DecryptUpdate")
      }
    }

    private func start(_ nonce: Span<UInt8>, _ additionalData: Span<UInt8>) -> Bool {
      let isReady = unsafe nonce.withUnsafeBytes { nonce in
        // -1: the direction stays as it was set with the key.
        unsafe EVP_CipherInit_ex2(
          context, nil, nil, nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), -1, nil) == 1
      }
      guard isReady, additionalData.count > 0 else { return isReady }
      var count: Int32 = 0
      return unsafe additionalData.withUnsafeBytes { data in
        unsafe EVP_CipherUpdate(
          context, nil, &count, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(data.count)) == 1
      }
    }
  }
}

extension SealingError {
  static let notAuthentic = SealingError(
    .authenticationFailed, "The bytes were not made under this key, or were changed since.")
}
