import CLibcrypto
import CSystem

/// Stretching of a passcode (RFC 7914): slow and large on purpose.
package enum Scrypt {
  /// How much work and memory a derivation takes.
  package struct Cost: Hashable, Sendable {
    /// The work factor N; a power of two above 1.
    package var work: UInt64
    /// The block size r.
    package var blockSize: UInt32
    /// The parallelism p.
    package var parallelism: UInt32

    /// Puts a cost together; ``Scrypt/derive(from:salt:cost:)`` checks it.
    package init(work: UInt64, blockSize: UInt32, parallelism: UInt32) {
      self.work = work
      self.blockSize = blockSize
      self.parallelism = parallelism
    }

    /// N = 2^17, r = 8, p = 1: 128 MiB and about half a second on one core.
    package static let production = Cost(work: 1 << 17, blockSize: 8, parallelism: 1)

    /// The most memory that a derivation may take: 1 GiB.
    package static let maximumByteCount: UInt64 = 1 << 30

    /// The memory a derivation takes, in bytes; `nil` when the cost is out of bounds.
    package var byteCount: UInt64? {
      guard work > 1, work & (work - 1) == 0, blockSize > 0, parallelism > 0, work <= 1 << 30 else { return nil }
      guard blockSize <= 1 << 16, parallelism <= 1 << 16 else { return nil }
      let lanes = work + UInt64(parallelism) + 2
      let (byteCount, overflows) = lanes.multipliedReportingOverflow(by: 128 * UInt64(blockSize))
      guard !overflows, byteCount <= Self.maximumByteCount else { return nil }
      // RFC 7914 wants N below 2^(128·r/8), which only r = 1 could break within these bounds.
      guard blockSize > 1 || work < 1 << 16 else { return nil }
      return byteCount
    }
  }

  /// Derives a key from a passcode; throws `invalidParameter` for a cost beyond the bounds.
  package static func derive(
    from passcode: borrowing some Secret & ~Copyable, salt: Span<UInt8>, cost: Cost
  ) throws(SealingError) -> SecretKey {
    guard let byteCount = cost.byteCount else {
      throw SealingError(.invalidParameter, "The scrypt cost is out of bounds; at most 1 GiB is spent on it.")
    }
    let algorithm = try unsafe Algorithm.scrypt.handle()
    return try keepingErrors { () throws(SealingError) in
      try unsafe derive(from: passcode, salt: salt, cost, byteCount, algorithm)
    }
  }

  private static func derive(
    from passcode: borrowing some Secret & ~Copyable, salt: Span<UInt8>, _ cost: Cost, _ byteCount: UInt64,
    _ algorithm: OpaquePointer
  ) throws(SealingError) -> SecretKey {
    try passcode.withBytes { (passcode: Span<UInt8>) throws(SealingError) in
      try unsafe SecretKey { (target) throws(SealingError) in
        // Freeing the context wipes its copy of the passcode; the working memory is wiped by libcrypto as well.
        guard let context = unsafe EVP_KDF_CTX_new(algorithm) else { throw .library("EVP_KDF_CTX_new") }
        defer { unsafe EVP_KDF_CTX_free(context) }
        var numbers = [cost.work, UInt64(cost.blockSize), UInt64(cost.parallelism), byteCount + 1 << 20]
        let isReady = unsafe passcode.withUnsafeBytes { passcode in
          unsafe salt.withUnsafeBytes { salt in
            unsafe numbers.withUnsafeMutableBufferPointer { numbers in
              let start = numbers.baseAddress!
              return unsafe withParameters(
                .bytes("pass", passcode), .bytes("salt", salt), .number("n", start), .number("r", start + 1),
                .number("p", start + 2)
              ) { list in
                unsafe EVP_KDF_CTX_set_params(context, list) == 1
              }
                && withParameters(.number("maxmem_bytes", start + 3)) { list in
                  unsafe EVP_KDF_CTX_set_params(context, list) == 1
                }
            }
          }
        }
        guard isReady else { throw .library("EVP_KDF_CTX_set_params") }
        let isDone = unsafe EVP_KDF_derive(
          context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), target.count, nil)
        // PBKDF2, its last step, leaves the result in a variable that nobody wipes.
        csystem_wipe_traces()
        guard isDone == 1 else { throw .library("EVP_KDF_derive") }
      }
    }
  }
}
