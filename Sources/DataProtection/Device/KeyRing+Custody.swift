import Sealing

extension KeyRing {
  private static let kept: [ProtectionClass] = [
    .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication,
  ]

  /// Gives the keys that are in memory to whoever keeps them beyond this process, and takes back all others.
  ///
  /// - Parameters:
  ///   - custody: The keeper. No lock but the caller's is held while it works.
  ///   - keepsKeys: Whether anything is to be kept at all.
  func settle(_ custody: any ClassKeyCustody, keepsKeys: Bool) {
    let keybag = keybagIdentifier
    for protection in Self.kept {
      let entry = CustodyEntry(keybag, protection)
      guard keepsKeys, let held = slot(protection).activeKey else {
        custody.forget(entry)
        continue
      }
      // A key that can't be read here any more (after a fork) can't be given away either.
      try? held.key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        custody.keep(bytes, for: entry)
      }
    }
  }

  /// Takes back what an earlier process left; returns the lock state that it left.
  func takeKeys(from custody: any ClassKeyCustody) -> LockState { install(keys(in: custody)) }

  /// The keys that another process left.
  ///
  /// All keys that a lock state promises, or none: the three of an unlocked device, or the one that a lock leaves. A key
  /// that isn't the one the keybag names counts as missing.
  func keys(in custody: any ClassKeyCustody) -> [ProtectionClass: HeldKey] {
    var found: [ProtectionClass: HeldKey] = [:]
    for protection in Self.kept {
      custody.lend(CustodyEntry(keybagIdentifier, protection)) { bytes in
        guard let held = Self.key(bytes, protection), slot(protection).names(held) else { return }
        found[protection] = held
      }
    }
    guard let unlocked = found[.completeUntilFirstUserAuthentication] else { return [:] }
    return found.count == Self.kept.count ? found : [.completeUntilFirstUserAuthentication: unlocked]
  }

  /// Puts such keys in; returns the lock state that they make.
  func install(_ found: [ProtectionClass: HeldKey]) -> LockState {
    for (protection, held) in found { slot(protection).install(active: held) }
    return found.count == Self.kept.count ? .unlocked : .locked
  }

  private static func key(_ bytes: Span<UInt8>, _ protection: ProtectionClass) -> HeldKey? {
    do throws(SealingError) {
      return try HeldKey(SecretKey(copying: bytes), for: protection)
    } catch {
      return nil
    }
  }
}
