import CLibcrypto

/// Key derivation (RFC 5869) with SHA-256; with SHA-512 for the expansion inside the chunked encryption.
package enum HKDF {
  /// Draws a key from input that isn't evenly random; the salt may be a secret too.
  package static func extract(
    salt: borrowing some Secret & ~Copyable, inputKey: borrowing some Secret & ~Copyable
  ) throws(SealingError) -> SecretKey {
    try salt.withBytes { (salt: Span<UInt8>) throws(SealingError) in
      try inputKey.withBytes { (input: Span<UInt8>) throws(SealingError) in
        // HKDF-Extract is by definition HMAC(salt, input). libcrypto 3.0's own frees the salt without wiping it.
        try unsafe SecretKey { (target) throws(SealingError) in
          try unsafe HMACSHA256.compute(key: salt, message: input, into: target)
        }
      }
    }
  }

  /// Derives a key for one purpose; `info` names the purpose and may be public.
  package static func expand(
    _ key: borrowing SecretKey, info: Span<UInt8>
  ) throws(SealingError) -> SecretKey {
    try SecretKey(expand(key, info: info, byteCount: SecretKey.byteCount))
  }

  /// Derives a secret of up to 255 · 32 bytes; `info` at most 1 024 bytes.
  package static func expand(
    _ key: borrowing some Secret & ~Copyable, info: Span<UInt8>, byteCount: Int
  ) throws(SealingError) -> SecretBytes {
    guard byteCount > 0, byteCount <= 255 * 32 else {
      throw SealingError(.invalidLength, "HKDF-SHA-256 gives 1 to 8 160 bytes, not \(byteCount).")
    }
    return try unsafe SecretBytes(byteCount: byteCount) { (target) throws(SealingError) in
      try unsafe expand(key, info, Span<UInt8>(), Span<UInt8>(), contexts: sha256Contexts, into: target)
    }
  }

  static let sha256Contexts = makeContexts(digest: "SHA256")
  static let sha512Contexts = makeContexts(digest: "SHA512")

  private static func makeContexts(digest: StaticString) -> ContextPool {
    unsafe ContextPool(
      make: { () throws(SealingError) in
        guard let context = try unsafe EVP_KDF_CTX_new(Algorithm.hkdf.handle()) else {
          throw .library("EVP_KDF_CTX_new")
        }
        let isReady = unsafe withParameters(.text("digest", digest), .text("mode", "EXPAND_ONLY")) { list in
          unsafe EVP_KDF_CTX_set_params(context, list) == 1
        }
        guard isReady else {
          unsafe EVP_KDF_CTX_free(context)
          throw .library("EVP_KDF_CTX_set_params")
        }
        return unsafe context
      },
      dispose: { context in unsafe EVP_KDF_CTX_free(context) })
  }

  /// Expands under the info's three parts, one after the other, into memory that is a secret's own.
  static func expand(
    _ key: borrowing some Secret & ~Copyable, _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>,
    contexts: ContextPool, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    // libcrypto 3.0 takes no more than 2 048 bytes in all, or 1 024 before 3.0.8.
    guard first.count + second.count + third.count <= 1024 else {
      throw SealingError(.invalidLength, "The info of a key derivation may have 1 024 bytes at most.")
    }
    // A used context must not get an empty info: libcrypto 3.0.22 then frees the one before but keeps its length, and
    // reads from a null pointer. A new context has no info, which is the same as an empty one.
    let isEmpty = first.isEmpty && second.isEmpty && third.isEmpty
    try key.withBytes { (key: Span<UInt8>) throws(SealingError) in
      try unsafe contexts.withContext(isNew: isEmpty) { (kdf) throws(SealingError) in
        let isDone = unsafe key.withUnsafeBytes { key in
          unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
              unsafe third.withUnsafeBytes { third in
                let label = unsafe isEmpty ? nil : OSSL_PARAM.bytes("info", first)
                let salt = unsafe isEmpty ? nil : OSSL_PARAM.bytes("info", second)
                let context = unsafe isEmpty ? nil : OSSL_PARAM.bytes("info", third)
                return unsafe withParameters(.bytes("key", key), label, salt, context) { list in
                  unsafe EVP_KDF_derive(
                    kdf, target.baseAddress?.assumingMemoryBound(to: UInt8.self), target.count, list) == 1
                }
              }
            }
          }
        }
        guard isDone else { throw .library("EVP_KDF_derive") }
      } clean: { context in
        guard !isEmpty else { return false }
        // The context's copy of the key is wiped when it takes one that is none.
        return unsafe HMACSHA256.noKey.withUnsafeBytes { key in
          unsafe withParameters(.bytes("key", key)) { list in
            unsafe EVP_KDF_CTX_set_params(context, list) == 1
          }
        }
      }
    }
  }
}
