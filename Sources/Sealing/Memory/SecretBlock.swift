import CLibcrypto
import Glibc

/// One mapping of the arena: a cookie in its first granule, secrets in the others.
///
/// `@unchecked Sendable`: the free list is only touched under the arena's lock, the rest is immutable, and the secrets
/// in the mapping belong to one `SecretBytes` each.
@safe final class SecretBlock: @unchecked Sendable {
  static let granuleByteCount = 32
  static let standardByteCount = 16 * 1024

  let byteCount: Int
  /// Whether it was made for one large secret, and goes with it.
  var isDedicated: Bool { byteCount > Self.standardByteCount }
  private let base: UnsafeMutableRawPointer
  private let cookie: UInt64
  /// Set when the kernel can't wipe on fork: the process that made the block.
  private let owner: pid_t?
  private var isTaken: [Bool]

  private init(base: UnsafeMutableRawPointer, byteCount: Int, cookie: UInt64, owner: pid_t?) {
    unsafe self.base = base
    self.byteCount = byteCount
    self.cookie = cookie
    self.owner = owner
    isTaken = Array(repeating: false, count: byteCount / Self.granuleByteCount)
    isTaken[0] = true
    unsafe base.storeBytes(of: cookie, as: UInt64.self)
  }

  /// Whether the memory is still that of the process that filled it.
  var isCookieIntact: Bool {
    guard unsafe base.load(as: UInt64.self) == cookie else { return false }
    guard let owner else { return true }
    return owner == getpid()
  }

  /// Throws when the memory was wiped by a fork.
  func checkCookie() throws(SealingError) {
    guard isCookieIntact else { throw .secretsLost }
  }

  /// Maps memory and protects it as far as the system lets us.
  static func map(
    byteCount: Int, system: MemorySystem
  ) -> Result<(SecretBlock, SecretArena.Standing), SealingError> {
    var random: UInt64 = 0
    while random == 0 {
      guard unsafe getentropy(&random, MemoryLayout<UInt64>.size) == 0 else { return .failure(.noRandomness) }
    }
    let whole = (byteCount + 4095) & ~4095
    guard
      let base = unsafe mmap(nil, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe base != UnsafeMutableRawPointer(bitPattern: -1)
    else {
      return .failure(
        SealingError(.memoryUnavailable, "The system gave no memory for keys (errno \(errno)); free some."))
    }
    var standing = SecretArena.Standing()
    standing.secretsMayBeSwapped = unsafe system.lock(base, whole) != 0
    standing.secretsMayBeDumped = unsafe system.advise(base, whole, MADV_DONTDUMP) != 0
    standing.forksAreNoticedByIdentifier = unsafe system.advise(base, whole, MADV_WIPEONFORK) != 0
    let owner = standing.forksAreNoticedByIdentifier ? getpid() : nil
    return unsafe .success((SecretBlock(base: base, byteCount: whole, cookie: random, owner: owner), standing))
  }

  /// Takes the first run of free granules that is long enough.
  func takeGranules(_ count: Int, byteCount: Int) -> SecretSlot? {
    var run = 0
    for index in isTaken.indices {
      run = isTaken[index] ? 0 : run + 1
      guard run == count else { continue }
      let first = index - count + 1
      for taken in first...index { isTaken[taken] = true }
      let start = unsafe base + first * Self.granuleByteCount
      return unsafe SecretSlot(block: self, start: start, byteCount: byteCount)
    }
    return nil
  }

  /// Marks a secret's granules as free.
  func giveBack(_ slot: SecretSlot) {
    let first = unsafe (slot.start - base) / Self.granuleByteCount
    let count = max(1, (slot.byteCount + Self.granuleByteCount - 1) / Self.granuleByteCount)
    for index in first..<first + count { isTaken[index] = false }
  }

  /// Gives the memory back to the system.
  func unmap() {
    unsafe munmap(base, byteCount)
  }
}

/// Where a secret lies in a block.
@safe struct SecretSlot: @unchecked Sendable {
  let block: SecretBlock
  let start: UnsafeMutableRawPointer
  let byteCount: Int

  /// The secret's bytes.
  var bytes: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  /// Overwrites the secret in a way that no compiler leaves out.
  func wipe() {
    unsafe OPENSSL_cleanse(start, byteCount)
  }
}

extension SealingError {
  static let noRandomness = SealingError(
    .randomUnavailable, "The system gave no random bytes (getentropy failed); nothing can be sealed.")
}
