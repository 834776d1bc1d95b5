import CLibcrypto

/// AES-256 key wrap (RFC 3394): encrypts a key under another so that any change is noticed.
package enum KeyWrap {
  /// How many bytes a wrap adds.
  package static let overheadByteCount = 8

  /// Wraps a secret of 16 bytes or more, a multiple of 8.
  package static func wrap(
    _ secret: borrowing some Secret & ~Copyable, with wrappingKey: borrowing SecretKey
  ) throws(SealingError) -> [UInt8] {
    guard secret.byteCount >= 16, secret.byteCount % 8 == 0 else {
      throw SealingError(.invalidLength, "A secret of \(secret.byteCount) bytes can't be wrapped (RFC 3394).")
    }
    var wrapped = [UInt8](repeating: 0, count: secret.byteCount + overheadByteCount)
    try unsafe wrapped.withFilled { (target) throws(SealingError) in
      try secret.withBytes { (secret: Span<UInt8>) throws(SealingError) in
        try unsafe run(secret, wrappingKey, isWrapping: true, into: target)
      }
    }
    return wrapped
  }

  /// Unwraps a secret; `authenticationFailed` for a wrong key or changed bytes.
  package static func unwrap(
    _ wrapped: Span<UInt8>, with wrappingKey: borrowing SecretKey
  ) throws(SealingError) -> SecretBytes {
    guard wrapped.count >= 24, wrapped.count % 8 == 0 else {
      throw SealingError(.invalidLength, "\(wrapped.count) bytes are no wrapped key (RFC 3394).")
    }
    return try unsafe SecretBytes(byteCount: wrapped.count - overheadByteCount) { (target) throws(SealingError) in
      try unsafe run(wrapped, wrappingKey, isWrapping: false, into: target)
    }
  }

  /// Unwraps a key of 32 bytes from 40; `authenticationFailed` for a wrong key or changed bytes.
  package static func unwrapKey(
    _ wrapped: Span<UInt8>, with wrappingKey: borrowing SecretKey
  ) throws(SealingError) -> SecretKey {
    try SecretKey(unwrap(wrapped, with: wrappingKey))
  }

  private static func run(
    _ input: Span<UInt8>, _ wrappingKey: borrowing SecretKey, isWrapping: Bool,
    into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    let cipher = try unsafe Algorithm.aes256Wrap.handle()
    try keepingErrors { () throws(SealingError) in try unsafe run(input, wrappingKey, cipher, isWrapping, target) }
  }

  private static func run(
    _ input: Span<UInt8>, _ wrappingKey: borrowing SecretKey, _ cipher: OpaquePointer, _ isWrapping: Bool,
    _ target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    try wrappingKey.withBytes { (key: Span<UInt8>) throws(SealingError) in
      // Rare enough for a context of its own, which wipes its key when it is freed.
      guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .library("EVP_CIPHER_CTX_new") }
      defer { unsafe EVP_CIPHER_CTX_free(context) }
      unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
      let isReady = unsafe key.withUnsafeBytes { key in
        unsafe EVP_CipherInit_ex2(
          context, cipher, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, isWrapping ? 1 : 0, nil) == 1
      }
      guard isReady else { throw .library("EVP_CipherInit_ex2") }
      var count: Int32 = 0
      let isDone = unsafe input.withUnsafeBytes { input in
        unsafe EVP_CipherUpdate(
          context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
          input.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(input.count)) == 1
      }
      guard isDone, Int(count) == target.count else {
        // The call allocates nothing: it can only find that the bytes don't fit.
        if isWrapping { throw .library("EVP_CipherUpdate") }
        throw SealingError(.authenticationFailed, "The wrapped key was not made under this key, or was changed.")
      }
    }
  }
}
