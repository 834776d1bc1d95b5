import CLibcrypto

/// Key agreement on Curve25519 (RFC 7748).
///
/// Private keys are any 32 random bytes.
package enum X25519 {
  /// The length of a public key.
  package static let publicKeyByteCount = 32

  /// The public key that belongs to a private one.
  package static func publicKey(of privateKey: borrowing SecretKey) throws(SealingError) -> [UInt8] {
    try keepingErrors { () throws(SealingError) in try computePublicKey(of: privateKey) }
  }

  private static func computePublicKey(of privateKey: borrowing SecretKey) throws(SealingError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: publicKeyByteCount)
    let key = try unsafe makeKey(privateKey)
    defer { unsafe EVP_PKEY_free(key) }
    try unsafe bytes.withFilled { (target) throws(SealingError) in
      var count = publicKeyByteCount
      let isDone = unsafe EVP_PKEY_get_raw_public_key(
        key, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count)
      guard isDone == 1, count == publicKeyByteCount else { throw .library("EVP_PKEY_get_raw_public_key") }
    }
    return bytes
  }

  /// What the holder of either private key can compute; hash it before use.
  ///
  /// Throws `invalidPublicKey` for a key of low order, which would make the secret zero whatever the private key is
  /// (RFC 7748, section 6.1), and `invalidLength` for one that hasn't 32 bytes.
  package static func sharedSecret(
    _ privateKey: borrowing SecretKey, with publicKey: Span<UInt8>
  ) throws(SealingError) -> SecretKey {
    guard publicKey.count == publicKeyByteCount else {
      throw SealingError(.invalidLength, "An X25519 public key has 32 bytes, not \(publicKey.count).")
    }
    return try keepingErrors { () throws(SealingError) in try agree(privateKey, with: publicKey) }
  }

  private static func agree(
    _ privateKey: borrowing SecretKey, with publicKey: Span<UInt8>
  ) throws(SealingError) -> SecretKey {
    let library = try unsafe CryptographicLibrary.context()
    let mine = try unsafe makeKey(privateKey)
    defer { unsafe EVP_PKEY_free(mine) }
    let peer = unsafe publicKey.withUnsafeBytes { bytes in
      unsafe EVP_PKEY_new_raw_public_key_ex(
        library, "X25519", nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    guard let peer = unsafe peer else { throw .library("EVP_PKEY_new_raw_public_key_ex") }
    defer { unsafe EVP_PKEY_free(peer) }
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(library, mine, nil) else {
      throw .library("EVP_PKEY_CTX_new_from_pkey")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer) == 1 else {
      throw .library("EVP_PKEY_derive_init")
    }
    let secret = try unsafe SecretKey { (target) throws(SealingError) in
      var count = target.count
      let isDone = unsafe EVP_PKEY_derive(context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count)
      // libcrypto refuses a zero secret here; nothing else can fail.
      guard isDone == 1, count == SecretKey.byteCount else { throw .lowOrderKey }
    }
    let isZero = try secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      let zero = HMACSHA256.noKey
      return ConstantTime.areEqual(bytes, zero.span)
    }
    guard !isZero else { throw .lowOrderKey }
    return secret
  }

  private static func makeKey(_ privateKey: borrowing SecretKey) throws(SealingError) -> OpaquePointer {
    let library = try unsafe CryptographicLibrary.context()
    // The copy in libcrypto is wiped by `EVP_PKEY_free`.
    return try unsafe privateKey.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      let key = unsafe bytes.withUnsafeBytes { bytes in
        unsafe EVP_PKEY_new_raw_private_key_ex(
          library, "X25519", nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
      }
      guard let key = unsafe key else { throw SealingError.library("EVP_PKEY_new_raw_private_key_ex") }
      return unsafe key
    }
  }
}

extension SealingError {
  fileprivate static var lowOrderKey: SealingError {
    SealingError(.invalidPublicKey, "The public key is of low order: no secret can be agreed on with it.")
  }
}
