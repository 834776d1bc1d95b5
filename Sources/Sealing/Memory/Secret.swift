/// Bytes that must not leave the arena except into libcrypto.
package protocol Secret: ~Copyable {
  /// How many bytes the secret has.
  var byteCount: Int { get }

  /// Lends the bytes; throws `secretsLost` in a forked child instead of lending zeroes.
  ///
  /// The bytes must not be copied to memory that isn't wiped afterwards.
  borrowing func withBytes<Result: ~Copyable>(
    _ body: (Span<UInt8>) throws(SealingError) -> Result
  ) throws(SealingError) -> Result
}
