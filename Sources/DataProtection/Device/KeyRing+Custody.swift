import Sealing
import Synchronization

extension KeyRing {
  private static let kept: [ProtectionClass] = [
    .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication,
  ]

  /// Gives the keys that are in memory to whoever keeps them beyond this process, and takes back all others.
  ///
  /// - Parameters:
  ///   - custody: The keeper. No lock but the caller's is held while it works.
  ///   - keepsKeys: Whether anything is to be kept at all.
  func settle(_ custody: any ProtectedDevice.KeyCustody, keepsKeys: Bool) {
    let keybag = keybagIdentifier
    for protection in Self.kept {
      let entry = ProtectedDevice.KeyCustodyEntry(keybag, protection)
      // A key that can't be read here any more (after a fork) can't be given away either.
      guard keepsKeys, let loan = try? lend(protection) else {
        custody.forget(entry)
        continue
      }
      try? loan.secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        custody.keep(bytes, for: entry)
      }
      loans.remove(loan)
    }
  }

  /// A copy of an active key for the custody; a lock that comes next finds it.
  private func lend(_ protection: ProtectionClass) throws(ProtectionError) -> CustodyLoan {
    try slot(protection).withActive { (held) throws(ProtectionError) in
      let loan = try held.withKey { (key) throws(ProtectionError) in
        CustodyLoan(
          try sealing("lend a class key") { () throws(SealingError) in try key.copyWithoutTraces() }, protection)
      }
      loans.add(loan)
      return loan
    }
  }

  /// Takes back what an earlier process left; returns the lock state that it left.
  func takeKeys(from custody: any ProtectedDevice.KeyCustody) -> ProtectedDevice.LockState {
    install(keys(in: custody, as: OperationSecrets()))
  }

  /// The keys that another process left.
  ///
  /// All keys that a lock state promises, or none: the three of an unlocked device, or the one that a lock leaves. A key
  /// that isn't the one the keybag names counts as missing.
  ///
  /// - Parameters:
  ///   - custody: The keeper.
  ///   - secrets: Where the keys are noted, as the custody may hang between two of them.
  func keys(in custody: any ProtectedDevice.KeyCustody, as secrets: OperationSecrets) -> [ProtectionClass: HeldKey] {
    var found: [ProtectionClass: HeldKey] = [:]
    for protection in Self.kept {
      custody.lend(ProtectedDevice.KeyCustodyEntry(keybagIdentifier, protection)) { bytes in
        guard let held = Self.key(bytes, protection), slot(protection).names(held) else { return }
        secrets.add(held)
        found[protection] = held
      }
    }
    guard let unlocked = found[.completeUntilFirstUserAuthentication] else { return [:] }
    return found.count == Self.kept.count ? found : [.completeUntilFirstUserAuthentication: unlocked]
  }

  /// Puts such keys in; returns the lock state that they make.
  func install(_ found: [ProtectionClass: HeldKey]) -> ProtectedDevice.LockState {
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

/// A copy of a class key in the hands of a custody, which may hang with it.
final class CustodyLoan: Sendable {
  let secret: SecretKey
  let protection: ProtectionClass

  init(_ secret: consuming SecretKey, _ protection: ProtectionClass) {
    self.secret = secret
    self.protection = protection
  }
}

/// The copies that a custody has.
final class CustodyLoans: Sendable {
  private let loans = Mutex<[CustodyLoan]>([])

  func add(_ loan: CustodyLoan) {
    loans.withLock { $0.append(loan) }
  }

  func remove(_ loan: CustodyLoan) {
    loans.withLock { $0.removeAll { $0 === loan } }
  }

  /// Overwrites a class's copies where they are: a custody that reads on finds no key.
  func overwrite(_ protection: ProtectionClass) {
    for loan in loans.withLock({ $0 }) where loan.protection == protection { loan.secret.overwrite() }
  }
}
