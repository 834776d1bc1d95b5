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

extension Secret where Self: ~Copyable {
  /// Compares with another secret in a time that depends on the lengths only.
  package borrowing func isEqual(to other: borrowing some Secret & ~Copyable) throws(SealingError) -> Bool {
    try withBytes { (mine: Span<UInt8>) throws(SealingError) in
      try other.withBytes { (theirs: Span<UInt8>) throws(SealingError) in
        ConstantTime.areEqual(mine, theirs)
      }
    }
  }
}
