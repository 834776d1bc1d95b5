import CLibcrypto
import Synchronization

/// An algorithm of libcrypto, looked up once per process and kept.
///
/// libcrypto's lookup by name costs several times the operation it is for (0.8 µs), so no operation repeats it.
/// `@unchecked Sendable`: fetched algorithms are immutable and reference-counted by libcrypto.
@safe final class Algorithm: @unchecked Sendable {
  private let pointer: OpaquePointer?
  private let name: String

  private init(_ name: String, _ pointer: OpaquePointer?) {
    self.name = name
    unsafe self.pointer = pointer
    Self.counts.withLock { $0[name, default: 0] += 1 }
  }

  private static let counts = Mutex<[String: Int]>([:])

  /// How often each algorithm was looked up; never more than once.
  static var fetchCounts: [String: Int] { counts.withLock { $0 } }

  /// The algorithm, or `libraryFailure` if this libcrypto has none of that name.
  func handle() throws(SealingError) -> OpaquePointer {
    guard let pointer = unsafe pointer else {
      throw SealingError(.libraryFailure, "This libcrypto has no \(name); install OpenSSL 3 with its default provider.")
    }
    return unsafe pointer
  }

  static let aes256GCM = unsafe Algorithm("AES-256-GCM", EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
  static let aes256Wrap = unsafe Algorithm("AES-256-WRAP", EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil))
  static let hmac = unsafe Algorithm("HMAC", EVP_MAC_fetch(nil, "HMAC", nil))
  static let hkdf = unsafe Algorithm("HKDF", EVP_KDF_fetch(nil, "HKDF", nil))
  static let scrypt = unsafe Algorithm("SCRYPT", EVP_KDF_fetch(nil, "SCRYPT", nil))
}

extension SealingError {
  /// An operation of libcrypto that failed though its inputs were in order.
  static func library(_ operation: String) -> SealingError {
    ERR_clear_error()
    return SealingError(.libraryFailure, "libcrypto failed in \(operation); the machine may be out of memory.")
  }
}
