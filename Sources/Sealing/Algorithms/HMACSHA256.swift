import CLibcrypto

/// Message authentication with HMAC-SHA-256 (RFC 2104).
package enum HMACSHA256 {
  /// The length of a code.
  package static let byteCount = 32

  /// The code of a message.
  package static func authenticationCode(
    for message: Span<UInt8>, key: borrowing some Secret & ~Copyable
  ) throws(SealingError) -> [UInt8] {
    var code = blank
    try unsafe code.withFilled { (target) throws(SealingError) in
      try key.withBytes { (key: Span<UInt8>) throws(SealingError) in
        try unsafe compute(key: key, message: message, into: target)
      }
    }
    return code
  }

  /// Memory for a code; made here, as a generic function would look up the type of its storage each time.
  private static var blank: [UInt8] { [UInt8](repeating: 0, count: byteCount) }

  /// Whether a code is that of the message; compared in constant time.
  package static func isValid(
    _ code: Span<UInt8>, for message: Span<UInt8>, key: borrowing some Secret & ~Copyable
  ) throws(SealingError) -> Bool {
    let expected = try authenticationCode(for: message, key: key)
    return ConstantTime.areEqual(code, expected.span)
  }

  static let contexts = unsafe ContextPool(
    make: { () throws(SealingError) in
      guard let context = try unsafe EVP_MAC_CTX_new(Algorithm.hmac.handle()) else {
        throw .library("EVP_MAC_CTX_new")
      }
      let isReady = unsafe withParameters(.text("digest", "SHA256")) { list in
        unsafe EVP_MAC_CTX_set_params(context, list) == 1
      }
      guard isReady else {
        unsafe EVP_MAC_CTX_free(context)
        throw .library("EVP_MAC_CTX_set_params")
      }
      return unsafe context
    },
    dispose: { context in unsafe EVP_MAC_CTX_free(context) })

  /// Writes the 32 bytes of the code to memory that may be a secret's own.
  static func compute(
    key: Span<UInt8>, message: Span<UInt8>, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    precondition(target.count == byteCount)
    try unsafe contexts.withContext { (context) throws(SealingError) in
      let isDone = unsafe key.withUnsafeBytes { key in
        unsafe message.withUnsafeBytes { message in
          var empty: UInt8 = 0
          var count = 0
          // An empty key is still a key: a null pointer would mean "the key set before".
          let start = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
          return unsafe withUnsafePointer(to: &empty) { empty in
            unsafe EVP_MAC_init(context, start ?? empty, key.count, nil) == 1
              && EVP_MAC_update(context, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1
              && EVP_MAC_final(context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, byteCount) == 1
          }
        }
      }
      guard isDone else { throw .library("EVP_MAC") }
    } clean: { context in
      // The context's copies of the key are overwritten by those of a key that is none.
      unsafe noKey.withUnsafeBufferPointer { key in
        unsafe EVP_MAC_init(context, key.baseAddress, key.count, nil) == 1
      }
    }
  }

  static let noKey = [UInt8](repeating: 0, count: 32)
}
