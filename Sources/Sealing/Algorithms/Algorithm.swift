import CLibcrypto
import Synchronization

/// An algorithm of libcrypto, looked up once per process and kept.
///
/// libcrypto's lookup by name costs several times the operation it is for (0.8 µs), so no operation repeats it. One that
/// fails, as when memory is short, is tried again. `@unchecked Sendable`: fetched algorithms are immutable and
/// reference-counted by libcrypto, and the pointer is only stored once.
@safe final class Algorithm: @unchecked Sendable {
  private let name: String
  private let fetch: @Sendable (OpaquePointer) -> OpaquePointer?
  private let turn = Mutex<Void>(())
  /// The algorithm's address; zero until it was fetched.
  private let address = Atomic<UInt>(0)

  private init(_ name: String, _ fetch: @escaping @Sendable (OpaquePointer) -> OpaquePointer?) {
    self.name = name
    unsafe self.fetch = fetch
  }

  private static let counts = Mutex<[String: Int]>([:])

  /// How often each algorithm was looked up with success; never more than once.
  static var fetchCounts: [String: Int] { counts.withLock { $0 } }

  /// The algorithm, or `libraryFailure` if this libcrypto has none of that name.
  func handle() throws(SealingError) -> OpaquePointer {
    if let found = unsafe OpaquePointer(bitPattern: address.load(ordering: .acquiring)) { return unsafe found }
    let library = try unsafe CryptographicLibrary.context()
    let found = turn.withLock { _ in
      if address.load(ordering: .relaxed) == 0, let fetched = unsafe keepingErrors({ unsafe fetch(library) }) {
        Self.counts.withLock { $0[name, default: 0] += 1 }
        address.store(UInt(bitPattern: fetched), ordering: .releasing)
      }
      return address.load(ordering: .relaxed)
    }
    guard let algorithm = unsafe OpaquePointer(bitPattern: found) else {
      throw SealingError(
        .libraryFailure,
        "This libcrypto has no \(name), or no memory is left; install OpenSSL 3 with its default provider.")
    }
    return unsafe algorithm
  }

  static let aes256GCM = unsafe Algorithm("AES-256-GCM") { unsafe EVP_CIPHER_fetch($0, "AES-256-GCM", nil) }
  static let aes256Wrap = unsafe Algorithm("AES-256-WRAP") { unsafe EVP_CIPHER_fetch($0, "AES-256-WRAP", nil) }
  static let hmac = unsafe Algorithm("HMAC") { unsafe EVP_MAC_fetch($0, "HMAC", nil) }
  static let hkdf = unsafe Algorithm("HKDF") { unsafe EVP_KDF_fetch($0, "HKDF", nil) }
  static let scrypt = unsafe Algorithm("SCRYPT") { unsafe EVP_KDF_fetch($0, "SCRYPT", nil) }
}

/// The context of libcrypto in which all our algorithms are, apart from the process's own.
///
/// A program may ask libcrypto for nothing but FIPS algorithms, or configure providers: that is about its own use, and must
/// not decide whether its state can be opened. The context has the default provider and nothing else.
enum CryptographicLibrary {
  private static let turn = Mutex<Void>(())
  /// The context's address; zero until it was made.
  private static let address = Atomic<UInt>(0)

  /// The context, made with the first use and kept; `libraryFailure` when there is no memory for it.
  static func context() throws(SealingError) -> OpaquePointer {
    if let made = unsafe OpaquePointer(bitPattern: address.load(ordering: .acquiring)) { return unsafe made }
    let made = turn.withLock { _ in
      if address.load(ordering: .relaxed) == 0, let context = unsafe keepingErrors({ unsafe make() }) {
        address.store(UInt(bitPattern: context), ordering: .releasing)
      }
      return address.load(ordering: .relaxed)
    }
    guard let context = unsafe OpaquePointer(bitPattern: made) else { throw .library("OSSL_LIB_CTX_new") }
    return unsafe context
  }

  private static func make() -> OpaquePointer? {
    guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
    guard unsafe OSSL_PROVIDER_load(context, "default") != nil else {
      unsafe OSSL_LIB_CTX_free(context)
      return nil
    }
    return unsafe context
  }
}

/// Runs calls of libcrypto and takes what they leave in the thread's queue of errors away: the program's own stay.
func keepingErrors<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
  _ = ERR_set_mark()
  defer { _ = ERR_pop_to_mark() }
  return try body()
}

extension SealingError {
  /// An operation of libcrypto that failed though its inputs were in order.
  static func library(_ operation: String) -> SealingError {
    SealingError(.libraryFailure, "libcrypto failed in \(operation); the machine may be out of memory.")
  }
}
