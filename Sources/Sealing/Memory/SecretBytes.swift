/// A secret of any length, such as a passcode; wiped when it goes.
package struct SecretBytes: ~Copyable, Secret, Sendable {
  private let slot: SecretSlot
  private let arena: SecretArena

  /// Makes a secret and has it filled; wiped at once if filling fails.
  ///
  /// - Parameters:
  ///   - byteCount: Its length; at most 1 MiB.
  ///   - arena: Where it lives.
  ///   - fill: Writes the bytes, which are zero at first.
  package init(
    byteCount: Int, in arena: SecretArena = .shared,
    filledBy fill: (UnsafeMutableRawBufferPointer) throws(SealingError) -> Void
  ) throws(SealingError) {
    guard byteCount <= SecretArena.maximumByteCount else {
      throw SealingError(.invalidLength, "A secret of \(byteCount) bytes is too large; 1 MiB is the most.")
    }
    let slot = try arena.allocate(byteCount: byteCount)
    do {
      try unsafe fill(slot.bytes)
    } catch {
      arena.free(slot)
      throw error
    }
    self.slot = slot
    self.arena = arena
  }

  /// Copies a secret from ordinary memory; wiping that is the caller's business.
  package init(copying bytes: Span<UInt8>, in arena: SecretArena = .shared) throws(SealingError) {
    try unsafe self.init(byteCount: bytes.count, in: arena) { target in
      unsafe bytes.withUnsafeBytes { source in unsafe target.copyMemory(from: source) }
    }
  }

  /// Puts two secrets one after the other.
  package init(
    joining first: borrowing some Secret & ~Copyable, _ second: borrowing some Secret & ~Copyable
  ) throws(SealingError) {
    try unsafe self.init(byteCount: first.byteCount + second.byteCount) { (target) throws(SealingError) in
      try unsafe first.copy(into: UnsafeMutableRawBufferPointer(rebasing: target[..<first.byteCount]))
      try unsafe second.copy(into: UnsafeMutableRawBufferPointer(rebasing: target[first.byteCount...]))
    }
  }

  deinit {
    arena.free(slot)
  }

  /// How many bytes the secret has.
  package var byteCount: Int { slot.byteCount }

  /// Overwrites the bytes where they are, also while somebody else has them: that one reads on, and finds none.
  package borrowing func overwrite() {
    guard slot.block.isCookieIntact else { return }
    slot.wipe()
  }

  /// Lends the bytes; throws `secretsLost` in a forked child instead of lending zeroes.
  package borrowing func withBytes<Result: ~Copyable>(
    _ body: (Span<UInt8>) throws(SealingError) -> Result
  ) throws(SealingError) -> Result {
    try slot.block.checkCookie()
    return try unsafe body(slot.bytes.assumingMemoryBound(to: UInt8.self).span)
  }
}

extension Secret where Self: ~Copyable {
  /// Copies the bytes to memory that is a secret's own.
  borrowing func copy(into target: UnsafeMutableRawBufferPointer) throws(SealingError) {
    try withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      unsafe bytes.withUnsafeBytes { source in unsafe target.copyMemory(from: source) }
    }
  }
}
