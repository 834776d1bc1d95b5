import CSystem

/// A key of 32 bytes in the arena; wiped when it goes.
package struct SecretKey: ~Copyable, Secret, Sendable {
  private let bytes: SecretBytes

  /// The length of every key.
  package static let byteCount = 32

  /// Makes a key and has its 32 bytes filled; wiped at once if filling fails.
  package init(
    in arena: SecretArena = .shared,
    filledBy fill: (UnsafeMutableRawBufferPointer) throws(SealingError) -> Void
  ) throws(SealingError) {
    bytes = try unsafe SecretBytes(byteCount: Self.byteCount, in: arena, filledBy: fill)
  }

  /// Makes a new random key.
  package init(
    from random: any RandomSource, in arena: SecretArena = .shared
  ) throws(SealingError) {
    try unsafe self.init(in: arena) { (target) throws(SealingError) in try unsafe random.fill(target) }
  }

  /// Copies a key from ordinary memory; wiping that is the caller's business.
  ///
  /// Throws `invalidLength`.
  package init(copying bytes: Span<UInt8>, in arena: SecretArena = .shared) throws(SealingError) {
    guard bytes.count == Self.byteCount else {
      throw SealingError(.invalidLength, "A key has 32 bytes, not \(bytes.count).")
    }
    self.bytes = try SecretBytes(copying: bytes, in: arena)
  }

  /// Takes a secret of 32 bytes as a key.
  ///
  /// Throws `invalidLength`.
  package init(_ bytes: consuming SecretBytes) throws(SealingError) {
    let byteCount = bytes.byteCount
    guard byteCount == Self.byteCount else {
      throw SealingError(.invalidLength, "A key has 32 bytes, not \(byteCount).")
    }
    self.bytes = bytes
  }

  /// Makes a second copy, which is wiped on its own, for somebody who may hang with it.
  package borrowing func copyWithoutTraces() throws(SealingError) -> SecretKey {
    let copied = try copy()
    csystem_wipe_traces()
    return copied
  }

  /// Makes a second copy, which is wiped on its own.
  package borrowing func copy() throws(SealingError) -> SecretKey {
    try withBytes { (bytes: Span<UInt8>) throws(SealingError) in try SecretKey(copying: bytes) }
  }

  /// Overwrites the bytes where they are, also while somebody else has them.
  package borrowing func overwrite() { bytes.overwrite() }

  /// Always 32.
  package var byteCount: Int { Self.byteCount }

  /// Lends the bytes; throws `secretsLost` in a forked child instead of lending zeroes.
  package borrowing func withBytes<Result: ~Copyable>(
    _ body: (Span<UInt8>) throws(SealingError) -> Result
  ) throws(SealingError) -> Result {
    try bytes.withBytes(body)
  }
}
