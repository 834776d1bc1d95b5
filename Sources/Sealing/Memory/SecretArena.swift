import CLibcrypto
import Glibc
import Synchronization

/// Memory for secrets: locked against swapping, left out of core dumps, wiped by the kernel in forked children.
///
/// Secrets are handed out in granules of 32 bytes from blocks of 16 KiB; a secret that doesn't fit gets a block of its own.
/// Locking is limited (`RLIMIT_MEMLOCK`), so a failed `mlock` doesn't stop anything; ``standing`` tells of it.
/// All members may be used from any thread.
package final class SecretArena: Sendable {
  /// The arena of this process, which all keys live in unless a test says otherwise.
  package static let shared = SecretArena()

  private let system: MemorySystem
  private let state = Mutex(State())

  private struct State {
    var blocks: [SecretBlock] = []
    var standing = Standing()
  }

  /// Makes an empty arena; memory is mapped when the first secret needs it.
  ///
  /// - Parameter system: The calls that protect memory; tests make them fail.
  package init(system: MemorySystem = .linux) {
    self.system = system
  }

  /// How well the arena's memory is protected.
  package struct Standing: Hashable, Sendable {
    /// Some `mlock` failed: secrets may be written to swap space.
    package var secretsMayBeSwapped = false
    /// Some `MADV_DONTDUMP` failed: secrets may be in a core dump.
    package var secretsMayBeDumped = false
    /// Some `MADV_WIPEONFORK` failed: forks are noticed by their process identifier instead.
    package var forksAreNoticedByIdentifier = false
  }

  /// How well the memory handed out so far is protected.
  package var standing: Standing { state.withLock { $0.standing } }

  /// Finds room for a secret; the bytes are zero.
  func allocate(byteCount: Int) throws(SealingError) -> SecretSlot {
    precondition(byteCount >= 0 && byteCount <= Self.maximumByteCount, "A secret of \(byteCount) bytes is too large.")
    let granules = max(1, (byteCount + SecretBlock.granuleByteCount - 1) / SecretBlock.granuleByteCount)
    let found = state.withLock { (state: inout State) -> Result<SecretSlot, SealingError> in
      for block in state.blocks {
        guard block.isCookieIntact else { return .failure(.secretsLost) }
        guard !block.isDedicated else { continue }
        if let slot = block.takeGranules(granules, byteCount: byteCount) { return .success(slot) }
      }
      let needed = (granules + 1) * SecretBlock.granuleByteCount
      let isShared = needed <= SecretBlock.standardByteCount
      switch SecretBlock.map(byteCount: isShared ? SecretBlock.standardByteCount : needed, system: system) {
      case .failure(let error): return .failure(error)
      case .success(let (block, standing)):
        state.blocks.append(block)
        state.standing.merge(standing)
        return .success(block.takeGranules(granules, byteCount: byteCount)!)
      }
    }
    return try found.get()
  }

  /// Wipes a secret and takes its room back; in a forked child there is nothing left to wipe.
  func free(_ slot: SecretSlot) {
    guard slot.block.isCookieIntact else { return }
    slot.wipe()
    state.withLock { (state: inout State) in
      slot.block.giveBack(slot)
      if slot.block.isDedicated {
        state.blocks.removeAll { $0 === slot.block }
        slot.block.unmap()
      }
    }
  }

  /// The largest secret: far above any key or passcode, far below the size of memory.
  package static let maximumByteCount = 1 << 20
}

extension SecretArena.Standing {
  /// Adds the failures of one block.
  mutating func merge(_ other: Self) {
    secretsMayBeSwapped = secretsMayBeSwapped || other.secretsMayBeSwapped
    secretsMayBeDumped = secretsMayBeDumped || other.secretsMayBeDumped
    forksAreNoticedByIdentifier = forksAreNoticedByIdentifier || other.forksAreNoticedByIdentifier
  }
}

extension SealingError {
  static let secretsLost = SealingError(
    .secretsLost,
    "This process was forked after the keys were loaded, and a child gets none of them; start a new process instead.")
}
